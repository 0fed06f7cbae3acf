"""Two ranks exchange NumPy arrays: `mpirun -n 2 mpress run -- python app.py`."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
other = 1 - rank
x = np.linspace(0.0, 1.0, 65536)
theirs = np.empty_like(x)
for step in range(20):
    mine = np.sin(x + rank + step)
    comm.Sendrecv(mine, other, recvbuf=theirs, source=other)
    expected = np.sin(x + other + step)
    assert np.array_equal(theirs, expected), "what was received is not what was sent"
print(f"rank {rank}: {theirs.sum():.6f}", flush=True)
