# Files: a table is written and read, arrays are saved and loaded, a memory-mapped one is summed.
# SPDX-License-Identifier: MIT
import os
import sys
import tempfile
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
x = np.sin(np.arange(n * 4, dtype=np.float32)).reshape(n, 4)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    np.savetxt("x.csv", x, fmt="%.4f", delimiter=",", header="a,b,c,d")
    table = np.loadtxt("x.csv", np.float32, delimiter=",", usecols=(0, 2))
    print(table.mean(0), np.abs(table - x[:, [0, 2]]).max() < 1e-4)
    np.savez_compressed("x.npz", x=x, signs=x > 0)
    with np.load("x.npz") as f:
        print(f["signs"].sum(), (f["x"] == x).all())
    np.save("x.npy", x)
    print(np.load("x.npy", mmap_mode="r")[::3].sum())
    os.chdir("/")
