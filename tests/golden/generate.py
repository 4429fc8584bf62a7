#!/usr/bin/env python3
# Writes the golden suite's cases: operands as strided views, parameters, and what NumPy (1.24 or later) makes of them.
# SPDX-License-Identifier: MIT
"""The file holds, little-endian: the magic, the number of cases, and the cases as `Case.write` puts them.

Structure and data depend on the seed alone; what is not exact in IEEE arithmetic is computed in long double, so that
expected values differ between versions of NumPy by a rounding at most.
"""
import argparse
import collections
import math
import random
import struct
import warnings

import numpy as np
from numpy.lib.stride_tricks import as_strided

import surface

# The relative error allowed, in units of the result dtype's epsilon; functions not listed here are exact. Results of
# 16 bits are rounded from a float32 that is right to much more: they get one unit. Reductions and products measure it
# against the sum of absolute values (`scale` of a case), all others against the expected element.
ULPS = {
    "exp": 4, "exp2": 4, "expm1": 4, "log": 4, "log2": 4, "log10": 4, "log1p": 4, "cbrt": 4,
    "sin": 4, "cos": 4, "tan": 6, "arcsin": 6, "arccos": 4, "arctan": 4, "sinh": 6, "cosh": 4, "tanh": 4,
    "erf": 4, "erfc": 4, "radians": 2, "degrees": 2, "logit": 8, "arcsinh": 6, "arccosh": 6, "arctanh": 6, "sinc": 8,
    "gamma": 16, "lgamma": 16, "digamma": 16, "i0": 16, "i1": 16, "logaddexp": 4, "logaddexp2": 4,
    "power": 16, "arctan2": 6, "hypot": 4,
    "sum": 16, "prod": 64, "mean": 16, "var": 32, "std": 32, "cumsum": 16, "cumprod": 64,
    "matmul": 16, "multiply complex64": 4,
    "softmax": 32, "masked_softmax": 32, "softmax_gradient": 16, "layer_norm": 32, "rms_norm": 16, "cross_entropy": 16,
}
ULPS.update(surface.ULPS)
COMPLEX_ULPS = {"exp2": 64, "tan": 32, "tanh": 32, "power": 96, "prod": 64, "mean": 16, "var": 32, "std": 32}  # of the others 8
HALF_ULPS = {"softmax": 4, "softmax_gradient": 2, "rms_norm": 4}  # each of some operations rounds

DTYPES = ["bool", "int32", "int64", "uint8", "float32", "float64"]
INTEGERS = ["int32", "int64", "uint8"]
HALVES = ["float16", "bfloat16", "complex64"]
STORAGE = {"bfloat16": "uint16"}
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23, "complex128": 2.0**-52}
TINY = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022, "complex64": 2.0**-126, "complex128": 2.0**-1022}

FLOATING_UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan",
                  "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "erf", "erfc", "reciprocal", "radians", "degrees",
                  "logit", "arcsinh", "arccosh", "arctanh", "sinc", "gamma", "lgamma", "digamma", "i0", "i1"]
COMPLEX_EXACT = ["conj", "imag", "real", "isfinite", "isinf", "isnan", "negative", "positive", "rint"]
COMPLEX_UNARY = [*COMPLEX_EXACT, "absolute", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos",
                 "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "sign", "sin", "sinh", "sqrt",
                 "square", "tan", "tanh"]
ROUNDING = ["floor", "ceil", "trunc", "rint"]
UNARY = ["absolute", "negative", "positive", "signbit", "bitwise_count", "nan_to_num", "sign", "square", *FLOATING_UNARY, *ROUNDING, "isnan", "isinf", "isfinite",
         "logical_not", "invert"]
FLOATING_BINARY = ["arctan2", "hypot", "copysign", "heaviside", "logaddexp", "logaddexp2"]
NUMERIC = ["floor_divide", "remainder", "power", "fmod"]
SHIFTS = ["left_shift", "right_shift"]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor"]
BINARY = ["subtract", "multiply", "divide", *NUMERIC, "maximum", "minimum", "fmax", "fmin", "isclose", "gcd", "lcm", *FLOATING_BINARY, "equal", "not_equal",
          "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", *BITWISE,
          *SHIFTS]
MIXED = {op: [("int32", "float32"), ("uint8", "int64"), ("float32", "float64")]
         for op in ("multiply", "divide", "maximum", "remainder", "less")}
MIXED["bitwise_or"] = [("uint8", "int64"), ("bool", "int32")]
REDUCTIONS = ["sum", "prod", "mean", "max", "min", "argmax", "argmin", "any", "all", "var", "std"]
SORTS = ["sort", "argsort"]
ROW_PROGRAMS = ["softmax", "softmax_gradient", "rms_norm", "masked_softmax", "layer_norm", "cross_entropy"]
ROW_LENGTHS = [1, 2, 3, 7, 10, 37, 64, 100, 128, 257, 1000, 1024, 1025, 4096, 20000, 100000]
SCANS = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
NOT_BOOL = {"negative", "positive", "sign", "square", "subtract", "gcd", "lcm"}
NOT_FLOAT = {"invert", "bitwise_count", "gcd", "lcm", *BITWISE, *SHIFTS}

# Where functions of floats are interesting; elsewhere (-50, 50). Integers are what they are.
DOMAIN = {
    "exp": (-80, 80), "exp2": (-100, 100), "expm1": (-40, 60), "log": (0, 100), "log2": (0, 100), "log10": (0, 100),
    "log1p": (-1, 100), "sqrt": (0, 100), "tan": (-20, 20), "arcsin": (-1, 1), "arccos": (-1, 1), "arctan": (-5, 5),
    "tanh": (-5, 5), "erf": (-4, 4), "erfc": (-4, 5), "logit": (0, 1), "arccosh": (1, 100), "arctanh": (-1, 1),
    "sinc": (-5, 5), "gamma": (0.1, 20), "lgamma": (0.1, 60), "digamma": (0.1, 60), "i0": (-60, 60), "i1": (-60, 60), "heaviside": (-2, 2), "logaddexp": (-9, 9),
    "logaddexp2": (-9, 9), "power": (-5, 5), "arctan2": (-2, 2), "sum": (-4, 4), "mean": (-4, 4), "var": (-4, 4),
    "std": (-4, 4), "prod": (0.9, 1.1), "cumsum": (-4, 4), "cumprod": (0.9, 1.1), "any": (-1, 1), "all": (-1, 1),
    "matmul": (-4, 4), **{op: (-4, 4) for op in ROW_PROGRAMS},
    **{op: (-3, 3) for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
}
ACCUMULATING = {*ROW_PROGRAMS, "logaddexp", "logaddexp2", "sum", "mean", "var", "std", "prod", "cumsum", "cumprod"}


def is_float(dtype):
    return dtype.startswith(("float", "bfloat", "complex"))


def from_bfloat(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).astype(np.uint32).view(np.float32)


def to_bfloat(x):
    """The nearest bfloat16, ties to even, as its bits."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.int64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)


class Operand:
    """A strided view of a base buffer; strides and offset count elements."""

    def __init__(self, dtype, base, shape, strides, offset):
        self.dtype, self.base, self.shape, self.strides, self.offset = dtype, base, shape, strides, offset

    def view(self, base):
        return as_strided(base[self.offset:], self.shape, [s * base.itemsize for s in self.strides])

    @property
    def value(self):
        v = self.view(self.base).copy()
        return from_bfloat(v) if self.dtype == "bfloat16" else v

    @property
    def is_strided(self):
        return self.offset != 0 or self.strides != c_strides(self.shape)


class Case:
    """One call: a function, its operands, the integers it takes (axes, a permutation, a shape), and the result."""

    def __init__(self, op, operands, result, dtype=None, integers=None, keepdims=False, scale=0.0, complex=False):
        self.complex = complex
        self.op, self.operands, self.result = op, operands, np.asarray(result)
        self.dtype = dtype or self.result.dtype.name
        self.integers, self.keepdims, self.scale = integers, keepdims, scale

    def tolerance(self):
        ulps = ULPS.get(self.op, ULPS.get(f"{self.op} {self.dtype}", 0))
        if self.complex:
            ulps = 0 if self.op in COMPLEX_EXACT else COMPLEX_ULPS.get(self.op, 8)
        if ulps == 0 or self.dtype not in EPSILON:
            return 0.0, 0.0
        half = self.dtype in ("float16", "bfloat16")
        relative = (HALF_ULPS.get(self.op, 1) if half else ulps) * EPSILON[self.dtype]
        return relative, relative * max(self.scale, TINY[self.dtype])

    def write(self, out):
        def text(s):
            out.write(struct.pack("<q", len(s)) + s.encode())

        def numbers(v):
            out.write(struct.pack(f"<q{len(v)}q", len(v), *v))

        def data(a):
            out.write(struct.pack("<q", a.nbytes) + a.tobytes())

        text(self.op)
        out.write(struct.pack("<??dd", self.integers is not None, self.keepdims, *self.tolerance()))
        numbers(self.integers or [])
        out.write(struct.pack("<q", len(self.operands)))
        for x in self.operands:
            text(x.dtype)
            numbers(x.shape)
            numbers(x.strides)
            out.write(struct.pack("<q", x.offset))
            data(x.base)
        text(self.dtype)
        numbers(self.result.shape)
        data(to_bfloat(self.result) if self.dtype == "bfloat16" else self.result)


def c_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return strides


class Generator(surface.Surface):
    """Random shapes, layouts and data, and a method for each family of functions that makes a case."""

    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.draw = np.random.RandomState(seed)

    # shapes and layouts

    def shape(self, least=0, most=5, zero=True, large=True):
        r = self.choose
        ndim = r.choice([n for n in (0, 1, 1, 2, 2, 2, 3, 3, 4, 5) if least <= n <= most])
        limit = [0, 60, 14, 7, 5, 4][ndim]
        shape = [r.randint(1, limit) for _ in range(ndim)]
        if large and ndim in (1, 2) and r.random() < 0.2:
            shape = [r.randint(200, 700)] if ndim == 1 else [r.randint(20, 40), r.randint(33, 70)]
        if zero and most > 0 and r.random() < 0.16:
            shape = shape or [r.randint(1, 4) for _ in range(max(least, 1))]
            shape[r.randrange(len(shape))] = 0
        return shape

    def broadcast(self, shape, count):
        """Shapes that broadcast together to `shape`, or to less where all have extent 1."""
        r, shapes = self.choose, []
        for _ in range(count):
            s = list(shape)
            if r.random() < 0.5:
                s = [1 if r.random() < 0.4 else extent for extent in s]
                s = s[r.randint(0, len(s)):] if r.random() < 0.5 else s
            shapes.append(s)
        return shapes

    def layout(self, shape, repeat):
        """Strides and offset of a random view, and the size of the base buffer."""
        r, n = self.choose, len(shape)
        if r.random() < 0.25:
            return c_strides(shape), 0, int(np.prod(shape, dtype=np.int64))
        order = list(range(n))
        if r.random() < 0.5:
            r.shuffle(order)
        strides, step = [0] * n, 1
        lead = offset = r.randrange(4)
        for axis in reversed(order):
            if repeat and shape[axis] > 1 and r.random() < 0.12:
                continue
            stride = r.choice([1, 1, 2, 3, -1, -2]) * step
            strides[axis] = stride
            if stride < 0 and shape[axis] > 0:
                offset -= (shape[axis] - 1) * stride
            step = max(shape[axis], 1) * abs(stride) + r.randrange(2)
        return strides, offset, lead + step

    # data

    def integers(self, dtype, n):
        info = np.iinfo(dtype)
        low, high = (0, 256) if dtype == "uint8" else (-20, 21)
        x = self.draw.randint(low, high, n).astype(dtype)
        extremes = np.array([info.min, info.max, info.min + 1, info.max // 2], dtype)
        return np.where(self.draw.random_sample(n) < 0.1, extremes[self.draw.randint(0, 4, n)], x)

    def floats(self, dtype, n, op, specials):
        low, high = DOMAIN.get(op, (-50, 50))
        x = self.draw.uniform(low, high, n)
        halved = np.rint(2 * x) / 2
        x = np.where(self.draw.random_sample(n) < 0.4, np.clip(halved, low, high), x)
        values = [np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0]
        if op not in ACCUMULATING:
            real = "float32" if dtype in HALVES else dtype
            values += [TINY[real], -TINY[real] / 4, float(np.finfo(real).max), -float(np.finfo(real).max)]
        special = np.array(values)[self.draw.randint(0, len(values), n)]
        return np.where(self.draw.random_sample(n) < specials, special, x)

    def data(self, dtype, n, op="", specials=0.08):
        if dtype == "bool":
            return self.draw.randint(0, 2, n).astype(bool)
        if dtype in INTEGERS:
            return self.integers(dtype, n)
        if dtype == "complex64":
            return (self.draw.uniform(-4, 4, n) + 1j * self.draw.uniform(-4, 4, n)).astype(dtype)
        x = self.floats(dtype, n, op, specials)
        return to_bfloat(x.astype(np.float32)) if dtype == "bfloat16" else x.astype(dtype)

    def operand(self, dtype, shape, op="", specials=0.08, repeat=True, values=None):
        """A view of this shape; `values(n)` gives its elements, of a dtype's own kind where it is absent."""
        strides, offset, size = self.layout(shape, repeat)
        base = values(size) if values else self.data(dtype, size, op, specials)
        return Operand(dtype, np.ascontiguousarray(base, STORAGE.get(dtype, dtype)), list(shape), strides, offset)

    # elementwise functions

    def unary(self, op, dtype):
        x = self.operand(dtype, self.shape(), op)
        scale = 1.0 if op in ("lgamma", "digamma") else 0.0  # they have zeros
        return Case(op, [x], unary(op, x.value), scale=scale)

    def binary(self, op, left, right):
        a, b = self.broadcast(self.shape(), 2)
        common = np.result_type(left, right).name
        values = None
        if op == "power" and right in INTEGERS:
            values = lambda n: self.draw.randint(0, 70, n)
        if op in SHIFTS and right in INTEGERS:
            width = 8 * np.dtype(common).itemsize
            counts = [*range(width), width, width + 5, *([] if right == "uint8" else [-1])]
            values = lambda n: np.array(counts)[self.draw.randint(0, len(counts), n)]
        x, y = self.operand(left, a, op), self.operand(right, b, op, values=values)
        scale = max(largest(x.value), largest(y.value)) if op.startswith("logaddexp") else 0.0
        return Case(op, [x, y], binary(op, x.value.astype(common), y.value.astype(common)), scale=scale)

    def round(self, op, dtype):
        decimals = self.choose.choice([0, 1, 2, 3, -1, -1, -2])
        values = None if is_float(dtype) else lambda n: self.draw.randint(0, 240, n)
        x = self.operand(dtype, self.shape(), values=values)
        result = np.round(x.value, decimals)
        if is_float(dtype):  # where this overflows, x stays what it is
            result = np.where(np.isfinite(x.value * x.value.dtype.type(10.0**max(decimals, 0))), result, x.value)
        return Case(op, [x], result, integers=[decimals])

    def where(self, op, dtype):
        shapes = self.broadcast(self.shape(), 3)
        c, x, y = (self.operand(t, s) for t, s in zip(("bool", dtype, dtype), shapes))
        return Case(op, [c, x, y], np.where(c.value, x.value, y.value))

    def clip(self, op, dtype):
        x, low, high = (self.operand(dtype, s) for s in self.broadcast(self.shape(), 3))
        return Case(op, [x, low, high], np.minimum(np.maximum(x.value, low.value), high.value))

    def astype(self, op, source, target):
        x = self.operand(source, self.shape(), specials=0.2)
        if is_float(source) and target in INTEGERS:  # values on both sides of the limits
            powers = np.array([10.0**k for k in range(20)])
            values = lambda n: self.data(source, n, specials=0.2) * powers[self.draw.randint(0, len(powers), n)]
            x = self.operand(source, x.shape, values=values)
        return Case(f"{op}<{target}>", [x], convert(x.value, target), target)

    # reductions

    def reduction(self, op, dtype):
        r = self.choose
        specials = r.choice([0, 0, 0.03]) if op in ACCUMULATING else r.choice([0, 0.05, 0.2])
        x = self.operand(dtype, self.shape(large=op != "prod"), op, specials)
        ndim = len(x.shape)
        if op.startswith("arg"):
            axes = None if ndim == 0 or r.random() < 0.3 else [r.randrange(ndim)]
        else:
            axes = None if r.random() < 0.25 else r.sample(range(ndim), r.randint(0, ndim))
        if op in ("max", "min", "argmax", "argmin"):
            reduced = range(ndim) if axes is None else axes
            if any(x.shape[a] == 0 for a in reduced):
                filled = [a for a in range(ndim) if x.shape[a] > 0]
                if not filled and op.startswith("arg"):
                    return self.reduction(op, dtype)
                axes = [r.choice(filled)] if filled else []
        keepdims = r.random() < 0.5
        over = tuple(range(ndim) if axes is None else axes)
        result, scale = reduction(op, x.value, over)
        if keepdims:
            result = result.reshape([1 if a in over else n for a, n in enumerate(x.shape)])
        if axes is not None:
            axes = [a - ndim if r.random() < 0.4 else a for a in axes]
        return Case(op, [x], result, integers=axes, keepdims=keepdims, scale=scale)

    # sorting and scanning along one axis; scans also of all elements

    def segments(self, op, dtype):
        r = self.choose
        specials = r.choice([0, 0, 0.03]) if op in ACCUMULATING else r.choice([0, 0.05, 0.2])
        x = self.operand(dtype, self.shape(least=op in SORTS, large=op != "cumprod"), op, specials)
        ndim = len(x.shape)
        axis = None if ndim == 0 or op not in SORTS and r.random() < 0.25 else r.randrange(ndim)
        result, scale = segments(op, x.value, axis)
        return Case(op, [x], result, integers=None if axis is None else [axis - r.choice([0, ndim])], scale=scale)

    def topk(self, op, dtype):
        r = self.choose
        x = self.operand(dtype, self.shape(least=1), op, r.choice([0, 0.05, 0.2]))
        axis, largest = r.randrange(len(x.shape)), r.random() < 0.6
        k = r.randint(0, x.shape[axis]) if r.random() < 0.5 else min(x.shape[axis], r.randint(1, 5))
        values, indices = topk(x.value, k, axis, largest)
        return Case(op, [x], values if op == "topk" else indices,
                    integers=[axis - r.choice([0, len(x.shape)]), k, int(largest)])

    # reductions of rows that meet the rows

    def row_program(self, op, dtype):
        r = self.choose
        n = r.choice(ROW_LENGTHS) if r.random() < 0.3 else r.choice(ROW_LENGTHS[:-2])
        lead = [1] * r.randint(0, 1) if n > 4000 else [r.randint(1, 4), r.randint(1, 4)]
        lead[:1] = [0] if r.random() < 0.05 else lead[:1]
        shape, specials = [*lead, n], r.choice([0, 0, 1 / (4 * n)])
        x, rest = self.operand(dtype, shape, op, specials, repeat=False), []
        if op == "softmax_gradient":
            rest = [self.operand(dtype, shape, op, specials)]
        elif op == "masked_softmax":
            rest = [self.operand("bool", shape, values=lambda k: self.draw.random_sample(k) < r.choice([0, 0.5, 0.9]))]
        elif op == "cross_entropy":
            rest = [self.operand("int64", [*lead, 1], values=lambda k: self.draw.randint(-n, n, k))]
        elif op.endswith("norm"):
            rest = [self.operand(dtype, [n], op, 0) for _ in range(2 if op == "layer_norm" else 1)]
        result, scale = row_program(op, dtype, x.value, *(v.value for v in rest))
        return Case(op, [x, *rest], result, dtype, scale=scale)

    # indexing and shapes

    def take_along_axis(self, op, dtype):
        r = self.choose
        shape = self.shape(least=1, zero=False)
        axis = r.randrange(len(shape))
        picked = [r.choice([1, n]) for n in shape]
        picked[axis] = r.randint(0, 5)
        x = self.operand(dtype, shape)
        i = self.operand("int64", picked, values=lambda k: self.draw.randint(-shape[axis], shape[axis], k))
        return Case(op, [x, i], np.take_along_axis(x.value, i.value, axis), integers=[axis - r.choice([0, len(shape)])])

    def copy(self, op, dtype):
        x = self.operand(dtype, self.shape())
        return Case(op, [x], x.value, dtype)

    def slice(self, n):
        """A slice of an axis, in most cases of two elements or more where the axis has as many."""
        r, wanted = self.choose, self.choose.choice([0, 2, 2, 2])
        while True:
            start, stop = (r.choice([None, r.randint(-n - 2, n + 2)]) for _ in range(2))
            s = slice(start, stop, r.choice([None, 2, 3, -1, -2]))
            if len(range(*s.indices(n))) >= min(wanted, n):
                return s

    def index(self, op, dtype):
        r = self.choose
        x = self.operand(dtype, self.shape(least=1, zero=r.random() < 0.5))
        items, numbers, none = [], [], -2**63
        axes = range(r.randint(1, min(2, len(x.shape))))
        if r.random() < 0.3:
            axes = [len(x.shape) - 1]
            items.append(Ellipsis)
            numbers += [3, 0, 0, 0]
        for axis in axes:
            n = x.shape[axis]
            if r.random() < 0.2:
                items.append(None)
                numbers += [2, 0, 0, 0]
            if n > 0 and r.random() < 0.3:
                i = r.randrange(-n, n)
                items.append(i)
                numbers += [0, i, 0, 0]
            else:
                s = self.slice(n)
                items.append(s)
                numbers += [1, *(none if v is None else v for v in (s.start, s.stop, s.step))]
        return Case(op, [x], x.value[tuple(items)], integers=numbers)

    def advanced_index(self, op, dtype):
        """Arrays of integers and masks, one or the other first, among integers, slices, newaxis and an ellipsis."""
        r, none = self.choose, -2**63
        x = self.operand(dtype, self.shape(least=1, zero=False))
        common, items, numbers, arrays, axis = self.shape(most=2, zero=False, large=False), [], [], [], 0

        def add(item, of=0, number=(0, 0, 0, 0)):
            nonlocal axis
            items.append(item)
            numbers.extend(number)
            axis += of

        def add_array(array, of):
            arrays.append(array)
            add(array.value, of, (4, 0, 0, 0))

        while axis < len(x.shape):
            n, kind = x.shape[axis], r.choice("aaamisne")
            if kind == "a":
                shape = [1 if r.random() < 0.3 else k for k in common][r.choice([0, 0, len(common) // 2]):]
                add_array(self.operand("int64", shape, values=lambda k: self.draw.randint(-n, n, k)), 1)
            elif kind == "m":  # as many elements as the other indices broadcast to, or one
                shape = x.shape[axis:axis + r.randint(0, 2)]
                mask = np.zeros(int(np.prod(shape, dtype=np.int64)), bool)
                mask[r.sample(range(mask.size), common[-1] if common and common[-1] <= mask.size else 1)] = True
                add_array(Operand("bool", mask, shape, c_strides(shape), 0), len(shape))
            elif kind == "i":
                i = r.randrange(-n, n)
                add(i, 1, (0, i, 0, 0))
            elif kind == "n" and numbers[::4].count(2) < 2:
                add(None, 0, (2, 0, 0, 0))
            elif kind == "e" and 3 not in numbers[::4]:
                add(Ellipsis, r.randint(0, len(x.shape) - axis), (3, 0, 0, 0))
            else:
                s = self.slice(n)
                add(s, 1, (1, *(none if v is None else v for v in (s.start, s.stop, s.step))))
        if not arrays or (arrays[0].dtype == "bool") != (op == "advanced_mask"):
            return self.advanced_index(op, dtype)
        try:
            return Case(op, [x, *arrays], x.value[tuple(items)], integers=numbers)
        except IndexError:  # masks of more elements than the others
            return self.advanced_index(op, dtype)

    def transpose(self, op, dtype):
        x = self.operand(dtype, self.shape())
        order = None
        if self.choose.random() < 0.8:
            order = list(range(len(x.shape)))
            self.choose.shuffle(order)
        return Case(op, [x], np.transpose(x.value, order), integers=order)

    def reshape(self, op, dtype):
        r = self.choose
        x = self.operand(dtype, self.shape())
        to = list(x.shape)
        r.shuffle(to)
        for _ in range(r.randint(0, 2)):  # merge neighbours, or split off a factor
            if len(to) > 1 and r.random() < 0.6:
                i = r.randrange(len(to) - 1)
                to[i:i + 2] = [to[i] * to[i + 1]]
            elif to and len(to) < 6:
                i = r.randrange(len(to))
                factor = r.choice([f for f in range(1, 8) if to[i] % f == 0])
                to[i:i + 1] = [factor, to[i] // factor]
        if to and 0 not in to and r.random() < 0.4:
            to[r.randrange(len(to))] = -1
        return Case(op, [x], x.value.reshape(to), integers=to)

    def concatenate(self, op, dtype):
        r = self.choose
        shape = self.shape(least=1, large=False)
        axis = r.randrange(len(shape))
        parts = []
        for _ in range(r.randint(2, 4)):
            shape[axis] = r.randint(0, 4)
            parts.append(self.operand(dtype, shape))
        joined = np.concatenate([p.value for p in parts], axis)
        return Case(op, parts, joined, integers=[axis - r.choice([0, len(shape)])])

    def stack(self, op, dtype):
        r = self.choose
        shape = self.shape(large=False)
        axis = r.randint(0, len(shape))
        parts = [self.operand(dtype, shape) for _ in range(r.randint(2, 3))]
        stacked = np.stack([p.value for p in parts], axis)
        return Case(op, parts, stacked, integers=[axis - r.choice([0, len(shape) + 1])])

    def take(self, op, dtype):
        r = self.choose
        shape = self.shape(least=1)
        axis = r.randrange(len(shape))
        n = shape[axis]
        picked = [0] if n == 0 else self.shape(most=2, large=False)
        x = self.operand(dtype, shape)
        i = self.operand("int64", picked, values=lambda size: self.draw.randint(-n, max(n, 1), size))
        return Case(op, [x, i], np.take(x.value, i.value, axis), integers=[axis - r.choice([0, len(shape)])])

    def mask_select(self, op, dtype):
        x = self.operand(dtype, self.shape())
        mask = self.operand("bool", x.shape[:self.choose.randint(0, len(x.shape))])
        return Case(op, [x, mask], x.value[mask.value])

    def mask_assign(self, op, dtype):
        """The result is the whole base buffer: nothing but the masked elements may change."""
        x = self.operand(dtype, self.shape(), repeat=False)
        mask = self.operand("bool", x.shape[:self.choose.randint(0, len(x.shape))])
        selected = x.value[mask.value].shape
        value = self.operand(dtype, self.choose.choice([[], list(selected), list(selected[1:])]))
        changed = x.base.copy()
        x.view(changed)[mask.value] = value.value
        return Case(op, [x, mask, value], changed)

    def assign(self, op, dtype):
        """A view written through; the result is the whole base buffer."""
        x = self.operand(dtype, self.shape(), repeat=False)
        value = self.operand(dtype, self.broadcast(x.shape, 1)[0])
        changed = x.base.copy()
        x.view(changed)[...] = value.value
        return Case(op, [x, value], changed)

    # products

    def matmul(self, op, dtype):
        r = self.choose
        m, k, n = (r.randint(1, 20) for _ in range(3))
        if r.random() < 0.15:
            m, k, n = r.choice([(0, k, n), (m, 0, n), (m, k, 0)])
        batch = self.broadcast([r.choice([1, 2, 2, 3]) for _ in range(r.choice([0, 1, 2, 3, 3]))], 2)
        a, b = r.choice([([k], [k]), ([k], [*batch[1], k, n]), ([*batch[0], m, k], [k]),
                         *3 * [([*batch[0], m, k], [*batch[1], k, n])]])
        x, y = self.operand(dtype, a, op, 0), self.operand(dtype, b, op, 0)
        wide = np.int64 if dtype == "int32" else np.longdouble
        p, q = x.value.astype(wide), y.value.astype(wide)
        scale = 0.0 if dtype == "int32" else largest(np.matmul(abs(p), abs(q)))
        return Case(op, [x, y], np.matmul(p, q).astype(dtype), scale=scale)

    # 16-bit floats and complex numbers

    def half_binary(self, op, dtype):
        x, y = (self.operand(dtype, s, op) for s in self.broadcast(self.shape(), 2))
        result = getattr(np, op)(x.value, y.value)
        scale = 2 * largest(x.value) * largest(y.value)  # the products of parts, as a product may be fused with the sum
        return Case(op, [x, y], result, dtype, scale=scale)

    def half_sum(self, op, dtype):
        x = self.operand(dtype, self.shape(), op, self.choose.choice([0, 0.02]))
        axes = self.choose.sample(range(len(x.shape)), self.choose.randint(0, len(x.shape)))
        wide = x.value.astype(np.clongdouble if dtype == "complex64" else np.longdouble)
        total = wide.sum(axis=tuple(axes)).astype("float32" if dtype == "bfloat16" else dtype)
        return Case(op, [x], total, dtype, integers=axes, scale=largest(abs_sum(wide, tuple(axes))))

    def complex_numbers(self, n):
        """On the axes, beside 1 and -1, where results are beyond float32, and in between."""
        r = self.draw
        parts = [np.where(r.random_sample(n) < 0.2, np.where(r.random_sample(n) < 0.5, 0.0, -0.0), r.uniform(-4, 4, n))
                 for _ in range(2)]
        z = parts[0] + 1j * np.zeros(n)
        z.imag = parts[1]
        beside = r.choice([1, -1, 1j, -1j], n) * (1 + r.uniform(-1e-3, 1e-3, n) + 1j * r.uniform(-1e-3, 1e-3, n))
        z = np.where(r.random_sample(n) < 0.1, beside, z)
        return np.where(r.random_sample(n) < 0.05, z * r.choice([1e-20, 1e20, 30], n), z)

    def complex_unary(self, op, dtype):
        x = self.operand(dtype, self.shape(), values=self.complex_numbers)
        if op in ("exp", "exp2", "expm1", "cosh", "sinh", "cos", "sin", "tan", "tanh"):  # large angles have no digits left
            x.base[abs(x.base) > 80] = 1j
        if op == "square":  # in long double it does not overflow
            x.base[abs(x.base) > 1e9] = 1j
        return Case(op, [x], complex_unary(op, x.value), complex=True)

    def complex_binary(self, op, dtype):
        r = self.choose
        x, y = (self.operand(dtype, s, values=lambda n: self.draw.uniform(-3, 3, n) + 1j * self.draw.uniform(-3, 3, n))
                for s in self.broadcast(self.shape(), 2))
        if op == "power" and r.random() < 0.5:
            y = self.operand(dtype, y.shape, values=lambda n: self.draw.randint(-5, 6, n) + 0j)
        if op == "power":
            return Case(op, [x, y], np.power(*(v.value.astype(np.clongdouble) for v in (x, y))).astype(dtype), complex=True)
        wide = [v.value.astype(np.clongdouble) for v in (x, y)]
        result = getattr(np, op)(*wide)
        scale = largest(x.value) + largest(y.value) if op == "subtract" else 0.0
        return Case(op, [x, y], result if result.dtype == bool else result.astype(dtype), complex=True, scale=scale)

    def complex_reduction(self, op, dtype):
        x = self.operand(dtype, self.shape(zero=False, large=op != "prod"),
                         values=lambda n: self.draw.uniform(0.8, 1.2, n) * np.exp(1j * self.draw.uniform(-3, 3, n)))
        axes = tuple(self.choose.sample(range(len(x.shape)), self.choose.randint(0, len(x.shape))))
        result = getattr(np, op)(x.value.astype(np.clongdouble), axis=axes)
        return Case(op, [x], result.astype(np.dtype(dtype) if np.iscomplexobj(result) else x.value.real.dtype),
                    integers=list(axes), scale=0.0 if op == "prod" else 1.5, complex=True)

    def half_astype(self, op, source, target):
        x = self.operand(source, self.shape())
        value = x.value.real if source == "complex64" else x.value
        return Case(f"{op}<{target}>", [x], value.astype("float32" if target == "bfloat16" else target), target)

    def composed(self, op, dtype):
        operands, result, integers, *scale = getattr(self, op)(dtype)
        return Case(op, operands, result, integers=integers, scale=scale[0] if scale else 0.0)

    def slots(self):
        """What is to be covered: (times, method, function, dtypes)."""
        excluded = lambda op, t: t == "bool" and op in NOT_BOOL or is_float(t) and op in NOT_FLOAT
        defined = lambda op: [t for t in DTYPES if not excluded(op, t)]
        slots = [(3, self.unary, op, t) for op in UNARY for t in defined(op)]
        slots += [(1, self.binary, "add", t, u) for t in DTYPES for u in DTYPES]
        slots += [(3, self.binary, op, t, t) for op in BINARY for t in defined(op)]
        slots += [(1, self.binary, op, t, u) for op, pairs in MIXED.items() for t, u in pairs]
        slots += [(3, self.binary, "nextafter", t, t) for t in ("float32", "float64", "int32", "int64")]
        slots += [(3, self.round, "round", t) for t in DTYPES if t != "bool"]
        slots += [(3, self.reduction, op, t) for op in REDUCTIONS for t in DTYPES]
        slots += [(3, self.segments, op, t) for op in (*SORTS, *SCANS) for t in DTYPES]
        slots += [(3, self.topk, op, t) for op in ("topk", "topk_indices") for t in DTYPES]
        slots += [(1, self.astype, "astype", t, u) for t in DTYPES for u in DTYPES]
        for method in (self.where, self.clip, self.copy, self.index, self.transpose, self.reshape, self.concatenate,
                       self.stack, self.take, self.take_along_axis, self.mask_select, self.mask_assign, self.assign):
            slots += [(3, method, method.__name__, t) for t in DTYPES]
        slots += [(3, self.advanced_index, op, t) for op in ("advanced_index", "advanced_mask") for t in DTYPES]
        slots += [(5, self.matmul, "matmul", t) for t in ("float32", "float64", "int32")]
        slots += [(6, self.row_program, op, t) for op in ROW_PROGRAMS for t in ("float32", "float64")]
        slots += [(6, self.row_program, op, t) for op in HALF_ULPS for t in ("float16", "bfloat16")]
        slots += [(3, self.composed, op, t) for op, dtypes in surface.FUNCTIONS.items() for t in dtypes]
        for t in HALVES:
            slots += [(1, self.half_astype, "astype", "float32", t), (1, self.half_astype, "astype", t, "float32"),
                      (1, self.half_binary, "add", t), (1, self.half_binary, "multiply", t),
                      (1, self.half_sum, "sum", t), (1, self.copy, "copy", t)]
        for t in ("complex64", "complex128"):
            slots += [(1, self.complex_unary, op, t) for op in COMPLEX_UNARY]
            slots += [(1, self.complex_binary, op, t) for op in ("subtract", "divide", "power", "equal", "not_equal")]
            slots += [(1, self.complex_reduction, op, t) for op in ("mean", "prod", "var", "std")]
        return slots

    def cases(self, n):
        slots = self.slots()
        wanted = [s for s in slots for _ in range(s[0])]
        self.choose.shuffle(wanted)
        while len(wanted) < n:
            wanted.append(self.choose.choice(slots))
        return [method(op, *dtypes) for _, method, op, *dtypes in wanted[:n]]


def largest(x):
    """The largest finite magnitude."""
    x = abs(x)
    return float(np.max(np.where(np.isfinite(x), x, 0), initial=0))


def abs_sum(x, axes):
    return np.where(np.isfinite(x), abs(x), 0).sum(axis=axes)


def floating(dtype):
    """The dtype floating-point functions have for an operand."""
    return dtype if dtype.kind == "f" else np.dtype("float16" if dtype.itemsize == 1 else "float64")


def wide_call(function, *x):
    """A function of floats computed in long double."""
    return function(*(v.astype(np.longdouble) for v in x)).astype(x[0].dtype)


# What NumPy lacks, in float64.
def lenient(function):
    """A function of Python's that has an infinity where Python's throws: at 0, and where it overflows."""
    def call(x):
        try:
            return function(float(x))
        except OverflowError:
            return math.copysign(math.inf, x)
        except ValueError:
            return math.inf if function is math.lgamma else math.nan if x != 0 else math.copysign(math.inf, x)
    return np.vectorize(call, otypes=[np.longdouble])


def sinc(x):
    pi = np.longdouble("3.141592653589793238462643")
    r = x - 2 * np.rint(x / 2)  # what is small next to an integer keeps its digits
    r = np.where(r > 0.5, 1 - r, np.where(r < -0.5, -1 - r, r))
    return np.where(x == 0, np.longdouble(1), np.sin(pi * r) / (pi * x))


def digamma(x):
    """By recurrence up to 25 and the asymptotic series; below 0 only of what is next to 0."""
    if x == 0:
        return -np.copysign(np.inf, x)
    if x < 0:
        return -1 / x - 0.5772156649015329 if x > -1e-9 else np.nan
    r = np.longdouble(0)
    while x < 25:
        r, x = r - 1 / x, x + 1
    z = 1 / (x * x)
    series = z * (1 - z * (1 - z * (10 / np.longdouble(21) - z * (1 - z * 60 / np.longdouble(66)) / 2)) / 10) / 12
    return r + np.log(x) - 1 / (2 * x) - series


def bessel(order):
    """The modified Bessel function by its series, whose terms are positive."""
    def of(x):
        term = total = np.longdouble(1)
        k = 0
        while np.isfinite(x) and term > total * 1e-22:
            k += 1
            term = term * x * x / (4 * k * (k + order))
            total += term
        if not np.isfinite(x):
            return abs(x) if order == 0 else x
        return total * (x / 2) ** order
    return np.vectorize(of, otypes=[np.longdouble])


OTHER = {**{op: lenient(getattr(math, op)) for op in ("erf", "erfc", "gamma", "lgamma")}, "sinc": sinc,
         "digamma": np.vectorize(digamma, otypes=[np.longdouble]),
         "i0": bessel(0), "i1": bessel(1),
         "logit": lambda x: np.where((x < 0) | (x > 1), np.nan, np.where(abs(x - 0.5) < 0.25, np.log1p((2 * x - 1) / (1 - x)), np.log(x / (1 - x)))),
         "bitwise_count": np.vectorize(lambda x: bin(abs(int(x))).count("1"), otypes=[np.uint8])}


def unary(op, x):
    function = OTHER[op] if op in OTHER else getattr(np, op)
    if op in FLOATING_UNARY:
        x = x.astype(floating(x.dtype))
        return function(x) if op in ("sqrt", "reciprocal") else wide_call(function, x)
    if op in ROUNDING and x.dtype.kind != "f":
        return x
    return function(x)


def binary(op, x, y):
    """The result for operands of one dtype."""
    function = getattr(np, op)
    if op == "fmod" and x.dtype.kind == "i":
        y = np.where(y == -1, y.dtype.type(1), y)  # the same remainder, which the lowest number has, too
    if op in FLOATING_BINARY:
        x, y = x.astype(floating(x.dtype)), y.astype(floating(y.dtype))
        return function(x, y) if op in ("copysign", "heaviside") else wide_call(function, x, y)
    if op in (*NUMERIC, *SHIFTS) and x.dtype == bool:
        x, y = x.astype("int8"), y.astype("int8")
    if op == "power" and x.dtype.kind == "f":
        return wide_call(function, x, y)
    if op in SHIFTS:
        inside = (y >= 0) & (y < 8 * x.dtype.itemsize)
        outside = np.where((x < 0) & (op == "right_shift"), -1, 0)
        return np.where(inside, function(x, np.where(inside, y, y.dtype.type(0))), outside).astype(x.dtype)
    if op == "divide" and x.dtype.kind != "f":
        x, y = x.astype("float64"), y.astype("float64")
    return function(x, y)


def complex_unary(op, x):
    """A function of complex numbers, computed in long double."""
    if op in COMPLEX_EXACT:
        return getattr(np, op)(x)
    wide = x.astype(np.clongdouble)
    if op == "sign":
        wide = np.where(abs(wide) == 0, wide, wide / np.where(abs(wide) == 0, 1, abs(wide)))
    elif op == "reciprocal":  # as the quotient, of 0, too
        wide = np.divide(1, wide)
    elif op == "log1p":  # NumPy's adds 1 to the real part
        re, im = wide.real, wide.imag
        near = np.log1p(re * (re + 2) + im * im) / 2
        wide = np.where(abs(wide) < 0.5, near, np.log(abs(wide + 1))) + 1j * np.arctan2(im, re + 1)
    else:
        wide = getattr(np, op)(wide)
    return wide.astype(x.dtype if np.iscomplexobj(wide) else x.real.dtype)


def convert(x, target):
    """astype; float to integer saturates, and NaN gives 0."""
    if x.dtype.kind != "f" or target not in INTEGERS:
        return x.astype(target)
    info = np.iinfo(target)
    low, high = float(info.min), float(info.max // 2 + 1) * 2
    result = np.where((x > low) & (x < high), x, 0).astype(target)
    result[x <= low] = info.min
    result[x >= high] = info.max
    return result


def reduction(op, x, axes):
    """The result without the reduced axes, and what its error is measured against."""
    kind, count = x.dtype.kind, int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    if op in ("argmax", "argmin"):
        if len(axes) == x.ndim:
            return np.asarray(getattr(np, op)(x), np.int64), 0.0
        return getattr(np, op)(x, axis=axes[0]).astype(np.int64), 0.0
    if op in ("max", "min", "any", "all"):
        return np.asarray(getattr(np, op)(x, axis=axes)), 0.0
    if op in ("sum", "prod") and kind != "f":
        return np.asarray(getattr(np, op)(x, axis=axes, dtype=np.uint64 if kind == "u" else np.int64)), 0.0
    result = x.dtype if kind == "f" else np.dtype("float64")
    wide = x.astype(np.longdouble)
    if op == "sum":
        return wide.sum(axis=axes).astype(result), largest(abs_sum(wide, axes))
    if op == "prod":
        return wide.prod(axis=axes).astype(result), 0.0
    mean = np.divide(wide.sum(axis=axes, keepdims=True), count)
    if op == "mean":
        return mean.reshape([n for a, n in enumerate(x.shape) if a not in axes]).astype(result), largest(wide)
    variance = np.divide(np.square(wide - mean).sum(axis=axes), count)
    if op == "var":
        return variance.astype(result), largest(wide) ** 2
    return np.sqrt(variance).astype(result), largest(wide)


def segments(op, x, axis):
    """What sorting or scanning along an axis gives (None: of all elements), and what its error is measured against."""
    if op == "sort":
        return np.sort(x, axis=axis), 0.0
    if op == "argsort":
        return np.argsort(x, axis=axis, kind="stable").astype(np.int64), 0.0
    if axis is None:
        x, axis = x.ravel(), 0
    accumulate, kind = SCANS[op].accumulate, x.dtype.kind
    if op in ("cummax", "cummin"):
        return accumulate(x, axis=axis), 0.0
    if kind != "f":
        return accumulate(x, axis=axis, dtype=np.uint64 if kind == "u" else np.int64), 0.0
    wide = x.astype(np.longdouble)
    return accumulate(wide, axis=axis).astype(x.dtype), largest(abs_sum(wide, axis)) if op == "cumsum" else 0.0


def topk(x, k, axis, largest):
    """The k first elements along an axis by NumPy's order, or by its reverse, equal ones in order; and their positions."""
    if largest:
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    order = np.take(order, range(k), axis=axis).astype(np.int64)
    return np.take_along_axis(x, order, axis), order


def row_program(op, dtype, x, *rest):
    """A function of rows, and what its error is measured against; of 16 bits each operation rounds."""
    def each(v):
        if dtype == "float16":
            return v.astype("float16").astype(np.longdouble)
        return from_bfloat(to_bfloat(v)).astype(np.longdouble) if dtype == "bfloat16" else v

    along = {"axis": -1, "keepdims": True}
    x = x.astype(np.longdouble)
    rest = [v if v.dtype.kind in "bi" else v.astype(np.longdouble) for v in rest]
    scale = 0.0
    if op == "masked_softmax":
        x = np.where(rest[0], x, -np.inf)
    if op.endswith("softmax"):
        e = each(np.exp(each(x - x.max(**along))))
        y = e / each(e.sum(**along))
    elif op == "cross_entropy":
        top = x.max(**along)
        y = np.log(np.exp(x - top).sum(**along)) + top - np.take_along_axis(x, rest[0], -1)
        scale = largest(x) + float(np.log(x.shape[-1]))
    elif op == "softmax_gradient":
        product = each(rest[0] * x)
        y = x * each(rest[0] - each(product.sum(**along)))
        scale = largest(x) * largest(abs_sum(product, (-1,)))
    elif op == "rms_norm":
        y = each(x / each(np.sqrt(each(each(each(x * x).mean(**along)) + each(np.longdouble(1e-5)))))) * rest[0]
    else:
        by = np.sqrt(x.var(**along) + 1e-5)
        y = (x - x.mean(**along)) / by * rest[0] + rest[1]
        scale = largest(x) * largest(rest[0]) / float(np.nanmin(by, initial=2)) + largest(rest[1])
    return y.astype("float32" if dtype == "bfloat16" else dtype), scale


def census(cases):
    """What the cases cover: one line, and assertions."""
    operands = [x for c in cases for x in c.operands]
    strided = sum(x.is_strided for x in operands) / len(operands)
    empty = sum(any(0 in x.shape for x in c.operands) for c in cases) / len(cases)
    ranks = {len(x.shape) for x in operands}
    broadcast = sum(len(c.operands) > 1 and c.operands[0].shape != c.operands[1].shape for c in cases)
    floats = [x for x in operands if x.dtype in ("float32", "float64")]
    special = sum(bool(np.any(~np.isfinite(x.value))) for x in floats)
    seen = collections.Counter()
    for c in cases:
        seen.update({(c.op.split("<")[0], x.dtype) for x in c.operands})
    segments_given = [c.integers is not None for c in cases if c.op in (*SORTS, *SCANS)]
    pairs = {tuple(x.dtype for x in c.operands) for c in cases if c.op == "add"}
    print(f"{len(cases)} cases, {len({op for op, _ in seen})} functions, {len(seen)} (function, dtype) pairs, "
          f"ranks {sorted(ranks)}, {strided:.0%} of {len(operands)} operands strided, "
          f"{empty:.0%} of cases with empty ones, {broadcast} with operands of two shapes, "
          f"{special} float operands with NaN or infinity, "
          f"add of {len(pairs)} dtype pairs")
    if len(cases) < 1700:
        return
    assert strided >= 0.5 and empty >= 0.1 and ranks >= set(range(6)) and special >= 100 and broadcast >= 100
    assert len(segments_given) >= 108 and 10 <= segments_given.count(False) <= len(segments_given) / 2
    assert all((t, u) in pairs for t in DTYPES for u in DTYPES)
    for times, _, op, *dtypes in Generator(0).slots():
        assert all(seen[op, t] >= times for t in dtypes if t is not None), (op, dtypes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = Generator(args.seed).cases(args.n)
    census(cases)
    with open(args.out, "wb") as out:
        out.write(b"golden 1" + struct.pack("<q", len(cases)))
        for c in cases:
            c.write(out)


if __name__ == "__main__":
    main()
