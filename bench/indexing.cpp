// Moving data: transposed and strided copies, rows taken and put by index, masks, positions of what is not 0.
// SPDX-License-Identifier: MIT
#include <cudarray/indexing.hpp>
#include <cudarray/random.hpp>
#include <cudarray/scatter.hpp>

#include "bench.hpp"

using namespace bench;

/// Axes in another order: what follows the first extent, which is as long as the elements suffice for, and the order.
struct order {
  ca::shape rest;
  std::vector<int> axes;
};
const order orders[] = {{{64, 56, 56}, {0, 2, 3, 1}},
                        {{224, 224, 3}, {0, 3, 1, 2}},
                        {{512, 8, 64}, {0, 2, 1, 3}},
                        {{16, 16}, {0, 2, 1}},
                        {{33, 33}, {0, 2, 1}},
                        {{12}, {1, 0}},
                        {{32, 16, 16, 16}, {4, 2, 0, 3, 1}}};

template <class T>
void orders_of(suite& s, const std::string& name) {
  const int64 elements = many * 4 / int64(sizeof(T));
  for (const order& o : orders) {
    std::string text = name + std::to_string(elements / o.rest.elements());
    ca::shape extents{elements / o.rest.elements()};
    for (const int64 n : o.rest) extents.push_back(n), text += "x" + std::to_string(n);
    text += " to ";
    for (const int d : o.axes) text += std::to_string(d);
    s.row("T3_order", text, {.bytes = 2. * double(extents.elements()) * sizeof(T)}, [=] {
      const ca::ndarray<T> a = ca::astype<T>(ca::random::integers(extents, 0, 100));
      const auto turned = ca::transpose(a, ca::axes(o.axes.data(), int(o.axes.size())));
      const ca::ndarray<T> d = ca::zeros<T>(turned.shape());
      return [=] { d(ca::_) = turned; };
    });
  }
}

int main(int argc, char** argv) {
  suite s(argc, argv);
  const double n = double(many), elements = double(side) * double(side);
  s.row("T1_transpose_copy", dims(side, side), {.bytes = 8 * elements}, [] {
    const array a = normal({side, side}), d = ca::empty({side, side});
    return [=] { d(ca::_) = a.t(); };
  });
  s.row("T1_transpose_copy", dims(side - 1, side + 1), {.bytes = 8 * (elements - 1)}, [] {
    const array a = normal({side - 1, side + 1}), d = ca::empty({side + 1, side - 1});
    return [=] { d(ca::_) = a.t(); };
  });
  s.row("T1_slice_copy", "a[::2, ::-1] " + dims(side, side), {.bytes = 4 * elements}, [] {
    const array a = normal({side, side}), d = ca::empty({side / 2, side});
    return [=] { d(ca::_) = a(ca::slice(ca::none, ca::none, 2), ca::slice(ca::none, ca::none, -1)); };
  });
  constexpr int64 rows = tall, width = 128;
  const double moved = double(rows) * width * 4;
  s.row("T1_take_rows", gpu ? "1M of 2Mx128" : "64K of 128Kx128", {.bytes = 2 * moved + 4. * double(rows)}, [] {
    const array a = normal({2 * rows, width}), d = ca::empty({rows, width});
    const ca::ndarray<ca::int32> i = ca::astype<ca::int32>(ca::random::integers(rows, 0, 2 * rows));
    return [=] { d(ca::_) = ca::take(a, i, 0); };
  });
  s.row("T1_put_rows", gpu ? "1M into 2Mx128" : "64K into 128Kx128", {.bytes = 2 * moved + 8. * double(rows)}, [] {
    const array a = normal({2 * rows, width}), v = normal({rows, width});
    const auto i = ca::random::permutation(2 * rows)(ca::slice(rows)).copy();  // no row twice
    return [=] { a(i) = v; };
  });
  s.row("T1_scatter_add", gpu ? "1M into 2Mx128" : "64K into 128Kx128", {.bytes = 3 * moved + 8. * double(rows)}, [] {
    const array a = normal({2 * rows, width}), v = normal({rows, width});
    const auto i = ca::random::integers(rows, 0, 2 * rows);
    return [=] { ca::scatter_add(a, i, v); };
  });
  s.row("T1_scatter_add", "few places", {.bytes = 2 * moved}, [] {
    const array a = normal({16, width}), v = normal({rows, width});
    const auto i = ca::random::integers(rows, 0, 16);
    return [=] { ca::scatter_add(a, i, v); };
  });
  s.row("T1_compact", count(many), {.bytes = 7 * n}, [] {
    const array a = normal(many);
    const ca::ndarray<bool> m = normal(many) > 0;
    return [=, r = array()]() mutable { r = array(a(m)); };
  });
  s.row("T2_nonzero", count(many), {.bytes = 5 * n}, [] {
    const ca::ndarray<bool> m = normal(many) > 0;
    return [=, r = ca::ndarray<int64>()]() mutable { r = ca::flatnonzero(m); };
  });
  s.row("T2_mask_fill", count(many), {.bytes = 9 * n}, [] {
    const array a = normal(many);
    const ca::ndarray<bool> m = normal(many) > 0;
    return [=] { a(m) = 0.5f; };
  });
  orders_of<float>(s, "");
  orders_of<double>(s, "fp64 ");
  orders_of<ca::float16>(s, "fp16 ");
  orders_of<ca::uint8>(s, "uint8 ");
  return s.run();
}
