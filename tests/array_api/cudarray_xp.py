"""cudarray's CPU arrays as a namespace of the Python array API standard, for its test suite.

Each function calls the one of its name in the module cudarray_core; what is here are the standard's signatures, its
promotion of operands to a common dtype, and Python's scalars. NumPy turns nested lists into bytes.
"""
# SPDX-License-Identifier: MIT
import builtins
import collections
import math
import operator

import numpy as np

import cudarray_core as core

__array_api_version__ = "2025.12"
__version__ = "0.1.0"

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None


class DType:
    def __init__(self, name):
        self.name = name
        self.np = np.dtype(name)

    def __repr__(self):
        return f"cudarray_xp.{self.name}"

    def __eq__(self, other):
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
REAL, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
KINDS = {"bool": ["bool"], "signed integer": SIGNED, "unsigned integer": UNSIGNED, "integral": SIGNED + UNSIGNED,
         "real floating": REAL, "complex floating": COMPLEX, "numeric": SIGNED + UNSIGNED + REAL + COMPLEX}
DTYPES = {name: DType(name) for name in ["bool", *KINDS["numeric"]]}
globals().update(DTYPES)
FLOATING = REAL + COMPLEX
PARTS = {"complex64": "float32", "complex128": "float64"}


def kind_of(name):
    return next(k for k in ("bool", "integral", "real floating", "complex floating") if name in KINDS[k])


def as_integer(value):
    return operator.index(value)


class Array:
    """A handle of cudarray's, whose views share elements."""

    def __init__(self, handle):
        self._x = handle

    def __array_namespace__(self, *, api_version=None):
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"api_version {api_version!r}")
        import cudarray_xp
        return cudarray_xp

    shape = property(lambda self: tuple(self._x.shape))
    dtype = property(lambda self: DTYPES[self._x.dtype])
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    device = property(lambda self: "cpu")
    T = property(lambda self: permute_dims(self, (1, 0)))
    mT = property(lambda self: matrix_transpose(self))

    def to_device(self, device, /, *, stream=None):
        if device != "cpu" or stream is not None:
            raise ValueError(f"device {device!r}, stream {stream!r}")
        return self

    def numpy(self):
        return np.frombuffer(core.to_bytes(self._x), self.dtype.np).reshape(self.shape)

    def __repr__(self):
        return f"Array({core.to_string(self._x)}, dtype={self.dtype.name})"

    def _item(self):
        if self.size != 1 or self.ndim != 0:
            raise TypeError(f"an array of shape {self.shape} is no scalar")
        return self.numpy()[()].item()

    def __bool__(self):
        return builtins.bool(self._item())

    def __float__(self):
        return float(self._item())

    def __int__(self):
        return int(self._item())

    def __complex__(self):
        return complex(self._item())

    def __index__(self):
        if kind_of(self.dtype.name) != "integral":
            raise TypeError(f"an array of {self.dtype.name} is no index")
        return int(self._item())

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("an array of no axes has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key):
        return Array(core.get_item(self._x, index_items(key)))

    def __setitem__(self, key, value):
        value = value if isinstance(value, Array) else scalar_like(value, self.dtype.name)
        core.set_item(self._x, index_items(key), astype(value, self.dtype)._x)


def index_items(key):
    def item(k):
        if k is None or isinstance(k, (builtins.bool,)):
            return k
        if k is Ellipsis:
            return "..."
        if isinstance(k, slice):
            return tuple(None if b is None else as_integer(b) for b in (k.start, k.stop, k.step))
        if isinstance(k, Array):
            if kind_of(k.dtype.name) == "integral":
                return int(k) if k.ndim == 0 else core.astype_int64(k._x)
            if k.dtype != DTYPES["bool"]:
                raise IndexError(f"an index of {k.dtype.name}")
            return k._x
        return as_integer(k)
    return [item(k) for k in (key if isinstance(key, tuple) else (key,))]


# scalars and promotion

def scalar_like(value, name):
    """A Python scalar as an array of a dtype, or, of a complex one beside floats, of its complex counterpart."""
    kind = kind_of(name)
    if isinstance(value, complex) and not isinstance(value, (builtins.bool, int, float)):
        if kind not in ("real floating", "complex floating"):
            raise TypeError(f"a complex scalar beside {name}")
        name = {"float32": "complex64", "float64": "complex128"}.get(name, name)
    elif isinstance(value, builtins.bool):
        if kind != "bool":
            raise TypeError(f"a bool beside {name}")
    elif isinstance(value, int):
        if kind == "bool":
            raise TypeError("an int beside bool")
        if kind == "integral":
            info = np.iinfo(name)
            if not info.min <= value <= info.max:
                raise OverflowError(f"{value} is no {name}")
    elif isinstance(value, float):
        if kind in ("bool", "integral"):
            raise TypeError(f"a float beside {name}")
    else:
        raise TypeError(f"{type(value).__name__} is no operand")
    return from_numpy(np.asarray(value, name))


def from_numpy(a):
    a = np.ascontiguousarray(a).reshape(a.shape)
    return Array(getattr(core, "from_bytes_" + a.dtype.name)(a.tobytes(), list(a.shape)))


def promoted(*x):
    """Operands as arrays of their common dtype; scalars are weak."""
    arrays = [v for v in x if isinstance(v, Array)]
    if not arrays:
        raise TypeError("no operand is an array")
    common = result_type(*arrays).name
    x = [v if isinstance(v, Array) else scalar_like(v, common) for v in x]
    common = result_type(*x)
    return [astype(v, common, copy=False) for v in x]


def result_type(*arrays_and_dtypes):
    names = [v.name if isinstance(v, DType) else v.dtype.name for v in arrays_and_dtypes if isinstance(v, (Array, DType))]
    if not names:
        raise TypeError("no array and no dtype")
    kinds = {kind_of(n) for n in names}
    if len(kinds) > 1 and kinds & {"bool", "integral"}:
        raise TypeError(f"no common dtype of {names}")
    common = np.result_type(*names).name
    if kind_of(common) not in kinds:
        raise TypeError(f"no common dtype of {names}")
    for v in arrays_and_dtypes:
        if not isinstance(v, (Array, DType)):
            common = scalar_like(v, common).dtype.name
    return DTYPES[common]


def give(result):
    return Array(result)


def checked(function, names):
    def check(*x):
        for v in x:
            if v.dtype.name not in names:
                raise TypeError(f"{function} of {v.dtype.name}")
    return check


# elementwise functions: their names, cudarray's where it differs, and the dtypes they are defined for

ANY, NUMERIC, INTEGRAL = list(DTYPES), KINDS["numeric"], KINDS["integral"]
ORDERED = INTEGRAL + REAL
BITS = ["bool", *INTEGRAL]
UNARY = {
    "abs": ("absolute", NUMERIC), "acos": ("arccos", FLOATING), "acosh": ("arccosh", FLOATING), "asin": ("arcsin", FLOATING),
    "asinh": ("arcsinh", FLOATING), "atan": ("arctan", FLOATING), "atanh": ("arctanh", FLOATING),
    "bitwise_invert": ("invert", BITS), "ceil": ("ceil", ORDERED), "conj": ("conj", NUMERIC), "cos": ("cos", FLOATING),
    "cosh": ("cosh", FLOATING), "exp": ("exp", FLOATING), "expm1": ("expm1", FLOATING), "floor": ("floor", ORDERED),
    "imag": ("imag", COMPLEX), "isfinite": ("isfinite", NUMERIC), "isinf": ("isinf", NUMERIC), "isnan": ("isnan", NUMERIC),
    "log": ("log", FLOATING), "log1p": ("log1p", FLOATING), "log2": ("log2", FLOATING), "log10": ("log10", FLOATING),
    "logical_not": ("logical_not", ["bool"]), "negative": ("negative", NUMERIC), "positive": ("positive", NUMERIC),
    "real": ("real", NUMERIC), "reciprocal": ("reciprocal", FLOATING), "round": ("round", NUMERIC), "sign": ("sign", NUMERIC),
    "signbit": ("signbit", REAL), "sin": ("sin", FLOATING), "sinh": ("sinh", FLOATING), "square": ("square", NUMERIC),
    "sqrt": ("sqrt", FLOATING), "tan": ("tan", FLOATING), "tanh": ("tanh", FLOATING), "trunc": ("trunc", ORDERED),
}
BINARY = {
    "add": ("add", NUMERIC), "atan2": ("arctan2", REAL), "bitwise_and": ("bitwise_and", BITS),
    "bitwise_left_shift": ("left_shift", INTEGRAL), "bitwise_or": ("bitwise_or", BITS),
    "bitwise_right_shift": ("right_shift", INTEGRAL), "bitwise_xor": ("bitwise_xor", BITS), "copysign": ("copysign", REAL),
    "divide": ("divide", FLOATING), "equal": ("equal", ANY), "floor_divide": ("floor_divide", ORDERED),
    "greater": ("greater", ORDERED), "greater_equal": ("greater_equal", ORDERED), "hypot": ("hypot", REAL),
    "less": ("less", ORDERED), "less_equal": ("less_equal", ORDERED), "logaddexp": ("logaddexp", REAL),
    "logical_and": ("logical_and", ["bool"]), "logical_or": ("logical_or", ["bool"]), "logical_xor": ("logical_xor", ["bool"]),
    "maximum": ("maximum", ORDERED), "minimum": ("minimum", ORDERED), "multiply": ("multiply", NUMERIC),
    "nextafter": ("nextafter", REAL), "not_equal": ("not_equal", ANY), "pow": ("pow", NUMERIC),
    "remainder": ("remainder", ORDERED), "subtract": ("subtract", NUMERIC),
}


def make_unary(name, of, names):
    check, call = checked(name, names), getattr(core, of)

    def function(x, /):
        check(x)
        return give(call(x._x))
    function.__name__ = name
    return function


def make_binary(name, of, names):
    check, call = checked(name, names), getattr(core, of)

    def function(x1, x2, /):
        x, y = promoted(x1, x2)
        check(x, y)
        return give(call(x._x, y._x))
    function.__name__ = name
    return function


globals().update({name: make_unary(name, *of) for name, of in UNARY.items()})
globals().update({name: make_binary(name, *of) for name, of in BINARY.items()})


def clip(x, /, min=None, max=None):
    if kind_of(x.dtype.name) not in ("integral", "real floating"):
        raise TypeError(f"clip of {x.dtype.name}")
    if isinstance(min, Array) or isinstance(max, Array):
        shape = broadcast_shapes(*(v.shape for v in (x, min, max) if isinstance(v, Array)))
        x = broadcast_to(x, shape)
    for limit, function in ((min, maximum), (max, minimum)):
        if limit is None:
            continue
        if isinstance(limit, (int, float)) and kind_of(x.dtype.name) == "integral":
            info = np.iinfo(x.dtype.name)
            limit = builtins.min(builtins.max(limit, info.min), info.max)
            limit = math.ceil(limit) if function is maximum else math.floor(limit)
        limit = limit if isinstance(limit, Array) else scalar_like(limit, x.dtype.name)
        x = function(x, astype(limit, x.dtype))
    return x if min is not None or max is not None else give(core.copy(x._x))


def where(condition, x1, x2, /):
    x, y = promoted(x1, x2)
    return give(core.where(condition._x, x._x, y._x))


# operators

OPERATORS = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
             "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
             "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "matmul": "matmul", "lt": "less",
             "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}


def is_operand(value):
    return isinstance(value, (Array, builtins.bool, int, float, complex))


def add_operators(sign, name):
    def function(self, other, /):
        return globals()[name](self, other) if is_operand(other) else NotImplemented

    def reflected(self, other, /):
        return globals()[name](other, self) if is_operand(other) else NotImplemented

    def in_place(self, other, /):
        if not is_operand(other):
            return NotImplemented
        r = globals()[name](self, other)
        if r.dtype != self.dtype:
            raise TypeError(f"{r.dtype.name} into {self.dtype.name}")
        if r.shape != self.shape:
            raise ValueError(f"shape {r.shape} into {self.shape}")
        self[...] = r
        return self
    setattr(Array, f"__{sign}__", function)
    if sign not in COMPARISONS:
        setattr(Array, f"__r{sign}__", reflected)
        setattr(Array, f"__i{sign}__", in_place)


for of_operator in OPERATORS.items():
    add_operators(*of_operator)
Array.__hash__ = None
Array.__abs__ = lambda self, /: abs(self)
Array.__neg__ = lambda self, /: negative(self)
Array.__pos__ = lambda self, /: positive(self)
Array.__invert__ = lambda self, /: bitwise_invert(self)


# creation

def default_dtype(a):
    kind = a.dtype.kind
    return DTYPES[{"b": "bool", "i": "int64", "u": "int64", "f": "float64", "c": "complex128"}[kind]]


def on_cpu(device):
    if device not in (None, "cpu"):
        raise ValueError(f"device {device!r}")


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    on_cpu(device)
    if isinstance(obj, Array):
        if dtype is not None and dtype != obj.dtype:
            if copy is False:
                raise ValueError("another dtype needs a copy")
            return astype(obj, dtype)
        return give(core.copy(obj._x)) if copy else obj
    if copy is False:
        raise ValueError("a list is copied")

    def plain(v):
        return [plain(u) for u in v] if isinstance(v, (list, tuple)) else v._item() if isinstance(v, Array) else v
    a = np.asarray(plain(obj))
    if a.dtype.kind == "O":
        raise OverflowError(f"no dtype holds {obj}")
    return from_numpy(a.astype((dtype or default_dtype(a)).np))


def full(shape, fill_value, *, dtype=None, device=None):
    on_cpu(device)
    value = asarray(fill_value)
    dtype = dtype or value.dtype
    return give(getattr(core, "full_" + dtype.name)(sizes(shape), astype(value, dtype)._x))


def sizes(shape):
    return [as_integer(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]


def zeros(shape, *, dtype=None, device=None):
    return full(shape, 0, dtype=dtype or DTYPES["float64"], device=device)


def ones(shape, *, dtype=None, device=None):
    return full(shape, 1, dtype=dtype or DTYPES["float64"], device=device)


def empty(shape, *, dtype=None, device=None):
    return zeros(shape, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    return empty(x.shape, dtype=dtype or x.dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    on_cpu(device)
    start, stop = (0, start) if stop is None else (start, stop)
    r = give(core.arange(start, stop, step))
    return r if dtype is None else astype(r, dtype, copy=False)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    on_cpu(device)
    if isinstance(start, complex) or isinstance(stop, complex):
        start, stop = complex(start), complex(stop)
        parts = [linspace(a, b, num, endpoint=endpoint) for a, b in ((start.real, stop.real), (start.imag, stop.imag))]
        r = astype(parts[0], complex128) + 1j * parts[1]
        return r if dtype is None else astype(r, dtype, copy=False)
    r = give(core.linspace(start, stop, num if endpoint else num + 1))[:num]
    return r if dtype is None else astype(r, dtype, copy=False)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    on_cpu(device)
    k = builtins.max(-2**62, builtins.min(k, 2**62))
    return astype(give(core.eye(n_rows, n_rows if n_cols is None else n_cols, k)), dtype or float64, copy=False)


def meshgrid(*arrays, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing {indexing!r}")
    n = len(arrays)
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    shape = [arrays[k].size for k in order]
    return tuple(give(core.copy(core.broadcast_to(
        core.reshape(a._x, [a.size if order[d] == k else 1 for d in range(n)]), shape))) for k, a in enumerate(arrays))


def tril(x, /, *, k=0):
    return give(core.tril(x._x, k))


def triu(x, /, *, k=0):
    return give(core.triu(x._x, k))


# data types

def astype(x, dtype, /, *, copy=True, device=None):
    on_cpu(device)
    if x.dtype == dtype and not copy:
        return x
    if kind_of(x.dtype.name) == "complex floating" and kind_of(dtype.name) != "complex floating":
        raise TypeError(f"{x.dtype.name} as {dtype.name}")
    return give(getattr(core, "astype_" + dtype.name)(x._x)) if x.dtype != dtype else give(core.copy(x._x))


def can_cast(from_, to, /):
    name = from_.name if isinstance(from_, DType) else from_.dtype.name
    try:
        return result_type(DTYPES[name], to) == to
    except TypeError:
        return np.can_cast(name, to.name)


finfo_object = collections.namedtuple("finfo", "bits eps max min smallest_normal dtype")
iinfo_object = collections.namedtuple("iinfo", "bits max min dtype")


def finfo(type, /):
    name = type.name if isinstance(type, DType) else type.dtype.name
    of = PARTS.get(name, name)
    i = np.finfo(of)
    return finfo_object(i.bits, float(i.eps), float(i.max), float(i.min), float(i.smallest_normal), DTYPES[of])


def iinfo(type, /):
    name = type.name if isinstance(type, DType) else type.dtype.name
    i = np.iinfo(name)
    return iinfo_object(i.bits, int(i.max), int(i.min), DTYPES[name])


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, DType):
        return dtype == kind
    return dtype.name in KINDS[kind]


# indexing and manipulation

def take(x, indices, /, *, axis=None):
    if axis is None and x.ndim != 1:
        raise ValueError("take: no axis")
    return give(core.take(x._x, core.astype_int64(indices._x), 0 if axis is None else axis))


def take_along_axis(x, indices, /, *, axis=-1):
    return give(core.take_along_axis(x._x, core.astype_int64(indices._x), axis))


def reshape(x, /, shape, *, copy=None):
    r = give(core.reshape(x._x, sizes(shape)))
    return give(core.copy(r._x)) if copy else r


def permute_dims(x, /, axes):
    return give(core.permute_dims(x._x, list(axes)))


def moveaxis(x, source, destination, /):
    return give(core.moveaxis(x._x, sizes(source), sizes(destination)))


def matrix_transpose(x, /):
    return give(core.matrix_transpose(x._x))


def expand_dims(x, /, axis=0):
    places = sorted(a + x.ndim + len(sizes(axis)) if a < 0 else a for a in sizes(axis))
    if len(set(places)) < len(places):
        raise ValueError(f"axis {axis} twice")
    for a in places:
        if a < 0:
            raise IndexError(f"axis {axis}")
        x = give(core.expand_dims(x._x, a))
    return x


def squeeze(x, /, axis):
    return give(core.squeeze(x._x, sizes(axis)))


def broadcast_to(x, /, shape):
    return give(core.broadcast_to(x._x, sizes(shape)))


def broadcast_shapes(*shapes):
    r = []
    for s in shapes:
        r = core.broadcast_shapes(r, list(s))
    return tuple(r)


def broadcast_arrays(*arrays):
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


def flip(x, /, *, axis=None):
    return give(core.flip(x._x, list(range(x.ndim)) if axis is None else sizes(axis)))


def roll(x, /, shift, *, axis=None):
    if axis is None:
        return give(core.roll(x._x, as_integer(shift)))
    shifts = sizes(shift) if isinstance(shift, tuple) else [as_integer(shift)] * len(sizes(axis))
    for n, a in zip(shifts, sizes(axis), strict=True):
        x = give(core.roll(x._x, n, a))
    return x


def tile(x, repetitions, /):
    return give(core.tile(x._x, list(repetitions)))


def repeat(x, repeats, /, *, axis=None):
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    if isinstance(repeats, Array) and repeats.ndim > 0 and repeats.size != 1:
        return give(core.repeat(x._x, core.astype_int64(repeats._x), axis))
    return give(core.repeat(x._x, int(reshape(repeats, ())) if isinstance(repeats, Array) else repeats, axis))


def same_dtype(arrays):
    return [a._x for a in promoted(*arrays)]


def concat(arrays, /, *, axis=0):
    if axis is None:
        arrays, axis = [reshape(a, (-1,)) for a in arrays], 0
    return give(core.concat(same_dtype(arrays), axis))


def stack(arrays, /, *, axis=0):
    return give(core.stack(same_dtype(arrays), axis))


def unstack(x, /, *, axis=0):
    return tuple(give(r) for r in core.unstack(x._x, axis))


# products

def matmul(x1, x2, /):
    if not isinstance(x1, Array) or not isinstance(x2, Array):
        raise TypeError("matmul of a scalar")
    x, y = promoted(x1, x2)
    checked("matmul", NUMERIC)(x)
    return astype(give(core.matmul(x._x, y._x)), x.dtype, copy=False)


def vecdot(x1, x2, /, *, axis=-1):
    x, y = promoted(x1, x2)
    checked("vecdot", NUMERIC)(x)
    return astype(give(core.vecdot(x._x, y._x, axis)), x.dtype, copy=False)


def tensordot(x1, x2, /, *, axes=2):
    x, y = promoted(x1, x2)
    checked("tensordot", NUMERIC)(x)
    over = (list(range(x.ndim - axes, x.ndim)), list(range(axes))) if isinstance(axes, int) else [list(a) for a in axes]
    return astype(give(core.tensordot(x._x, y._x, *over)), x.dtype, copy=False)


# reductions, sorting, sets

def axes_of(x, axis):
    return list(range(x.ndim)) if axis is None else sizes(axis)


def make_reduction(name, names):
    check, call = checked(name, names), getattr(core, name)

    def function(x, /, *, axis=None, keepdims=False):
        check(x)
        return give(call(x._x, axes_of(x, axis), keepdims))
    function.__name__ = name
    return function


globals().update({name: make_reduction(name, names) for name, names in {
    "all": ANY, "any": ANY, "max": ORDERED, "min": ORDERED, "mean": FLOATING, "count_nonzero": ANY}.items()})


def accumulated(name, x, dtype):
    checked(name, NUMERIC)(x)
    if dtype is None:
        dtype = {"signed": DTYPES["int64"], "unsigned": DTYPES["uint64"]}.get(
            "signed" if x.dtype.name in SIGNED else "unsigned" if x.dtype.name in UNSIGNED else "", x.dtype)
    return astype(x, dtype, copy=False), dtype


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    x, dtype = accumulated("sum", x, dtype)
    return astype(give(core.sum(x._x, axes_of(x, axis), keepdims)), dtype, copy=False)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    x, dtype = accumulated("prod", x, dtype)
    return astype(give(core.prod(x._x, axes_of(x, axis), keepdims)), dtype, copy=False)


def scanned(call, x, axis, dtype, include_initial):
    x, dtype = accumulated("a cumulative sum or product", x, dtype)
    if axis is None and x.ndim != 1:
        raise ValueError("no axis")
    return astype(give(call(x._x, 0 if axis is None else axis, include_initial)), dtype, copy=False)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return scanned(core.cumulative_sum, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return scanned(core.cumulative_prod, x, axis, dtype, include_initial)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return spread(core.var, x, axis, correction, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return spread(core.std, x, axis, correction, keepdims)


def spread(call, x, axis, correction, keepdims):
    checked("var", REAL)(x)
    if correction == int(correction):
        return give(call(x._x, axes_of(x, axis), int(correction), keepdims))
    n = math.prod(x.shape[a] for a in axes_of(x, axis))
    factor = n / (n - correction) if n > correction else nan
    return give(call(x._x, axes_of(x, axis), 0, keepdims)) * (factor if call is core.var else math.sqrt(factor))


def argmax(x, /, *, axis=None, keepdims=False):
    return give(core.argmax(x._x, axes_of(x, axis), keepdims))


def argmin(x, /, *, axis=None, keepdims=False):
    return give(core.argmin(x._x, axes_of(x, axis), keepdims))


def nonzero(x, /):
    if x.ndim == 0:
        raise ValueError("nonzero of an array without axes")
    return tuple(give(r) for r in core.nonzero(x._x))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    if side not in ("left", "right"):
        raise ValueError(f"side {side!r}")
    x1 = x1 if sorter is None else take(x1, sorter)
    x, y = promoted(x1, x2)
    return give(core.searchsorted(x._x, y._x, side == "right"))


def sort(x, /, *, axis=-1, descending=False, stable=True):
    r = give(core.sort(x._x, axis))
    return flip(r, axis=axis) if descending else r


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    if not descending:
        return give(core.argsort(x._x, axis))
    r = flip(give(core.argsort(flip(x, axis=axis)._x, axis)), axis=axis)  # of equal elements the first is first
    return x.shape[axis] - 1 - r


def top_k(x, k, /, *, axis=None, mode="largest"):
    if mode not in ("largest", "smallest"):
        raise ValueError(f"mode {mode!r}")
    x, axis = (reshape(x, (-1,)), 0) if axis is None else (x, axis)
    return tuple(give(r) for r in core.top_k(x._x, k, axis, mode == "largest"))


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    parts = [v for v in (prepend, x, append) if v is not None]
    return give(core.diff(concat(parts, axis=axis)._x if len(parts) > 1 else x._x, n, axis))


UniqueAll = collections.namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = collections.namedtuple("UniqueCounts", "values counts")
UniqueInverse = collections.namedtuple("UniqueInverse", "values inverse_indices")


def unique_all(x, /):
    values, indices, inverse, counts = (give(r) for r in core.unique_all(x._x))
    return UniqueAll(values, indices, reshape(inverse, x.shape), counts)


def unique_counts(x, /):
    r = unique_all(x)
    return UniqueCounts(r.values, r.counts)


def unique_inverse(x, /):
    r = unique_all(x)
    return UniqueInverse(r.values, r.inverse_indices)


def unique_values(x, /):
    return unique_all(x).values


def isin(x1, x2, /, *, invert=False):
    x, y = promoted(x1, x2)
    r = give(core.isin(x._x, y._x))
    return logical_not(r) if invert else r


class Info:
    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ("cpu",)

    def default_dtypes(self, *, device=None):
        on_cpu(device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        on_cpu(device)
        if kind is None:
            return dict(DTYPES)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {name: d for name, d in DTYPES.items() if builtins.any(name in KINDS[k] for k in kinds)}


def __array_namespace_info__():
    return Info()
