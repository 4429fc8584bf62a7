"""What the Python workers of scripts/cpu-bench share, as worker.hpp for the C++ ones."""
# SPDX-License-Identifier: MIT
import statistics
import sys
import time

import numpy as np

K, M = 1 << 10, 1 << 20


def value(n, seed):
    """Elements 0 to n - 1 of input `seed`, in [0, 1)."""
    h = (np.arange(n, dtype=np.uint32) + np.uint32(seed * 1000003)) * np.uint32(2654435761)
    h = (h ^ h >> np.uint32(15)) * np.uint32(2246822519)
    return ((h ^ h >> np.uint32(13)) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


def of(*shape, dtype=np.float32, scale=None):
    """A maker of inputs: seed -> array."""
    def make(seed):
        v = value(int(np.prod(shape)), seed)
        if dtype == bool:
            return (v < 0.5).reshape(shape)
        factor = scale or (100 if np.issubdtype(dtype, np.integer) else 1)
        return (v * np.float32(factor)).astype(dtype).reshape(shape)
    return make


def checksum(result):
    r = np.asarray(result, dtype=np.float64).ravel()
    weights = 1 + np.arange(r.size) % 7
    return f'{(r * weights).sum():.12g} {(abs(r) * weights).sum():.12g}'


def measure(call, target):
    """Milliseconds of one call: the median of samples that take `target` milliseconds together."""
    def sample(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) * 1e3 / calls

    def calls_of(once):
        return max(1, min(10000, int(0.5 / once)))
    sample(1)
    once = sample(calls_of(sample(1)))
    calls = calls_of(once)
    return statistics.median(sample(calls) for _ in range(max(3, min(99, int(target / (once * calls))))))


def serve(rows, set_threads=lambda n: None, convert=lambda a: a):
    """rows: name -> (function, makers of its arguments...)."""
    current = task = None
    for line in sys.stdin:
        verb, threads, target, name = line.rstrip('\n').split(' ', 3)
        answer = '-'
        if name not in rows:
            current = task = None
        else:
            set_threads(int(threads))
            if verb == 'check' or name != current:
                task = None
                f, *makers = rows[name]
                inputs = [convert(make(seed)) for seed, make in enumerate(makers)]
                task, current = (lambda f=f, inputs=inputs: f(*inputs)), name
            try:
                answer = checksum(task()) if verb == 'check' else f'{measure(task, float(target)) * 1e6:.6f}'
            except Exception as e:  # noqa: BLE001
                answer = 'error ' + str(e).split('\n')[0]
        print(answer, flush=True)
