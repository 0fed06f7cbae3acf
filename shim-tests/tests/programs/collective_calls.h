/* The collectives in the int or the large-count form: CALL(X) is the function MPI_X in this form, FORM(x) a name x that each form has of its own. */
/* Makes the call. Arguments that do not matter are invalid. */
static int FORM(make)(enum call call, setting *s, void *out, void *in, MPI_Request *request)
{
  int here = s->me == s->root, n = s->length;
  MPI_Datatype type = s->of.type;
  MPI_Comm comm = s->comm;
  void *own = s->in_place && (here || call >= ALLGATHER) ? MPI_IN_PLACE : out;
  switch (call) {
  case BCAST:
    if (here && in != out)
      memcpy(in, out, (size_t)n * (size_t)s->of.step);
    return request ? CALL(Ibcast)(in, n, type, s->root, comm, request) : CALL(Bcast)(in, n, type, s->root, comm);
  case GATHER:
    return request ? CALL(Igather)(own, n, type, here ? in : NULL, here ? n : -3, here ? type : MPI_DATATYPE_NULL, s->root,
                                 comm, request)
                   : CALL(Gather)(own, n, type, here ? in : NULL, here ? n : -3, here ? type : MPI_DATATYPE_NULL, s->root,
                                comm);
  case GATHERV:
    return request ? CALL(Igatherv)(own, s->mine, type, in, here ? s->FORM(counts) : NULL, here ? s->FORM(places) : NULL, type, s->root,
                                  comm, request)
                   : CALL(Gatherv)(own, s->mine, type, in, here ? s->FORM(counts) : NULL, here ? s->FORM(places) : NULL, type, s->root,
                                 comm);
  case SCATTER: {
    void *to = s->in_place && here ? MPI_IN_PLACE : in;
    return request ? CALL(Iscatter)(here ? out : NULL, here ? n : -3, here ? type : MPI_DATATYPE_NULL, to, n, type, s->root,
                                  comm, request)
                   : CALL(Scatter)(here ? out : NULL, here ? n : -3, here ? type : MPI_DATATYPE_NULL, to, n, type, s->root,
                                 comm);
  }
  case SCATTERV: {
    void *to = s->in_place && here ? MPI_IN_PLACE : in;
    return request ? CALL(Iscatterv)(out, here ? s->FORM(counts) : NULL, here ? s->FORM(places) : NULL, type, to, s->mine, type, s->root,
                                   comm, request)
                   : CALL(Scatterv)(out, here ? s->FORM(counts) : NULL, here ? s->FORM(places) : NULL, type, to, s->mine, type, s->root,
                                  comm);
  }
  case ALLGATHER:
    return request ? CALL(Iallgather)(own, n, type, in, n, type, comm, request)
                   : CALL(Allgather)(own, n, type, in, n, type, comm);
  case ALLGATHERV:
    return request ? CALL(Iallgatherv)(own, s->mine, type, in, s->FORM(counts), s->FORM(places), type, comm, request)
                   : CALL(Allgatherv)(own, s->mine, type, in, s->FORM(counts), s->FORM(places), type, comm);
  case ALLTOALL:
    return request ? CALL(Ialltoall)(own, n, type, in, n, type, comm, request)
                   : CALL(Alltoall)(own, n, type, in, n, type, comm);
  case ALLTOALLV:
    if (s->in_place)
      return request ? CALL(Ialltoallv)(MPI_IN_PLACE, NULL, NULL, type, in, s->FORM(received), s->FORM(side_by_side), type, comm, request)
                     : CALL(Alltoallv)(MPI_IN_PLACE, NULL, NULL, type, in, s->FORM(received), s->FORM(side_by_side), type, comm);
    return request ? CALL(Ialltoallv)(out, s->FORM(sent), s->FORM(side_by_side), type, in, s->FORM(received), s->FORM(side_by_side), type, comm, request)
                   : CALL(Alltoallv)(out, s->FORM(sent), s->FORM(side_by_side), type, in, s->FORM(received), s->FORM(side_by_side), type, comm);
  default:
    if (s->in_place)
      return request ? CALL(Ialltoallw)(MPI_IN_PLACE, NULL, NULL, NULL, in, s->FORM(received), s->FORM(received_at), s->types, comm, request)
                     : CALL(Alltoallw)(MPI_IN_PLACE, NULL, NULL, NULL, in, s->FORM(received), s->FORM(received_at), s->types, comm);
    return request ? CALL(Ialltoallw)(out, s->FORM(sent), s->FORM(sent_at), s->types, in, s->FORM(received), s->FORM(received_at), s->types, comm,
                                    request)
                   : CALL(Alltoallw)(out, s->FORM(sent), s->FORM(sent_at), s->types, in, s->FORM(received), s->FORM(received_at), s->types, comm);
  }
}
