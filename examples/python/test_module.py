"""What the module takes and gives: NumPy's arrays, and PyTorch's and CuPy's where these are installed.

Run by scripts/python-example, with the module's folder in PYTHONPATH.
"""
import gc

import cudarray_example as example
import numpy as np


def expect(condition, what):
    if not condition:
        raise SystemExit(f"examples/python: {what}")


def raises(error, function, *arguments):
    try:
        function(*arguments)
    except error as e:
        return str(e)
    raise SystemExit(f"examples/python: no {error.__name__}")


def of_numpy(dtype):
    rng = np.random.default_rng(1)
    x, y = rng.normal(3, 2, (50, 4)).astype(dtype), rng.normal(size=(7, 4)).astype(dtype)
    z = example.standardize(x)
    expect(isinstance(z, np.ndarray) and z.dtype == dtype, "an array of NumPy's")
    expect(np.allclose(z, (x - x.mean(0)) / x.std(0), atol=1e-5), "standardize")
    expect(np.allclose(example.distances(x, y), np.linalg.norm(x[:, None] - y, axis=2), atol=1e-3), "distances")
    before = x.copy()
    example.axpy(x, 2, before)
    expect(np.allclose(x, 3 * before), "axpy writes where x lies")
    example.axpy(x[::-2, 1:3], 1, x[::-2, 1:3])
    expect(np.allclose(x[1::2, 1:3], 6 * before[1::2, 1:3]) and np.allclose(x[0::2], 3 * before[0::2]), "strides are kept")
    t = example.transposed(x)
    expect(np.shares_memory(t, x) and t.strides == x.T.strides, "a view is no copy")
    del x
    gc.collect()
    expect(np.allclose(t[:, 0], 3 * before[0]), "a view keeps what it is of")


def refusals():
    x = np.ones((2, 3), np.float32)
    x.flags.writeable = False
    expect("read-only" in raises(ValueError, example.axpy, x, 1, x), "what Python may not write is not written")
    expect(example.transposed(x).shape == (3, 2), "it is read")
    raises(TypeError, example.standardize, np.ones((2, 3), np.int32))
    raises(TypeError, example.standardize, [1.0, 2.0])
    expect("(2, 3)" in raises(ValueError, example.distances, x, np.ones((2, 5), np.float32)), "shapes are named")


def of_torch(torch, device):
    x = torch.randn(5, 3, device=device)
    before = x.clone()
    example.axpy(x, 1.0, x)
    expect(torch.allclose(x, 2 * before), f"PyTorch's arrays, {device}")
    z = torch.as_tensor(example.standardize(x)) if device == "cpu" else torch.from_dlpack(example.standardize(x))
    expect(torch.allclose(z, (x - x.mean(0)) / x.std(0, unbiased=False), atol=1e-5), f"back to PyTorch, {device}")


def of_cupy(cupy):
    x = cupy.random.normal(size=(50, 4)).astype(cupy.float32)
    z = cupy.from_dlpack(example.standardize(x))
    expect(cupy.allclose(z, (x - x.mean(0)) / x.std(0), atol=1e-5), "CuPy's arrays, by DLPack")
    w = cupy.asarray(example.DeviceArray(x).standardized())
    expect(cupy.allclose(z, w, atol=1e-6), "CuPy's arrays, by __cuda_array_interface__")


def main():
    of_numpy(np.float32)
    of_numpy(np.float64)
    refusals()
    done = ["NumPy " + np.__version__]
    try:
        import torch
        of_torch(torch, "cpu")
        if hasattr(example, "DeviceArray"):
            of_torch(torch, "cuda")
        done.append("PyTorch " + torch.__version__)
    except ImportError:
        pass
    try:
        if hasattr(example, "DeviceArray"):
            import cupy
            of_cupy(cupy)
            done.append("CuPy " + cupy.__version__)
    except ImportError:
        pass
    print("examples/python: as expected with " + ", ".join(done))


main()
