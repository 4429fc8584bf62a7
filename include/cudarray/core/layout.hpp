// Layouts, and the pure functions from layout to layout that make views.
// SPDX-License-Identifier: MIT
#pragma once

#include "shape.hpp"
#include "slice.hpp"

namespace cudarray::inline v0 {

/// Where the elements of an array lie: extents, and strides and offset in elements.
struct layout {
  shape dims;
  int64 stride[max_rank] = {};
  int64 offset = 0;
  bool read_only = false;  ///< not to be written through this layout, nor through views of it

  constexpr int ndim() const { return dims.ndim(); }
  constexpr int64 elements() const { return dims.elements(); }
  friend constexpr bool operator==(const layout& a, const layout& b) {
    if (a.dims != b.dims || a.offset != b.offset) return false;
    for (int i = 0; i < a.ndim(); ++i)
      if (a.stride[i] != b.stride[i] && a.dims[i] > 1) return false;
    return true;
  }
  friend constexpr bool operator!=(const layout& a, const layout& b) { return !(a == b); }
};

namespace detail::inline CUDARRAY_BUILD {

/// C order, from offset 0.
constexpr layout c_layout(const shape& s) {
  layout l{s, {}, 0};
  int64 step = 1;
  for (int i = s.ndim() - 1; i >= 0; --i) {
    l.stride[i] = step;
    step *= s[i] > 0 ? s[i] : 1;
  }
  return l;
}

/// New memory from offset 0 on, whose axes lie in it as `order` names them, the outermost first.
constexpr layout ordered_layout(const shape& s, const int* order) {
  layout l{s, {}, 0};
  int64 step = 1;
  for (int i = s.ndim() - 1; i >= 0; --i) {
    l.stride[order[i]] = step;
    step *= s[order[i]] > 0 ? s[order[i]] : 1;
  }
  return l;
}

/// True if the elements lie in C order without gaps; extents of 1 and empty arrays do not matter.
constexpr bool is_c_contiguous(const layout& l) {
  if (l.elements() == 0) return true;
  int64 step = 1;
  for (int i = l.ndim() - 1; i >= 0; --i) {
    if (l.dims[i] != 1 && l.stride[i] != step) return false;
    step *= l.dims[i];
  }
  return true;
}

/// True if the elements fill their memory, in any order of the axes.
constexpr bool is_dense(const layout& l) {
  if (is_c_contiguous(l)) return true;
  int64 step = 1;
  for (int round = 0; round < l.ndim(); ++round)  // the axis that goes on where the last one ended
    for (int i = 0; i < l.ndim(); ++i)
      if (l.dims[i] > 1 && l.stride[i] == step) {
        step *= l.dims[i];
        break;
      }
  return step == l.elements();
}

/// True if two indices reach the same element, as along a broadcast axis.
constexpr bool repeats_elements(const layout& l) {
  for (int i = 0; i < l.ndim(); ++i)
    if (l.dims[i] > 1 && l.stride[i] == 0) return true;
  return false;
}

/// The range of offsets a layout reaches, `last` included; `last < first` if it is empty.
struct extent {
  int64 first = 0, last = -1;
};
constexpr extent span_of(const layout& l) {
  if (l.elements() == 0) return {};
  extent e{l.offset, l.offset};
  for (int i = 0; i < l.ndim(); ++i) {
    const int64 reach = (l.dims[i] - 1) * l.stride[i];
    (reach < 0 ? e.first : e.last) += reach;
  }
  return e;
}

/// Whether k[i] in [low[i], high[i]] exist, of axes from `axis` on, whose strides times k add up to `sum`; true as well
/// where that is not found out soon.
constexpr bool adds_up(int64 sum, const int64* stride, const int64* low, const int64* high, int axis, int count) {
  if (axis == count) return sum == 0;
  int64 least = 0, most = 0;  // what the axes behind can add
  for (int i = axis + 1; i < count; ++i) {
    least += stride[i] * low[i];
    most += stride[i] * high[i];
  }
  const int64 s = stride[axis];
  int64 first = (sum - most) / s, last = (sum - least) / s;
  if (first * s < sum - most) ++first;
  if (last * s > sum - least) --last;
  if (first < low[axis]) first = low[axis];
  if (last > high[axis]) last = high[axis];
  if (last - first > 1) return true;
  for (int64 k = first; k <= last; ++k)
    if (adds_up(sum - k * s, stride, low, high, axis + 1, count)) return true;
  return false;
}
/// Whether two arrays in one memory may share elements: where they do, and in cases that are rare. Rows, columns and
/// blocks beside each other do not.
constexpr bool may_share(const layout& x, const layout& y) {
  const extent p = span_of(x), q = span_of(y);
  if (x.elements() == 0 || y.elements() == 0 || p.first > q.last || q.first > p.last) return false;
  constexpr int most = 2 * max_rank;
  int64 stride[most] = {}, low[most] = {}, high[most] = {};
  int count = 0;
  const auto add = [&](const layout& l, bool is_x) {
    for (int d = 0; d < l.ndim(); ++d) {
      const int64 step = l.stride[d] < 0 ? -l.stride[d] : l.stride[d];
      if (l.dims[d] == 1 || step == 0) continue;
      int at = 0;  // the longest strides first, each once
      while (at < count && stride[at] > step) ++at;
      if (at == count || stride[at] != step) {
        for (int i = count++; i > at; --i) stride[i] = stride[i - 1], low[i] = low[i - 1], high[i] = high[i - 1];
        stride[at] = step;
        low[at] = high[at] = 0;
      }
      if (is_x) high[at] += l.dims[d] - 1;
      else low[at] -= l.dims[d] - 1;
    }
  };
  add(x, true);
  add(y, false);
  return adds_up(q.first - p.first, stride, low, high, 0, count);
}

/// The shape of a value that is written to `ndim` axes: NumPy drops leading axes of extent 1 where it has more.
constexpr shape without_leading_axes(const shape& s, int ndim) {
  int from = 0;
  while (s.ndim() - from > ndim && s[from] == 1) ++from;
  return {s.begin() + from, s.ndim() - from};
}
/// The same, as a layout that has as many axes as the value.
constexpr layout with_leading_axes(const layout& l, const shape& value) {
  const int more = value.ndim() - l.ndim();
  for (int d = 0; d < more; ++d)
    if (value[d] != 1) return l;
  if (more <= 0) return l;
  layout r = l;
  r.dims = shape();
  for (int d = 0; d < value.ndim(); ++d) {
    r.dims.push_back(d < more ? 1 : l.dims[d - more]);
    r.stride[d] = d < more ? 0 : l.stride[d - more];
  }
  return r;
}

/// Applies an index. Integers and slices take axes from the front, `...` fills up; throws index_error and value_error.
inline layout index_layout(const layout& l, const index_item* items, int n) {
  using what = index_item::what;
  int used = 0, dots = 0;
  for (int i = 0; i < n; ++i) {
    used += items[i].is == what::integer || items[i].is == what::slice_;
    dots += items[i].is == what::ellipsis_;
  }
  if (dots > 1) fail<index_error>("index: more than one ellipsis");
  if (used > l.ndim())
    fail<index_error>("index: ", used, " indices for an array of ", l.ndim(), " axes, shape ", l.dims);
  layout r;
  r.offset = l.offset;
  r.read_only = l.read_only;
  int axis = 0;
  const auto keep = [&](int64 extent, int64 stride) {
    r.stride[r.ndim() < max_rank ? r.ndim() : 0] = stride;
    r.dims.push_back(extent);
  };
  for (int i = 0; i < n; ++i) {
    const index_item& it = items[i];
    if (it.is == what::newaxis_) {
      keep(1, 0);
    } else if (it.is == what::ellipsis_) {
      for (int k = l.ndim() - used; k > 0; --k, ++axis) keep(l.dims[axis], l.stride[axis]);
    } else if (it.is == what::integer) {
      const int64 d = l.dims[axis];
      if (it.integer < -d || it.integer >= d)
        fail<index_error>("index: ", it.integer, " is out of bounds for axis ", axis, " with size ", d);
      r.offset += (it.integer < 0 ? it.integer + d : it.integer) * l.stride[axis++];
    } else {
      const int64 d = l.dims[axis], step = it.step.given ? it.step.value : 1;
      if (step == 0) fail<value_error>("slice: the step is 0");
      const int64 low = step > 0 ? 0 : -1, high = step > 0 ? d : d - 1;  // as Python's slice.indices
      const auto clip = [&](slice_bound b, int64 absent) {
        if (!b.given) return absent;
        const int64 v = b.value < 0 ? b.value + d : b.value;
        return v < low ? low : v > high ? high : v;
      };
      const int64 start = clip(it.start, step > 0 ? low : high), stop = clip(it.stop, step > 0 ? high : low);
      int64 count = 0;
      if (step > 0 && start < stop) count = step == 1 ? stop - start : 1 + (stop - start - 1) / step;
      if (step < 0 && start > stop) count = step == INT64_MIN ? 1 : 1 + (start - stop - 1) / -step;
      if (count > 0) r.offset += start * l.stride[axis];
      keep(count, count > 1 ? l.stride[axis] * step : l.stride[axis]);
      ++axis;
    }
  }
  for (; axis < l.ndim(); ++axis) keep(l.dims[axis], l.stride[axis]);
  return r;
}

/// Axis i of the result is axis perm[i] of the operand.
inline layout permute_layout(const layout& l, const int* perm) {
  layout r = l;
  for (int i = 0; i < l.ndim(); ++i) {
    r.dims[i] = l.dims[perm[i]];
    r.stride[i] = l.stride[perm[i]];
  }
  return r;
}

/// Views `l` in a shape it broadcasts to, read-only: repeated axes get stride 0. Throws shape_error.
inline layout broadcast_layout(const char* function, const layout& l, const shape& to) {
  const int lead = check_extents(function, to).ndim() - l.ndim();
  bool fits = lead >= 0;
  layout r{to, {}, l.offset, true};
  for (int i = 0; fits && i < l.ndim(); ++i) {
    fits = l.dims[i] == to[i + lead] || l.dims[i] == 1;
    r.stride[i + lead] = l.dims[i] == 1 ? 0 : l.stride[i];
  }
  if (!fits) fail<shape_error>(function, ": shape ", l.dims, " does not broadcast to ", to);
  return r;
}

/// Fills in the one -1 of a requested shape. Throws shape_error where the element counts differ.
inline shape resolve_reshape(const shape& from, const shape& request) {
  shape r = request;
  int64 known = 1;
  int unknown = -1;
  bool fits = true;
  for (int i = 0; i < r.ndim(); ++i) {
    if (r[i] == -1 && unknown < 0) unknown = i;
    else fits = fits && r[i] >= 0 && !__builtin_mul_overflow(known, r[i], &known);
  }
  const int64 n = from.elements();
  if (unknown >= 0) {
    fits = fits && known != 0 && n % known == 0;
    if (fits) r[unknown] = n / known;
  } else {
    fits = fits && known == n;
  }
  if (!fits) fail<shape_error>("reshape: cannot reshape ", from, " (", n, " elements) to ", request);
  return check_extents("reshape", r);
}

/// Views `l` in another shape of as many elements, C order kept. False where no strides can say it.
inline bool reshape_layout(const layout& l, const shape& to, layout& r) {
  r = c_layout(to);
  r.offset = l.offset;
  r.read_only = l.read_only;
  if (l.elements() == 0) return true;
  int i = 0, j = 0;
  while (i < l.ndim() || j < to.ndim()) {
    // the shortest groups of axes [i, i2) and [j, j2) with equal element counts
    int i2 = i, j2 = j;
    int64 a = 1, b = 1;
    if (i2 < l.ndim()) a *= l.dims[i2++];
    if (j2 < to.ndim()) b *= to[j2++];
    while (a != b) {
      if (a < b) a *= l.dims[i2++];
      else b *= to[j2++];
    }
    int64 s = 0, step = 0;  // the operand's group must be one run of stride s
    bool first = true;
    for (int k = i2 - 1; k >= i; --k) {
      if (l.dims[k] == 1) continue;
      if (first) s = step = l.stride[k];
      else if (l.stride[k] != step) return false;
      first = false;
      step *= l.dims[k];
    }
    for (int k = j2 - 1; k >= j; --k) {
      r.stride[k] = s;
      s *= to[k];
    }
    i = i2, j = j2;
  }
  return true;
}

}  // namespace detail
}  // namespace cudarray::inline v0
