//! The table of wrapped calls. It makes, for each call, the two symbols the shim exports (`MPI_X` and `PMPI_X`: Fortran
//! bindings call either) and two ways to the MPI's own function:
//!
//! - [`real`]: what the MPI calls of itself meanwhile is passed straight on. For all that carries a frame: it must not be
//!   framed again.
//! - [`open`]: what is called meanwhile is handled like any call. For completion calls, and for calls passed on as they
//!   came: there the MPI may call the program's error handlers, which may do what they like, even never come back. (An MPI
//!   that passes such a call on to another wrapped function has that passed on for the same reasons.)
//!
//! A call is passed on at once while the shim is not active. Otherwise the row's expression handles it; there `shim` is
//! the shared state and `pass` the MPI's own function with the arguments as they came.

#![allow(non_snake_case, reason = "the names are those of MPI")]

use crate::collective::How::{Blocking, Nonblocking};
use crate::collective::{equal, typed, varied};
use crate::send::Mode::{Buffered, Ready, Standard, Synchronous};
use crate::span::{Envelope, Span};
use crate::state::{self, Depth};
use crate::sys::*;
use crate::{collective, complete, info, matched, orphans, persistent, probe, recv, send, sendrecv};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The address of a function of the MPI, looked up at the first call.
pub(crate) struct Symbol {
    name: &'static std::ffi::CStr,
    address: AtomicPtr<c_void>,
}

impl Symbol {
    /// The function of this name, which must end in a zero byte.
    pub(crate) const fn of(name: &'static str) -> Self {
        let name = match std::ffi::CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        };
        Self { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub(crate) fn get(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: `name` is a C string; dlsym has no other precondition.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

macro_rules! table {
    (
        always { $($bare:ident / $pbare:ident ( $($barg:ident: $bty:ty),* ) => |$bpass:ident| $bbody:expr;)* }
        active { $($(#[$attr:meta])* $name:ident / $pname:ident ( $($arg:ident: $ty:ty),* ) => |$shim:ident, $pass:ident| $body:expr;)* }
    ) => {
        /// The MPI's own functions; calls of wrapped functions meanwhile are handled.
        pub(crate) mod open {
            use super::*;
            table!(@open $($bare / $pbare ($($barg: $bty),*);)*);
            table!(@open $($(#[$attr])* $name / $pname ($($arg: $ty),*);)*);
        }

        /// The MPI's own functions; calls of wrapped functions meanwhile are the MPI's own, and passed on.
        pub(crate) mod real {
            use super::*;
            $(
                $(#[$attr])*
                #[allow(clippy::too_many_arguments, dead_code)]
                pub(crate) unsafe fn $name($($arg: $ty),*) -> c_int {
                    let _depth = Depth::enter();
                    // SAFETY: the caller gives what the MPI function asks for.
                    unsafe { open::$name($($arg),*) }
                }
            )*
        }

        $(
            table!(@export $bare $pbare ($($barg: $bty),*) {
                let $bpass = || {
                    let _depth = Depth::enter();
                    // SAFETY: the arguments are the caller's own, for the function it meant to call.
                    unsafe { open::$bare($($barg),*) }
                };
                if state::nested() { $bpass() } else { $bbody }
            });
        )*
        $(
            table!(@export $(#[$attr])* $name $pname ($($arg: $ty),*) {
                let $pass = || {
                    // SAFETY: as above.
                    unsafe { open::$name($($arg),*) }
                };
                match state::active() {
                    None => $pass(),
                    // SAFETY: handlers ask of their arguments what the MPI function asks of them.
                    Some($shim) => unsafe { $body },
                }
            });
        )*
    };
    (@open $($(#[$attr:meta])* $name:ident / $pname:ident ($($arg:ident: $ty:ty),*);)*) => {
        $(
            $(#[$attr])*
            #[allow(clippy::too_many_arguments, dead_code)]
            pub(crate) unsafe fn $name($($arg: $ty),*) -> c_int {
                // The compiler compares the row with the prototype in mpi.h.
                const _: unsafe extern "C" fn($($ty),*) -> c_int = crate::sys::$pname;
                // An error handler in C++ may throw.
                type Function = unsafe extern "C-unwind" fn($($ty),*) -> c_int;
                static SYMBOL: Symbol = Symbol::of(concat!(stringify!($pname), "\0"));
                let address = SYMBOL.get();
                if address.is_null() {
                    return ERR_INTERN;
                }
                // SAFETY: the symbol of this name has this type, as mpi.h says (checked above).
                let function: Function = unsafe { std::mem::transmute::<*mut c_void, Function>(address) };
                // SAFETY: the caller gives what the MPI function asks for.
                unsafe { function($($arg),*) }
            }
        )*
    };
    (@export $(#[$attr:meta])* $name:ident $pname:ident ($($arg:ident: $ty:ty),*) $body:block) => {
        $(#[$attr])*
        const _: () = {
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "MPI's own list")]
            fn handle($($arg: $ty),*) -> c_int $body

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name($($arg: $ty),*) -> c_int {
                handle($($arg),*)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $pname($($arg: $ty),*) -> c_int {
                handle($($arg),*)
            }
        };
    };
}

table! {
    always {
        MPI_Init / PMPI_Init (argc: *mut c_int, argv: *mut *mut *mut std::ffi::c_char) => |pass| {
            crate::startup::after_init(pass())
        };
        MPI_Init_thread / PMPI_Init_thread (
            argc: *mut c_int, argv: *mut *mut *mut std::ffi::c_char, required: c_int, provided: *mut c_int
        ) => |pass| crate::startup::after_init(pass());
    }
    active {
        MPI_Send / PMPI_Send (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Standard, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Send_c / PMPI_Send_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Standard, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        MPI_Bsend / PMPI_Bsend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Buffered, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Bsend_c / PMPI_Bsend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Buffered, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        MPI_Ssend / PMPI_Ssend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Synchronous, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Ssend_c / PMPI_Ssend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Synchronous, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        MPI_Rsend / PMPI_Rsend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Ready, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Rsend_c / PMPI_Rsend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
            => |shim, pass| send::blocking(shim, Ready, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), pass);
        MPI_Isend / PMPI_Isend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Standard, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Isend_c / PMPI_Isend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Standard, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Ibsend / PMPI_Ibsend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Buffered, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Ibsend_c / PMPI_Ibsend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Buffered, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Issend / PMPI_Issend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Synchronous, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Issend_c / PMPI_Issend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Synchronous, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Irsend / PMPI_Irsend (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Ready, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Irsend_c / PMPI_Irsend_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| send::nonblocking(shim, Ready, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Send_init / PMPI_Send_init (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Standard, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Send_init_c / PMPI_Send_init_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Standard, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Bsend_init / PMPI_Bsend_init (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Buffered, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Bsend_init_c / PMPI_Bsend_init_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Buffered, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Ssend_init / PMPI_Ssend_init (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Synchronous, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Ssend_init_c / PMPI_Ssend_init_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Synchronous, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Rsend_init / PMPI_Rsend_init (buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Ready, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Rsend_init_c / PMPI_Rsend_init_c (buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::send_init(shim, Ready, Envelope::new(Span::new(buf.cast_mut(), count, datatype), dest, tag, comm), request, pass);
        MPI_Recv / PMPI_Recv (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| recv::blocking(shim, Envelope::new(Span::new(buf, count, datatype), source, tag, comm), status, pass);
        #[cfg(mpi_large_count)]
        MPI_Recv_c / PMPI_Recv_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| recv::blocking(shim, Envelope::new(Span::new(buf, count, datatype), source, tag, comm), status, pass);
        MPI_Irecv / PMPI_Irecv (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| recv::nonblocking(shim, Envelope::new(Span::new(buf, count, datatype), source, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Irecv_c / PMPI_Irecv_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| recv::nonblocking(shim, Envelope::new(Span::new(buf, count, datatype), source, tag, comm), request, pass);
        MPI_Recv_init / PMPI_Recv_init (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::recv_init(shim, Envelope::new(Span::new(buf, count, datatype), source, tag, comm), request, pass);
        #[cfg(mpi_large_count)]
        MPI_Recv_init_c / PMPI_Recv_init_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| persistent::recv_init(shim, Envelope::new(Span::new(buf, count, datatype), source, tag, comm), request, pass);
        MPI_Sendrecv / PMPI_Sendrecv (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
            comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| sendrecv::blocking(shim,
                Envelope::new(Span::new(sendbuf.cast_mut(), sendcount, sendtype), dest, sendtag, comm),
                Envelope::new(Span::new(recvbuf, recvcount, recvtype), source, recvtag, comm),
                false, status, pass);
        #[cfg(mpi_large_count)]
        MPI_Sendrecv_c / PMPI_Sendrecv_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
            comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| sendrecv::blocking(shim,
                Envelope::new(Span::new(sendbuf.cast_mut(), sendcount, sendtype), dest, sendtag, comm),
                Envelope::new(Span::new(recvbuf, recvcount, recvtype), source, recvtag, comm),
                false, status, pass);
        MPI_Sendrecv_replace / PMPI_Sendrecv_replace (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
            comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| sendrecv::blocking(shim,
                Envelope::new(Span::new(buf, count, datatype), dest, sendtag, comm),
                Envelope::new(Span::new(buf, count, datatype), source, recvtag, comm),
                true, status, pass);
        #[cfg(mpi_large_count)]
        MPI_Sendrecv_replace_c / PMPI_Sendrecv_replace_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
            comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| sendrecv::blocking(shim,
                Envelope::new(Span::new(buf, count, datatype), dest, sendtag, comm),
                Envelope::new(Span::new(buf, count, datatype), source, recvtag, comm),
                true, status, pass);
        #[cfg(mpi_large_count)]
        MPI_Isendrecv / PMPI_Isendrecv (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
            comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| sendrecv::nonblocking(shim,
                Envelope::new(Span::new(sendbuf.cast_mut(), sendcount, sendtype), dest, sendtag, comm),
                Envelope::new(Span::new(recvbuf, recvcount, recvtype), source, recvtag, comm),
                request, pass);
        #[cfg(mpi_large_count)]
        MPI_Isendrecv_c / PMPI_Isendrecv_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
            comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| sendrecv::nonblocking(shim,
                Envelope::new(Span::new(sendbuf.cast_mut(), sendcount, sendtype), dest, sendtag, comm),
                Envelope::new(Span::new(recvbuf, recvcount, recvtype), source, recvtag, comm),
                request, pass);
        #[cfg(mpi_large_count)]
        MPI_Isendrecv_replace / PMPI_Isendrecv_replace (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
            comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| sendrecv::nonblocking(shim,
                Envelope::new(Span::new(buf, count, datatype), dest, sendtag, comm),
                Envelope::new(Span::new(buf, count, datatype), source, recvtag, comm),
                request, pass);
        #[cfg(mpi_large_count)]
        MPI_Isendrecv_replace_c / PMPI_Isendrecv_replace_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
            comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| sendrecv::nonblocking(shim,
                Envelope::new(Span::new(buf, count, datatype), dest, sendtag, comm),
                Envelope::new(Span::new(buf, count, datatype), source, recvtag, comm),
                request, pass);
        MPI_Mrecv / PMPI_Mrecv (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status)
            => |shim, pass| matched::mrecv(shim, Span::new(buf, count, datatype), message, status, pass);
        #[cfg(mpi_large_count)]
        MPI_Mrecv_c / PMPI_Mrecv_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status)
            => |shim, pass| matched::mrecv(shim, Span::new(buf, count, datatype), message, status, pass);
        MPI_Imrecv / PMPI_Imrecv (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request)
            => |shim, pass| matched::imrecv(shim, Span::new(buf, count, datatype), message, request, pass);
        #[cfg(mpi_large_count)]
        MPI_Imrecv_c / PMPI_Imrecv_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request)
            => |shim, pass| matched::imrecv(shim, Span::new(buf, count, datatype), message, request, pass);

        MPI_Probe / PMPI_Probe (source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status)
            => |shim, pass| probe::probe(shim, source, tag, comm, status, pass);
        MPI_Iprobe / PMPI_Iprobe (source: c_int, tag: c_int, comm: MPI_Comm, flag: *mut c_int, status: *mut MPI_Status)
            => |shim, pass| probe::iprobe(shim, source, tag, comm, flag, status, pass);
        MPI_Mprobe / PMPI_Mprobe (
            source: c_int, tag: c_int, comm: MPI_Comm, message: *mut MPI_Message, status: *mut MPI_Status
        ) => |shim, pass| matched::mprobe(shim, source, tag, comm, message, status, pass);
        MPI_Improbe / PMPI_Improbe (
            source: c_int, tag: c_int, comm: MPI_Comm, flag: *mut c_int, message: *mut MPI_Message, status: *mut MPI_Status
        ) => |shim, pass| matched::improbe(shim, source, tag, comm, flag, message, status, pass);

        MPI_Start / PMPI_Start (request: *mut MPI_Request) => |shim, pass| persistent::start(shim, request, pass);
        MPI_Startall / PMPI_Startall (count: c_int, requests: *mut MPI_Request)
            => |shim, pass| persistent::startall(shim, count, requests, pass);

        MPI_Wait / PMPI_Wait (request: *mut MPI_Request, status: *mut MPI_Status)
            => |shim, pass| complete::wait(shim, request, status, pass);
        MPI_Waitall / PMPI_Waitall (count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status)
            => |shim, pass| complete::waitall(shim, count, requests, statuses, pass);
        MPI_Waitany / PMPI_Waitany (
            count: c_int, requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status
        ) => |shim, pass| complete::waitany(shim, count, requests, index, status, pass);
        MPI_Waitsome / PMPI_Waitsome (
            count: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status
        ) => |shim, pass| shim.traffic.during(&shim.engine, || complete::some(shim, true, (count, requests), (outcount, indices, statuses), pass));
        MPI_Test / PMPI_Test (request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status)
            => |shim, pass| complete::test(shim, request, flag, status, pass);
        MPI_Testall / PMPI_Testall (
            count: c_int, requests: *mut MPI_Request, flag: *mut c_int, statuses: *mut MPI_Status
        ) => |shim, pass| complete::testall(shim, count, requests, flag, statuses, pass);
        MPI_Testany / PMPI_Testany (
            count: c_int, requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status
        ) => |shim, pass| complete::testany(shim, count, requests, (index, flag), status, pass);
        MPI_Testsome / PMPI_Testsome (
            count: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status
        ) => |shim, pass| complete::some(shim, false, (count, requests), (outcount, indices, statuses), pass);
        MPI_Request_get_status / PMPI_Request_get_status (request: MPI_Request, flag: *mut c_int, status: *mut MPI_Status)
            => |shim, pass| complete::get_status(shim, request, flag, status, pass);
        MPI_Cancel / PMPI_Cancel (request: *mut MPI_Request) => |shim, pass| complete::cancel(shim, request, pass);
        MPI_Request_free / PMPI_Request_free (request: *mut MPI_Request)
            => |shim, pass| complete::free(shim, request, pass);
        MPI_Bcast / PMPI_Bcast (buf: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::bcast(shim, Span::new(buf, count, datatype), root, comm, pass);
        #[cfg(mpi_large_count)]
        MPI_Bcast_c / PMPI_Bcast_c (buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::bcast(shim, Span::new(buf, count, datatype), root, comm, pass);
        MPI_Gather / PMPI_Gather (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, root, Blocking(comm), pass);
        MPI_Igather / PMPI_Igather (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, root, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Gather_c / PMPI_Gather_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, root, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Igather_c / PMPI_Igather_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, root, Nonblocking(comm, request), pass);
        MPI_Gatherv / PMPI_Gatherv (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype), false, root, Blocking(comm), pass);
        MPI_Igatherv / PMPI_Igatherv (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype), false, root, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Gatherv_c / PMPI_Gatherv_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype), false, root, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Igatherv_c / PMPI_Igatherv_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::gather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype), false, root, Nonblocking(comm, request), pass);
        MPI_Scatter / PMPI_Scatter (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::scatter(shim, equal(sendbuf, sendcount, sendtype), Span::new(recvbuf, recvcount, recvtype), true, root, Blocking(comm), pass);
        MPI_Iscatter / PMPI_Iscatter (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::scatter(shim, equal(sendbuf, sendcount, sendtype), Span::new(recvbuf, recvcount, recvtype), true, root, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Scatter_c / PMPI_Scatter_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::scatter(shim, equal(sendbuf, sendcount, sendtype), Span::new(recvbuf, recvcount, recvtype), true, root, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Iscatter_c / PMPI_Iscatter_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::scatter(shim, equal(sendbuf, sendcount, sendtype), Span::new(recvbuf, recvcount, recvtype), true, root, Nonblocking(comm, request), pass);
        MPI_Scatterv / PMPI_Scatterv (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::scatter(shim, varied(sendbuf, sendcounts, sdispls, sendtype), Span::new(recvbuf, recvcount, recvtype), false, root, Blocking(comm), pass);
        MPI_Iscatterv / PMPI_Iscatterv (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::scatter(shim, varied(sendbuf, sendcounts, sdispls, sendtype), Span::new(recvbuf, recvcount, recvtype), false, root, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Scatterv_c / PMPI_Scatterv_c (sendbuf: *const c_void, sendcounts: *const MPI_Count, sdispls: *const MPI_Aint, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
            => |shim, pass| collective::scatter(shim, varied(sendbuf, sendcounts, sdispls, sendtype), Span::new(recvbuf, recvcount, recvtype), false, root, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Iscatterv_c / PMPI_Iscatterv_c (sendbuf: *const c_void, sendcounts: *const MPI_Count, sdispls: *const MPI_Aint, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::scatter(shim, varied(sendbuf, sendcounts, sdispls, sendtype), Span::new(recvbuf, recvcount, recvtype), false, root, Nonblocking(comm, request), pass);
        MPI_Allgather / PMPI_Allgather (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::allgather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), equal(recvbuf, recvcount, recvtype), comm, pass);
        #[cfg(mpi_large_count)]
        MPI_Allgather_c / PMPI_Allgather_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::allgather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), equal(recvbuf, recvcount, recvtype), comm, pass);
        MPI_Allgatherv / PMPI_Allgatherv (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::allgather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype), comm, pass);
        #[cfg(mpi_large_count)]
        MPI_Allgatherv_c / PMPI_Allgatherv_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::allgather(shim, Span::new(sendbuf.cast_mut(), sendcount, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype), comm, pass);
        MPI_Alltoall / PMPI_Alltoall (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::alltoall(shim, sendbuf, equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, Blocking(comm), pass);
        MPI_Ialltoall / PMPI_Ialltoall (sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::alltoall(shim, sendbuf, equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Alltoall_c / PMPI_Alltoall_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::alltoall(shim, sendbuf, equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Ialltoall_c / PMPI_Ialltoall_c (sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::alltoall(shim, sendbuf, equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype), true, Nonblocking(comm, request), pass);
        MPI_Alltoallv / PMPI_Alltoallv (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::alltoall(shim, sendbuf, varied(sendbuf, sendcounts, sdispls, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype),
                false, Blocking(comm), pass);
        MPI_Ialltoallv / PMPI_Ialltoallv (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::alltoall(shim, sendbuf, varied(sendbuf, sendcounts, sdispls, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype),
                false, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Alltoallv_c / PMPI_Alltoallv_c (sendbuf: *const c_void, sendcounts: *const MPI_Count, sdispls: *const MPI_Aint, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtype: MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::alltoall(shim, sendbuf, varied(sendbuf, sendcounts, sdispls, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype),
                false, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Ialltoallv_c / PMPI_Ialltoallv_c (sendbuf: *const c_void, sendcounts: *const MPI_Count, sdispls: *const MPI_Aint, sendtype: MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::alltoall(shim, sendbuf, varied(sendbuf, sendcounts, sdispls, sendtype), varied(recvbuf, recvcounts, rdispls, recvtype),
                false, Nonblocking(comm, request), pass);
        MPI_Alltoallw / PMPI_Alltoallw (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtypes: *const MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtypes: *const MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::alltoall(shim, sendbuf, typed(sendbuf, sendcounts, sdispls, sendtypes), typed(recvbuf, recvcounts, rdispls, recvtypes),
                false, Blocking(comm), pass);
        MPI_Ialltoallw / PMPI_Ialltoallw (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtypes: *const MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtypes: *const MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::alltoall(shim, sendbuf, typed(sendbuf, sendcounts, sdispls, sendtypes), typed(recvbuf, recvcounts, rdispls, recvtypes),
                false, Nonblocking(comm, request), pass);
        #[cfg(mpi_large_count)]
        MPI_Alltoallw_c / PMPI_Alltoallw_c (sendbuf: *const c_void, sendcounts: *const MPI_Count, sdispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype, comm: MPI_Comm)
            => |shim, pass| collective::alltoall(shim, sendbuf, typed(sendbuf, sendcounts, sdispls, sendtypes), typed(recvbuf, recvcounts, rdispls, recvtypes),
                false, Blocking(comm), pass);
        #[cfg(mpi_large_count)]
        MPI_Ialltoallw_c / PMPI_Ialltoallw_c (sendbuf: *const c_void, sendcounts: *const MPI_Count, sdispls: *const MPI_Aint, sendtypes: *const MPI_Datatype,
            recvbuf: *mut c_void, recvcounts: *const MPI_Count, rdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
            => |shim, pass| collective::alltoall(shim, sendbuf, typed(sendbuf, sendcounts, sdispls, sendtypes), typed(recvbuf, recvcounts, rdispls, recvtypes),
                false, Nonblocking(comm, request), pass);

        MPI_Comm_set_info / PMPI_Comm_set_info (comm: MPI_Comm, info: MPI_Info)
            => |shim, pass| info::given(shim, comm, info, pass());
        MPI_Comm_dup_with_info / PMPI_Comm_dup_with_info (comm: MPI_Comm, info: MPI_Info, new: *mut MPI_Comm)
            => |shim, pass| { let code = pass(); info::given(shim, if code == SUCCESS { *new } else { COMM_NULL }, info, code) };
        MPI_Buffer_detach / PMPI_Buffer_detach (buffer: *mut c_void, size: *mut c_int)
            => |shim, pass| orphans::before_detach(shim, pass);
        #[cfg(mpi_large_count)]
        MPI_Buffer_detach_c / PMPI_Buffer_detach_c (buffer: *mut c_void, size: *mut MPI_Count)
            => |shim, pass| orphans::before_detach(shim, pass);
    }
}
