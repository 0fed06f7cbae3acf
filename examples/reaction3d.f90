! reaction3d: four chemicals stirred in a periodic box, on a 3-D process grid.
!
!     mpif90 -O2 reaction3d.f90 -o reaction3d
!     mpirun -n 4 ./reaction3d [NX NY NZ STEPS]     (cells of the whole box)
!
! Equations: for the concentrations q = (u, v, p, w)
!
!     dq/dt + div(a q) = D lap q + R(q),
!
! with the autocatalysis of P. Gray and S. K. Scott (Chem. Eng. Sci. 39, 1984) closed to
! a cycle, so that nothing enters or leaves and the total of all four is conserved:
!
!     u + 2v -> 3v  (rate K1 u v^2),   v -> p  (K2),   p -> w  (K3),   w -> u  (K4).
!
! The velocity a is the Arnold-Beltrami-Childress flow (T. Dombre et al., J. Fluid Mech.
! 167, 1986), divergence-free with chaotic streamlines. Its x component depends on y and
! z only, and so on, so it is divergence-free on the grid too, exactly.
!
! Scheme: finite volumes; advection by third-order upwind fluxes, three-stage Runge-Kutta
! (L. J. Wicker, W. C. Skamarock, Mon. Weather Rev. 130, 2002), the scheme of the weather
! code WRF; diffusion by the seven-point stencil. The initial state is smooth, and no
! field is uniform.
!
! Communication, nonblocking style: before each stage every rank sends a slab two cells
! thick through each of its six faces, all four species packed into one buffer of
! MPI_DOUBLE_PRECISION. It posts MPI_Irecv and MPI_Isend, updates the cells that need no
! ghosts, calls MPI_Waitall, and updates the rest. The stencil reaches along the axes
! only, so the edges and corners of the ghost frame are never needed. Each cell is
! computed from the same numbers in the same order whatever the process grid is; hence
! the digest printed at the end does not depend on the number of ranks.

module reaction
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: dp = kind(1.0d0), ns = 4, g = 2   ! species; ghost layers
  real(dp), parameter :: k1 = 6.0_dp, k2 = 1.2_dp, k3 = 0.8_dp, k4 = 0.5_dp
  real(dp), parameter :: diffusivity(ns) = [0.020_dp, 0.010_dp, 0.008_dp, 0.012_dp]
  real(dp), parameter :: abc(3) = [1.0_dp, 0.8_dp, 0.6_dp]   ! amplitudes of the flow
  integer :: n(3), first(3)                  ! my block; cells of the box before it
  real(dp) :: h(3), dt
  real(dp), allocatable :: ax(:,:), ay(:,:), az(:,:)   ! velocities / 12h by (y,z), (x,z), (x,y)
contains

  pure real(dp) function place(d, i)         ! centre of cell i of my block along axis d
    integer, intent(in) :: d, i
    place = (first(d) + i - 0.5_dp) * h(d)
  end function place

  ! novector, here and below: at -O3 gfortran takes sines from a vector library that rounds
  ! differently, except in the last cells of a row, which would depend on the process grid.
  subroutine set_velocity()
    real(dp) :: sn(maxval(n), 3), cs(maxval(n), 3)
    integer :: d, i, j, k
    do d = 1, 3
      !GCC$ novector
      do i = 1, n(d)
        sn(i,d) = sin(place(d, i))
        cs(i,d) = cos(place(d, i))
      end do
    end do
    allocate (ax(n(2),n(3)), ay(n(1),n(3)), az(n(1),n(2)))
    do k = 1, n(3)
      ax(:,k) = (abc(1) * sn(k,3) + abc(3) * cs(:n(2),2)) / (12 * h(1))
      ay(:,k) = (abc(2) * sn(:n(1),1) + abc(1) * cs(k,3)) / (12 * h(2))
    end do
    do j = 1, n(2)
      az(:,j) = (abc(3) * sn(j,2) + abc(2) * cs(:n(1),1)) / (12 * h(3))
    end do
    ! From bounds, not from data: dt is the same number on every rank without a message.
    dt = 0.9_dp / (sum([abc(1) + abc(3), abc(2) + abc(1), abc(3) + abc(2)] / h) &
                   + 2.0_dp * maxval(diffusivity) * sum(1.0_dp / h**2) + k1)
  end subroutine set_velocity

  subroutine initial_state(q)
    real(dp), intent(out) :: q(1-g:,1-g:,1-g:,:)
    real(dp) :: x, y, z, drop
    integer :: i, j, k
    do k = 1, n(3)
      do j = 1, n(2)
        !GCC$ novector
        do i = 1, n(1)
          x = place(1, i)
          y = place(2, j)
          z = place(3, k)
          drop = exp((cos(x - 2.6_dp) + cos(y - 3.5_dp) + cos(z - 2.2_dp) - 3.0_dp) / 0.8_dp)
          q(i,j,k,1) = 1.0_dp - 0.5_dp * drop + 0.10_dp * sin(x + 2 * y - z)
          q(i,j,k,2) = 0.2_dp + 0.6_dp * drop + 0.05_dp * cos(2 * x - y + z)
          q(i,j,k,3) = 0.3_dp - 0.2_dp * drop + 0.05_dp * sin(x - y) * cos(2 * z + 0.3_dp)
          q(i,j,k,4) = 0.4_dp + 0.4_dp * drop + 0.10_dp * cos(y + 2 * z) * sin(x + 0.7_dp)
        end do
      end do
    end do
  end subroutine initial_state

  ! to = base + c dt L(q) in the cells b(1..3) to e(1..3).
  subroutine update(q, base, to, c, b, e)
    real(dp), intent(in) :: q(1-g:n(1)+g, 1-g:n(2)+g, 1-g:n(3)+g, ns), c
    real(dp), intent(in) :: base(1-g:n(1)+g, 1-g:n(2)+g, 1-g:n(3)+g, ns)
    real(dp), intent(inout) :: to(1-g:n(1)+g, 1-g:n(2)+g, 1-g:n(3)+g, ns)
    integer, intent(in) :: b(3), e(3)
    real(dp) :: rate(b(1):e(1), ns), d(3), uv, vp, pw, wu
    integer :: i, j, k, s
    do k = b(3), e(3)
      do j = b(2), e(2)
        do s = 1, ns
          d = diffusivity(s) / h**2
          do i = b(1), e(1)
            rate(i,s) = along(ax(j,k), d(1), q(i,j,k,s), q(i-2,j,k,s), &
                              q(i-1,j,k,s), q(i+1,j,k,s), q(i+2,j,k,s)) &
                      + along(ay(i,k), d(2), q(i,j,k,s), q(i,j-2,k,s), &
                              q(i,j-1,k,s), q(i,j+1,k,s), q(i,j+2,k,s)) &
                      + along(az(i,j), d(3), q(i,j,k,s), q(i,j,k-2,s), &
                              q(i,j,k-1,s), q(i,j,k+1,s), q(i,j,k+2,s))
          end do
        end do
        do i = b(1), e(1)                    ! each reaction takes what it makes
          uv = k1 * q(i,j,k,1) * q(i,j,k,2)**2
          vp = k2 * q(i,j,k,2)
          pw = k3 * q(i,j,k,3)
          wu = k4 * q(i,j,k,4)
          to(i,j,k,1) = base(i,j,k,1) + c * dt * (rate(i,1) + (wu - uv))
          to(i,j,k,2) = base(i,j,k,2) + c * dt * (rate(i,2) + (uv - vp))
          to(i,j,k,3) = base(i,j,k,3) + c * dt * (rate(i,3) + (vp - pw))
          to(i,j,k,4) = base(i,j,k,4) + c * dt * (rate(i,4) + (pw - wu))
        end do
      end do
    end do
  end subroutine update

  ! Advection and diffusion along one axis, from five cells in a row. Both faces of the
  ! cell have the same velocity, so the difference of the two upwind fluxes reduces to a
  ! fourth-order central derivative and a damping fourth difference. a is velocity / 12h.
  pure real(dp) function along(a, d, o, mm, m, p, pp)
    real(dp), intent(in) :: a, d, o, mm, m, p, pp
    along = a * ((pp - mm) - 8 * (p - m)) - abs(a) * ((pp + mm) - 4 * (p + m) + 6 * o) &
          + d * ((p + m) - 2 * o)
  end function along

  ! A 64-bit mixer in the manner of splitmix64. Fortran has no unsigned integers, so the
  ! products (by odd constants below 2**31) are put together from halves that cannot overflow.
  pure integer(int64) function mix(key) result(x)
    integer(int64), intent(in) :: key
    integer(int64), parameter :: low32 = 4294967295_int64
    integer(int64), parameter :: odd(3) = [1597334677_int64, 1540483477_int64, 668265263_int64]
    integer(int64) :: lo, hi
    integer :: r
    x = key
    do r = 1, 3
      x = ieor(x, shiftr(x, 32))
      lo = iand(x, low32) * odd(r)
      hi = shiftr(x, 32) * odd(r) + shiftr(lo, 32)
      x = ior(shiftl(hi, 32), iand(lo, low32))
    end do
    x = ieor(x, shiftr(x, 32))
  end function mix
end module reaction

program reaction3d
  use mpi
  use reaction
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  implicit none
  interface
    subroutine c_exit(status) bind(c, name='exit')   ! STOP would print on every rank
      import :: c_int
      integer(c_int), value :: status
    end subroutine c_exit
  end interface
  integer :: cells(3) = [96, 96, 96], steps = 15     ! the command line's defaults
  integer :: me, nranks, cart, ierr, step, failed, d, levels(3) = [1, 2, 3]
  integer :: pgrid(3) = 0, neighbour(6), counts(6), requests(12)   ! faces: x low, x high, ...
  real(dp), allocatable :: q(:,:,:,:,:)              ! x, y, z, species, time level
  real(dp), allocatable, asynchronous :: sendbuf(:,:), recvbuf(:,:)   ! one column per face
  real(dp) :: before(ns), after(ns), drift, start, peak(2), peaks(2), halo(2) = 0, sent(2)
  integer(int64) :: digest
  character(len=32) :: text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call read_arguments()
  call decompose()
  call set_velocity()
  call initial_state(q(:,:,:,:,1))
  if (me == 0) print '(a,2(i0," x "),i0,a,i0,a,i0,a,2(i0," x "),i0)', 'reaction3d: ', cells, &
    ' cells, ', steps, ' steps, ', nranks, ' ranks as ', pgrid

  call diagnose(1, before)
  call MPI_Barrier(cart, ierr)
  start = MPI_Wtime()
  do step = 1, steps
    call stage(levels(1), levels(1), levels(2), 1.0_dp / 3.0_dp)
    call stage(levels(2), levels(1), levels(3), 1.0_dp / 2.0_dp)
    call stage(levels(3), levels(1), levels(2), 1.0_dp)
    levels(1:2) = levels(2:1:-1)
  end do
  peak(1) = MPI_Wtime() - start
  peak(2) = -minval(q(1:n(1),1:n(2),1:n(3),:,levels(1)))
  call MPI_Reduce(peak, peaks, 2, MPI_DOUBLE_PRECISION, MPI_MAX, 0, cart, ierr)
  call MPI_Reduce(halo, sent, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart, ierr)
  call diagnose(levels(1), after)

  failed = 0
  if (me == 0) then
    drift = sum(after) / sum(before) - 1.0_dp
    write (text, '(f20.6)') steps * dt
    print '(2a)', 'model time ', trim(adjustl(text))
    print '(a,4f14.8)', 'u v p w at the start', before
    print '(a,4f14.8)', 'u v p w at the end  ', after
    print '(a,f0.8,a,es8.1)', 'total      ', sum(after), '  drift ', drift
    print '(a,es9.3)', 'lowest concentration ', -peaks(2)
    print '(2(a,i0),a)', 'halos      ', int(sent(1), int64), ' bytes in ', int(sent(2), int64), &
      ' messages between ranks'
    write (text, '(f20.3)') peaks(1)
    print '(3a)', 'time ', trim(adjustl(text)), ' s'
    if (abs(drift) < 1.0e-11_dp) then        ! only rounding may move it; NaN fails too
      write (text, '(z16.16)') digest
      do d = 1, 16                           ! Z prints capitals; euler3d does not
        if (text(d:d) >= 'A') text(d:d) = achar(iachar(text(d:d)) + 32)
      end do
      print '(2a)', 'digest ', trim(text)
    else
      failed = 1
      write (error_unit, '(a)') 'reaction3d: failed: NaN, or mass lost'
    end if
  end if
  call MPI_Bcast(failed, 1, MPI_INTEGER, 0, cart, ierr)
  call leave(failed)

contains

  ! One Runge-Kutta stage, to = base + c dt L(from); the arguments are time levels.
  subroutine stage(from, base, to, c)
    integer, intent(in) :: from, base, to
    real(dp), intent(in) :: c
    integer :: axis, b(3), e(3)
    call start_exchange(from)
    call update(q(:,:,:,:,from), q(:,:,:,:,base), q(:,:,:,:,to), c, [1+g, 1+g, 1+g], n - g)
    call finish_exchange(from)
    b = 1
    e = n
    do axis = 3, 1, -1                       ! peel the shell: two slabs, then what is between
      e(axis) = g
      call update(q(:,:,:,:,from), q(:,:,:,:,base), q(:,:,:,:,to), c, b, e)
      b(axis) = max(g, n(axis) - g) + 1
      e(axis) = n(axis)
      call update(q(:,:,:,:,from), q(:,:,:,:,base), q(:,:,:,:,to), c, b, e)
      b(axis) = 1 + g
      e(axis) = n(axis) - g
    end do
  end subroutine stage

  ! A message carries the number of the face it leaves through as its tag: with two ranks
  ! along an axis both neighbours are the same rank, with one they are this rank.
  subroutine start_exchange(level)
    integer, intent(in) :: level
    integer :: f, opposite
    do f = 1, 6
      opposite = merge(f + 1, f - 1, mod(f, 2) == 1)
      call MPI_Irecv(recvbuf(:,f), counts(f), MPI_DOUBLE_PRECISION, neighbour(f), opposite, &
                     cart, requests(f), ierr)
    end do
    do f = 1, 6
      call copy_slab(level, f, sendbuf(:,f), .false.)
      call MPI_Isend(sendbuf(:,f), counts(f), MPI_DOUBLE_PRECISION, neighbour(f), f, &
                     cart, requests(6+f), ierr)
      if (neighbour(f) /= me) halo = halo + [8.0_dp * counts(f), 1.0_dp]
    end do
  end subroutine start_exchange

  subroutine finish_exchange(level)
    integer, intent(in) :: level
    integer :: f
    call MPI_Waitall(12, requests, MPI_STATUSES_IGNORE, ierr)
    do f = 1, 6
      call copy_slab(level, f, recvbuf(:,f), .true.)
    end do
  end subroutine finish_exchange

  ! Packs the g layers of cells at face f, or unpacks the g layers of ghosts behind it.
  subroutine copy_slab(level, f, buffer, ghosts)
    integer, intent(in) :: level, f
    real(dp), intent(inout) :: buffer(:)
    logical, intent(in) :: ghosts
    integer :: axis, b(3), e(3), j, k, s, at, length
    axis = (f + 1) / 2
    b = 1
    e = n
    if (mod(f, 2) == 1) then
      b(axis) = merge(1 - g, 1, ghosts)
    else
      b(axis) = merge(n(axis) + 1, n(axis) - g + 1, ghosts)
    end if
    e(axis) = b(axis) + g - 1
    length = e(1) - b(1) + 1
    at = 0
    do s = 1, ns
      do k = b(3), e(3)
        do j = b(2), e(2)
          if (ghosts) then
            q(b(1):e(1),j,k,s,level) = buffer(at+1:at+length)
          else
            buffer(at+1:at+length) = q(b(1):e(1),j,k,s,level)
          end if
          at = at + length
        end do
      end do
    end do
  end subroutine copy_slab

  ! On rank 0: the amount of each species, and a digest of every bit of every field, keyed
  ! by the cell's place in the box. XOR has no order, so the digest depends on neither ranks
  ! nor timing; the last digits of the sums may. (Allreduce, as some mpi modules have no
  ! interface for MPI_Reduce, and gfortran then wants one type of buffer in all calls to it.)
  subroutine diagnose(level, amounts)
    integer, intent(in) :: level
    real(dp), intent(out) :: amounts(ns)
    integer(int64) :: key, part
    real(dp) :: mine(ns)
    integer :: i, j, k, s
    part = 0
    do s = 1, ns
      do k = 1, n(3)
        do j = 1, n(2)
          do i = 1, n(1)
            key = int(first(3) + k, int64) * cells(2) + first(2) + j
            key = (key * cells(1) + first(1) + i) * ns + s
            part = ieor(part, mix(ieor(mix(key), transfer(q(i,j,k,s,level), key))))
          end do
        end do
      end do
      mine(s) = sum(q(1:n(1),1:n(2),1:n(3),s,level)) * product(h)
    end do
    call MPI_Reduce(mine, amounts, ns, MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart, ierr)
    call MPI_Allreduce(part, digest, 1, MPI_INTEGER8, MPI_BXOR, cart, ierr)
  end subroutine diagnose

  subroutine decompose()
    integer :: axis, mine(3)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, pgrid, [.true., .true., .true.], .false., cart, ierr)
    call MPI_Cart_coords(cart, me, 3, mine, ierr)
    do axis = 1, 3
      call MPI_Cart_shift(cart, axis - 1, 1, neighbour(2*axis-1), neighbour(2*axis), ierr)
    end do
    first = cells * mine / pgrid             ! sizes differ by one cell at most
    n = cells * (mine + 1) / pgrid - first
    h = 2 * acos(-1.0_dp) / cells
    counts = ns * g * product(n) / [n(1), n(1), n(2), n(2), n(3), n(3)]
    allocate (q(1-g:n(1)+g, 1-g:n(2)+g, 1-g:n(3)+g, ns, 3))
    allocate (sendbuf(maxval(counts), 6), recvbuf(maxval(counts), 6))
  end subroutine decompose

  ! All ranks come to the same answer, so all leave together.
  subroutine read_arguments()
    integer(int64) :: value
    integer :: a, status
    if (all(command_argument_count() /= [0, 4])) call refuse('usage: reaction3d [NX NY NZ STEPS]')
    do a = 1, command_argument_count()
      call get_command_argument(a, text, status=status)
      value = 0
      if (status == 0 .and. text /= '' .and. len_trim(text) < 10) then
        if (verify(trim(text), '0123456789') == 0) read (text, *) value
      end if
      if (value < 1 .or. value > merge(8192, 1000000, a < 4)) &
        call refuse('NX NY NZ must be numbers from 1 to 8192, STEPS from 1 to 1000000')
      if (a < 4) then
        cells(a) = int(value)
      else
        steps = int(value)
      end if
    end do
    call MPI_Dims_create(nranks, 3, pgrid, ierr)
    if (any(cells / pgrid < g)) &
      call refuse('NX NY NZ too small: every rank needs 2 cells along each axis')
  end subroutine read_arguments

  subroutine refuse(why)
    character(len=*), intent(in) :: why
    if (me == 0) write (error_unit, '(2a)') 'reaction3d: ', why
    call leave(2)
  end subroutine refuse

  subroutine leave(status)
    integer, intent(in) :: status
    flush (output_unit)
    call MPI_Finalize(ierr)
    call c_exit(int(status, c_int))
  end subroutine leave
end program reaction3d
