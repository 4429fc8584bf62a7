"""Golden cases of NumPy's functions that are composed of others: a method each, which gives operands, result and integers.

Elements are small whole numbers, so that sums and products are exact, except where ULPS says how far a result may be off.
"""
import numpy as np

# Units of the last place, measured against the scale that a method gives.
ULPS = {"interp": 8, "quantile": 4, "cov": 64, "corrcoef": 64, "average": 16, "nanmean": 8, "nanvar": 64, "kaiser": 32, "hanning": 8,
        "blackman": 8}
METHODS = ["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
           "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"]
PADS = ["constant", "edge", "reflect", "symmetric", "wrap"]
MODES = ["full", "same", "valid"]
BOTH = ("float64", "int64")
# Function, and the dtypes of the cases.
FUNCTIONS = {
    **dict.fromkeys(("diff", "cumulative_sum", "polyder", "unique", "histogram", "roll", "repeat", "tile", "pad", "rot90", "tril", "triu",
                     "trace", "diagonal", "ptp", "count_nonzero", "argwhere", "lexsort", "quantile"), BOTH),
    **dict.fromkeys(("convolve", "correlate", "polyval", "searchsorted", "digitize", "isin", "union1d", "intersect1d", "setdiff1d",
                     "setxor1d", "histogram2d", "kron", "outer", "cross", "tensordot", "scatter_add", "scatter_mul", "scatter_max",
                     "scatter_min", "segment_sum", "segment_mean", "segment_max", "segment_min", "histogram_weights"), BOTH),
    **dict.fromkeys(("unwrap", "gradient", "trapezoid", "interp", "cov", "corrcoef", "average", "nansum", "nanmax", "nanmean", "nanvar",
                     "mantissa", "exponent", "ldexp"), ("float64",)),
    "bincount": ("int64",), "bincount_weights": ("int64",), "packbits": ("bool",), "unpackbits": ("uint8",),
    "linspace": (None,), "arange": (None,), "kaiser": (None,), "hanning": (None,), "blackman": (None,),
}


class Surface:
    """What a generator has beside its own methods: `choose`, `draw`, `shape` and `operand` are the generator's."""

    def whole(self, dtype, shape, low=-9, high=9, **more):
        return self.operand(dtype, shape, values=lambda n: self.draw.randint(low, high + 1, n).astype(dtype), **more)

    def array(self, dtype, least=1, **more):
        return self.whole(dtype, self.shape(least=least, most=3, large=False, zero=False), **more)

    def line(self, dtype, most=40, least=1, **more):
        return self.whole(dtype, [self.choose.randint(least, most)], **more)

    def ordered(self, dtype, most=40, down=False):
        x = self.line(dtype, most, repeat=False)
        x.view(x.base)[...] = np.sort(x.value)[::-1 if down else 1]
        return x

    def axis_of(self, x):
        axis = self.choose.randrange(len(x.shape))
        return axis, axis - self.choose.choice([0, len(x.shape)])

    # differences and sums along an axis

    def diff(self, dtype):
        x, n = self.array(dtype), self.choose.randint(0, 2)
        axis, given = self.axis_of(x)
        return [x], np.diff(x.value, n, axis), [n, given]

    def cumulative_sum(self, dtype):
        x = self.array(dtype)
        axis, given = self.axis_of(x)
        zero = np.zeros_like(np.take(x.value, [0], axis))
        return [x], np.concatenate([zero, np.cumsum(x.value, axis)], axis), [given]

    def unwrap(self, dtype):
        x, period = self.array(dtype, low=-30, high=30), self.choose.choice([3, 4, 7])
        axis, given = self.axis_of(x)
        return [x], np.unwrap(x.value, axis=axis, period=period), [given, period]

    def gradient(self, dtype):
        r = self.choose
        shape = [r.randint(3, 9) for _ in range(r.randint(1, 3))]
        x, order = self.whole(dtype, shape), r.randint(1, 2)
        axis, given = self.axis_of(x)
        return [x], np.gradient(x.value, axis=axis, edge_order=order), [given, order]

    def trapezoid(self, dtype):
        x = self.array(dtype)
        axis, given = self.axis_of(x)
        return [x], getattr(np, "trapezoid", getattr(np, "trapz", None))(x.value, axis=axis), [given]

    def ptp(self, dtype):
        x = self.array(dtype)
        axis, given = self.axis_of(x)
        return [x], np.ptp(x.value, axis), [given]

    def count_nonzero(self, dtype):
        x = self.array(dtype, low=-1, high=1)
        axis, given = self.axis_of(x)
        return [x], np.count_nonzero(x.value, axis).astype(np.int64), [given]

    # sequences and polynomials

    def convolve(self, dtype):
        x, y, mode = self.line(dtype), self.line(dtype), self.choose.randrange(3)
        return [x, y], np.convolve(x.value, y.value, MODES[mode]), [mode]

    def correlate(self, dtype):
        x, y, mode = self.line(dtype), self.line(dtype), self.choose.randrange(3)
        return [x, y], np.correlate(x.value, y.value, MODES[mode]), [mode]

    def polyval(self, dtype):
        p, x = self.line(dtype, 6, low=-3, high=3), self.array(dtype, 0)
        return [p, x], np.polyval(p.value, x.value), []

    def polyder(self, dtype):
        p, m = self.line(dtype, 8), self.choose.randint(0, 3)
        return [p], np.polyder(p.value, m), [m]

    # searching and sets

    def searchsorted(self, dtype):
        a, v, right = self.ordered(dtype), self.array(dtype), self.choose.randrange(2)
        return [a, v], np.searchsorted(a.value, v.value, "right" if right else "left").astype(np.int64), [right]

    def digitize(self, dtype):
        x, edges, right = self.array(dtype), self.ordered(dtype, 8, self.choose.random() < 0.5), self.choose.randrange(2)
        return [x, edges], np.digitize(x.value, edges.value, bool(right)).astype(np.int64), [right]

    def interp(self, dtype):
        x, xp = self.array(dtype, low=-15, high=15), self.ordered(dtype, 9)
        xp.view(xp.base)[...] += np.arange(xp.shape[0])  # no two alike
        fp = self.whole(dtype, xp.shape)
        return [x, xp, fp], np.interp(x.value, xp.value, fp.value), [], 9.0

    def unique(self, dtype):
        x = self.array(dtype, 0)
        return [x], np.unique(x.value), []

    def isin(self, dtype):
        x, y = self.array(dtype, 0), self.line(dtype, 8)
        return [x, y], np.isin(x.value, y.value), []

    def two_sets(self, function, dtype):
        x, y = self.array(dtype), self.line(dtype, 12)
        return [x, y], function(x.value, y.value), []

    def union1d(self, dtype):
        return self.two_sets(np.union1d, dtype)

    def intersect1d(self, dtype):
        return self.two_sets(np.intersect1d, dtype)

    def setdiff1d(self, dtype):
        return self.two_sets(np.setdiff1d, dtype)

    def setxor1d(self, dtype):
        return self.two_sets(np.setxor1d, dtype)

    def argwhere(self, dtype):
        x = self.array(dtype, low=-1, high=1)
        return [x], np.argwhere(x.value).astype(np.int64), []

    def lexsort(self, dtype):
        x = self.whole(dtype, [self.choose.randint(1, 3), self.choose.randint(1, 30)], low=-2, high=2)
        return [x], np.lexsort(x.value).astype(np.int64), []

    # counts and statistics

    def bincount(self, dtype):
        x, least = self.line(dtype, low=0), self.choose.randint(0, 14)
        return [x], np.bincount(x.value, minlength=least).astype(np.int64), [least]

    def bincount_weights(self, dtype):
        x = self.line(dtype, low=0)
        w = self.whole("float64", x.shape)
        return [x, w], np.bincount(x.value, w.value), []

    def range_of(self):
        low = self.choose.randint(-12, 5)
        return [low, low + self.choose.randint(0, 15)] if self.choose.random() < 0.6 else []

    def histogram(self, dtype):
        x, bins, limits = self.array(dtype), self.choose.randint(1, 12), self.range_of()
        return [x], np.histogram(x.value, bins, tuple(limits) or None)[0].astype(np.int64), [bins, *limits]

    def histogram_weights(self, dtype):
        x, bins, limits = self.array(dtype), self.choose.randint(1, 12), self.range_of()
        w = self.whole("float64", x.shape)
        return [x, w], np.histogram(x.value, bins, tuple(limits) or None, weights=w.value)[0], [bins, *limits]

    def histogram2d(self, dtype):
        x = self.line(dtype)
        y, bins = self.whole(dtype, x.shape), self.choose.randint(1, 6)
        return [x, y], np.histogram2d(x.value, y.value, bins)[0].astype(np.int64), [bins]

    def quantile(self, dtype):
        x = self.array(dtype)
        axis, given = self.axis_of(x)
        q, method = self.choose.randint(0, 100), self.choose.randrange(len(METHODS))
        return [x], np.quantile(x.value, q / 100, axis, method=METHODS[method]).astype("float64"), [given, q, method], 9.0

    def samples(self, dtype):
        shape = [self.choose.randint(2, 5), self.choose.randint(4, 30)]
        return self.operand(dtype, shape, values=lambda n: self.draw.normal(size=n), repeat=False)

    def cov(self, dtype):
        x = self.samples(dtype)
        return [x], np.cov(x.value), [], 4.0

    def corrcoef(self, dtype):
        x = self.samples(dtype)
        return [x], np.corrcoef(x.value), [], 4.0

    def average(self, dtype):
        x = self.array(dtype)
        axis, given = self.axis_of(x)
        w = self.whole(dtype, [x.shape[axis]], low=1)
        return [x, w], np.average(x.value, axis, w.value), [given], 9.0

    def nan(self, function, dtype, scale=0.0):
        x = self.operand(dtype, self.shape(least=1, most=3, large=False, zero=False),
                         values=lambda n: np.where(self.draw.random_sample(n) < 0.3, np.nan, self.draw.randint(-9, 10, n)))
        axis, given = self.axis_of(x)
        return [x], function(x.value, axis), [given], scale

    def nansum(self, dtype):
        return self.nan(np.nansum, dtype)

    def nanmax(self, dtype):
        return self.nan(np.nanmax, dtype)

    def nanmean(self, dtype):
        return self.nan(np.nanmean, dtype, 9.0)

    def nanvar(self, dtype):
        return self.nan(np.nanvar, dtype, 81.0)

    # combining at indices

    def scatter(self, function, dtype):
        r = self.choose
        x = self.whole(dtype, [r.randint(1, 9) for _ in range(r.randint(1, 3))], low=-2, high=2, repeat=False)
        axis, given = self.axis_of(x)
        n = x.shape[axis]
        index = self.operand("int64", [r.randint(1, 8)], values=lambda k: self.draw.randint(-n, n, k))
        v = self.whole(dtype, [*x.shape[:axis], *index.shape, *x.shape[axis + 1:]], low=-2, high=2)
        changed = x.base.copy()
        function.at(x.view(changed), (slice(None),) * axis + (index.value,), v.value)
        return [x, index, v], changed, [given]

    def scatter_add(self, dtype):
        return self.scatter(np.add, dtype)

    def scatter_mul(self, dtype):
        return self.scatter(np.multiply, dtype)

    def scatter_max(self, dtype):
        return self.scatter(np.maximum, dtype)

    def scatter_min(self, dtype):
        return self.scatter(np.minimum, dtype)

    def segment(self, function, first, dtype):
        x, n = self.array(dtype), self.choose.randint(1, 7)
        of = self.operand("int64", x.shape[:1], values=lambda k: self.draw.randint(0, n, k))
        r = np.full([n, *x.shape[1:]], first, dtype)
        function.at(r, of.value, x.value)
        return x, of, r, n

    def segment_sum(self, dtype):
        x, of, r, n = self.segment(np.add, 0, dtype)
        return [x, of], r, [n]

    def segment_mean(self, dtype):
        x, of, r, n = self.segment(np.add, 0, dtype)
        rows = np.maximum(np.bincount(of.value, minlength=n), 1)
        return [x, of], r / rows.reshape([n] + [1] * (r.ndim - 1)), [n]

    def segment_max(self, dtype):
        x, of, r, n = self.segment(np.maximum, -np.inf if dtype == "float64" else np.iinfo(dtype).min, dtype)
        return [x, of], r, [n]

    def segment_min(self, dtype):
        x, of, r, n = self.segment(np.minimum, np.inf if dtype == "float64" else np.iinfo(dtype).max, dtype)
        return [x, of], r, [n]

    # shapes and products

    def roll(self, dtype):
        x, shift = self.array(dtype), self.choose.randint(-20, 20)
        axis, given = self.axis_of(x)
        return [x], np.roll(x.value, shift, axis), [shift, given]

    def repeat(self, dtype):
        x, n = self.array(dtype), self.choose.randint(0, 4)
        axis, given = self.axis_of(x)
        return [x], np.repeat(x.value, n, axis), [n, given]

    def tile(self, dtype):
        x, reps = self.array(dtype), [self.choose.randint(0, 3) for _ in range(self.choose.randint(1, 3))]
        return [x], np.tile(x.value, reps), reps

    def pad(self, dtype):
        x, mode = self.array(dtype), self.choose.randrange(len(PADS))
        most = [n if PADS[mode] == "wrap" else 7 for n in x.shape]  # NumPy before 1.25 went wrong beyond
        widths = [[self.choose.randint(0, n), self.choose.randint(0, n)] for n in most]
        return [x], np.pad(x.value, widths, PADS[mode]), [mode, *sum(widths, [])]

    def rot90(self, dtype):
        x, k = self.array(dtype, 2), self.choose.randint(-5, 5)
        axes = self.choose.sample(range(len(x.shape)), 2)
        return [x], np.rot90(x.value, k, axes), [k, *axes]

    def of_diagonal(self, function, dtype):
        x, k = self.array(dtype, 2), self.choose.randint(-9, 9)
        return [x], function(x.value, k), [k]

    def tril(self, dtype):
        return self.of_diagonal(np.tril, dtype)

    def triu(self, dtype):
        return self.of_diagonal(np.triu, dtype)

    def trace(self, dtype):
        return self.of_diagonal(np.trace, dtype)

    def diagonal(self, dtype):
        return self.of_diagonal(np.diagonal, dtype)

    def kron(self, dtype):
        x, y = (self.whole(dtype, [self.choose.randint(1, 6) for _ in range(2)]) for _ in range(2))
        return [x, y], np.kron(x.value, y.value), []

    def outer(self, dtype):
        x, y = self.array(dtype), self.line(dtype, 12)
        return [x, y], np.outer(x.value, y.value), []

    def cross(self, dtype):
        lead = [self.choose.randint(1, 5) for _ in range(self.choose.randint(0, 2))]
        x, y = (self.whole(dtype, [*lead, 3]) for _ in range(2))
        return [x, y], np.cross(x.value, y.value), []

    def tensordot(self, dtype):
        r = self.choose
        shared = [r.randint(1, 5) for _ in range(r.randint(1, 2))]
        x = self.whole(dtype, [*(r.randint(1, 5) for _ in range(r.randint(0, 2))), *shared])
        y = self.whole(dtype, [*shared, *(r.randint(1, 5) for _ in range(r.randint(0, 2)))])
        return [x, y], np.tensordot(x.value, y.value, len(shared)), [len(shared)]

    # bits, parts of numbers, windows

    def packbits(self, dtype):
        x, little = self.array(dtype, low=0, high=1), self.choose.randrange(2)
        axis, given = self.axis_of(x)
        return [x], np.packbits(x.value, axis, "little" if little else "big"), [given, little]

    def unpackbits(self, dtype):
        x, little = self.array(dtype, low=0, high=255), self.choose.randrange(2)
        axis, given = self.axis_of(x)
        count = self.choose.randint(-7, 30)
        return [x], np.unpackbits(x.value, axis, count, "little" if little else "big"), [given, little, count]

    def mantissa(self, dtype):
        x = self.operand(dtype, self.shape(), specials=0.3)
        return [x], np.frexp(x.value)[0], []

    def exponent(self, dtype):
        x = self.operand(dtype, self.shape(), specials=0.3)
        return [x], np.where(np.isfinite(x.value), np.frexp(x.value)[1], 0).astype(np.int32), []

    def ldexp(self, dtype):
        x = self.operand(dtype, self.shape(), specials=0.3)
        n = self.operand("int64", x.shape, values=lambda k: self.draw.randint(-1200, 1200, k))
        return [x, n], np.ldexp(x.value, n.value), []

    def linspace(self, _):
        low, high, n = self.choose.randint(-50, 50), self.choose.randint(-50, 50), self.choose.randint(0, 90)
        return [], np.linspace(low / 7, high / 7, n), [low, high, n]

    def arange(self, _):
        low, step = self.choose.randint(-50, 50), self.choose.choice([-3, -1, 1, 2, 5])
        high = low + step * self.choose.randint(0, 60)
        return [], np.arange(low / 7, (high - step / 2) / 7, step / 7), [low, high, step]

    def kaiser(self, _):
        n, beta = self.choose.randint(0, 40), self.choose.randint(0, 14)
        return [], np.kaiser(n, beta), [n, beta], 1.0

    def hanning(self, _):
        n = self.choose.randint(0, 40)
        return [], np.hanning(n), [n], 1.0

    def blackman(self, _):
        n = self.choose.randint(0, 40)
        return [], np.blackman(n), [n], 1.0
