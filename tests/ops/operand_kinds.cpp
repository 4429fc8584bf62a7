// The table of operands: values and copies, shapes, joining, indexing, picking, writing, printing, files, members.
// SPDX-License-Identifier: MIT
#include "operand_kinds.hpp"

#include "temporary_file.hpp"

namespace {

using ca::_;
using test::exactly;

using array = ca::ndarray<float>;
using integers = ca::ndarray<ca::int64>;
using truths = ca::ndarray<bool>;

const auto matrix = [] { return array(ca::array<float>({{3, 0, 2, 7}, {1, 5, 6, 4}, {8, 9, -1, 0}})); };
const auto other = [] { return array(ca::array<float>({{0, 1, 5, 2}, {9, 3, 3, 1}, {2, 7, 4, 6}})); };
const auto cube = [] { return array(ca::reshape(ca::astype<float>(ca::arange(24)), {2, 3, 4})); };
const auto line = [] { return array(ca::array<float>({0, 4, 1, 3, 0})); };
const auto row = [] { return array(ca::array<float>({4, 1, 3, 2})); };
const auto mask = [] {
  return truths(ca::array<bool>({{true, false, false, true}, {false, true, false, true}, {true, true, false, false}}));
};
const auto indices = [] { return integers(ca::array<ca::int64>({2, 0, -1})); };
const auto places = [] { return integers(ca::array<ca::int64>({{1, 0}, {3, 2}, {-1, 1}})); };
const auto counted = [] { return integers(ca::reshape(ca::arange(12), {3, 4})); };

/// What f leaves in an array of zeros.
template <class F>
array written(const F& f) {
  const array a = ca::zeros({3, 4});
  f(a);
  return a;
}

}  // namespace

TEST_CASE("operand kinds: values and copies") {
  const array x = matrix(), one = ca::full<float>(ca::shape{}, 2.5);
  exactly(
      "eval", [](const auto& a) { return ca::eval(a); }, x);
  exactly(
      "copy", [](const auto& a) { return ca::copy(a); }, x);
  exactly(
      "ascontiguousarray", [](const auto& a) { return ca::ascontiguousarray(a); }, x);
  exactly(
      "to", [](const auto& a) { return ca::to<ca::cpu>(a); }, x);
  exactly(
      "item", [](const auto& a) { return ca::item(a); }, one);
  exactly(
      "empty_like", [](const auto& a) { return ca::empty_like(a).shape(); }, x);
  exactly(
      "zeros_like", [](const auto& a) { return ca::zeros_like(a); }, x);
  exactly(
      "ones_like", [](const auto& a) { return ca::ones_like<int>(a); }, x);
  exactly(
      "full_like", [](const auto& a) { return ca::full_like(a, 3); }, x);
  exactly(
      "vander", [](const auto& a) { return ca::vander(a, 3); }, array(row()));
  exactly(
      "to_string", [](const auto& a) { return ca::to_string(a); }, x);
  exactly(
      "save",
      [](const auto& a) {
        const test::temporary_file file;
        ca::save(file.path(), a);
        return file.bytes();
      },
      x);
  exactly(
      "to_dlpack", [](const auto& a) { return ca::from_dlpack<float>(ca::to_dlpack(a)); }, x);
  exactly(
      "savez",
      [](const auto& a) {
        const test::temporary_file file;
        ca::savez(file.path(), "a", a, "b", a);
        return file.bytes();
      },
      x);
#if defined(CUDARRAY_HAS_ZLIB)
  exactly(
      "savez_compressed",
      [](const auto& a) {
        const test::temporary_file file;
        ca::savez_compressed(file.path(), "a", a);
        return file.bytes();
      },
      x);
#endif
  exactly(
      "save_safetensors",
      [](const auto& a) {
        const test::temporary_file file;
        ca::save_safetensors(file.path(), "a", a);
        return file.bytes();
      },
      x);
  exactly(
      "savetxt",
      [](const auto& a) {
        const test::temporary_file file;
        ca::savetxt(file.path(), a);
        return file.bytes();
      },
      x);
}
TEST_CASE("operand kinds: members") {
  const array x = matrix(), one = ca::full<float>({1, 1}, 2.5);
  exactly(
      "item()", [](const auto& a) { return a.item(); }, one);
  exactly(
      "shape()", [](const auto& a) { return std::tuple(a.shape(), a.shape(0), a.shape(-1), a.ndim(), a.size()); }, x);
  exactly(
      "t()", [](const auto& a) { return a.t(); }, x);
  exactly(
      "copy()", [](const auto& a) { return a.copy(); }, x);
  exactly(
      "eval()", [](const auto& a) { return a.eval(); }, x);
  exactly(
      "an array of it", [](const auto& a) { return ca::ndarray<double>(a); }, x);
  exactly(
      "rebound",
      [](const auto& a) {
        array b = ca::zeros({2});
        b = a;
        return b;
      },
      x);
}
TEST_CASE("operand kinds: indexing") {
  const array x = matrix();
  exactly(
      "basic indices",
      [](const auto& a) {
        return std::tuple(a(1), a(_, 2), a(ca::slice(1, ca::none), ca::newaxis, ca::slice(0, 4, 2)),
                          a(ca::ellipsis, -1));
      },
      x);
  exactly(
      "an index", [](const auto& a, const auto& i) { return std::tuple(ca::eval(a(i)), ca::eval(a(_, i))); }, x,
      integers(indices()));
  exactly(
      "two indices", [](const auto& a, const auto& i, const auto& j) { return ca::eval(a(i, j)); }, x,
      integers(indices()), integers(ca::arange(3)));
  exactly(
      "a mask", [](const auto& a, const auto& m) { return ca::eval(a(m)); }, x, truths(mask()));
  exactly(
      "a mask of rows", [](const auto& a, const auto& m) { return std::tuple(ca::eval(a(m)), ca::eval(a(m, 1))); }, x,
      truths(ca::array<bool>({true, false, true})));
  exactly(
      "take", [](const auto& a, const auto& i) { return ca::take(a, i, 1); }, x, integers(places()));
  exactly(
      "take_along_axis", [](const auto& a, const auto& i) { return ca::take_along_axis(a, i, 1); }, x,
      integers(places()));
  exactly(
      "flatnonzero", [](const auto& a) { return ca::flatnonzero(a); }, x);
  exactly(
      "nonzero", [](const auto& a) { return ca::nonzero(a); }, x);
  exactly(
      "nonzero", [](const auto& a) { return ca::nonzero(a); }, truths(mask()));
  exactly(
      "argwhere", [](const auto& a) { return ca::argwhere(a); }, x);
}
TEST_CASE("operand kinds: picking") {
  const array x = matrix(), y = other();
  const truths m = mask();
  exactly(
      "compress", [](const auto& c, const auto& a) { return ca::compress(c, a, 1); },
      truths(ca::array<bool>({true, false, true, true})), x);
  exactly(
      "extract", [](const auto& c, const auto& a) { return ca::extract(c, a); }, m, x);
  exactly(
      "select",
      [](const auto& c, const auto& d, const auto& a, const auto& b, const auto& otherwise) {
        return ca::select(std::tie(c, d), std::tie(a, b), otherwise);
      },
      m, truths(!m(_, ca::slice(ca::none, ca::none, -1))), x, integers(counted()), y);
  exactly(
      "choose", [](const auto& i, const auto& a, const auto& b) { return ca::choose(i, std::tie(a, b)); },
      integers(ca::array<ca::int64>({0, 1, 1, 0})), x, integers(counted()));
  exactly(
      "ix_", [](const auto& i, const auto& j) { return ca::ix_(i, j); }, integers(ca::arange(4)),
      integers(ca::arange(3)));
  exactly(
      "unravel_index",
      [](const auto& i) {
        return ca::unravel_index(i, {3, 4});
      },
      integers(counted()));
  exactly(
      "ravel_multi_index",
      [](const auto& i, const auto& j) {
        return ca::ravel_multi_index(std::tie(i, j), {4, 4});
      },
      integers(ca::array<ca::int64>({0, 3, 1})), ca::ndarray<int>(ca::array<int>({3, 0, 2})));
}
TEST_CASE("operand kinds: what is written into arrays") {
  const array x = matrix();
  const integers i = indices();
  exactly(
      "copyto", [](const auto& v) { return written([&](const array& a) { ca::copyto(a, v); }); }, x);
  exactly(
      "fill_diagonal", [](const auto& v) { return written([&](const array& a) { ca::fill_diagonal(a, v); }); },
      array(ca::array<float>({1, 2, 3})));
  exactly(
      "place", [](const auto& m, const auto& v) { return written([&](const array& a) { ca::place(a, m, v); }); },
      truths(mask()), array(row()));
  exactly(
      "put", [](const auto& p, const auto& v) { return written([&](const array& a) { ca::put(a, p, v); }); }, i,
      array(ca::array<float>({1, 2, 3})));
  exactly(
      "put_along_axis",
      [](const auto& p, const auto& v) { return written([&](const array& a) { ca::put_along_axis(a, p, v, 1); }); },
      integers(places()), array(ca::array<float>({{1}, {2}, {3}})));
  exactly(
      "scatter_add",
      [](const auto& p, const auto& v) { return written([&](const array& a) { ca::scatter_add(a, p, v); }); }, i, x);
  exactly(
      "scatter_mul",
      [](const auto& p, const auto& v) { return written([&](const array& a) { ca::scatter_mul(a, p, v); }); }, i, x);
  exactly(
      "scatter_max",
      [](const auto& p, const auto& v) { return written([&](const array& a) { ca::scatter_max(a, p, v); }); }, i, x);
  exactly(
      "scatter_min",
      [](const auto& p, const auto& v) { return written([&](const array& a) { ca::scatter_min(a, p, v); }); }, i, x);
  exactly(
      "assignment", [](const auto& v) { return written([&](const array& a) { a(ca::ellipsis) = v; }); }, x);
  exactly(
      "assignment by an index",
      [](const auto& p, const auto& v) {
        return written([&](const array& a) {
          a(p(ca::slice(2))) = v;
          a(_, p) *= 2;
        });
      },
      i, array(row()));
  exactly(
      "assignment by a mask",
      [](const auto& m, const auto& v) {
        return written([&](const array& a) {
          a(m) = v;
          a(m) += v;
          a(!m) = 1;
        });
      },
      truths(mask()), array(ca::array<float>({1, 2, 3, 4, 5, 6})));
}
TEST_CASE("operand kinds: shapes") {
  const array x = matrix(), c = cube();
  exactly(
      "reshape",
      [](const auto& a) {
        return ca::reshape(a, {2, -1});
      },
      x);
  exactly(
      "ravel", [](const auto& a) { return ca::ravel(a); }, x);
  exactly(
      "permute_dims",
      [](const auto& a) {
        return ca::permute_dims(a, {1, 2, 0});
      },
      c);
  exactly(
      "asarray", [](const auto& a) { return ca::asarray(a); }, c);
  exactly(
      "transpose",
      [](const auto& a) {
        return std::tuple(ca::transpose(a), ca::transpose(a, {1, 2, 0}));
      },
      c);
  exactly(
      "swapaxes", [](const auto& a) { return ca::swapaxes(a, 0, 2); }, c);
  exactly(
      "expand_dims", [](const auto& a) { return ca::expand_dims(a, 1); }, x);
  exactly(
      "squeeze", [](const auto& a) { return ca::squeeze(a); }, array(x(ca::slice(1))));
  exactly(
      "broadcast_to",
      [](const auto& a) {
        return ca::broadcast_to(a, {2, 3, 4});
      },
      x);
  exactly(
      "flip", [](const auto& a) { return std::tuple(ca::flip(a), ca::flip(a, 1)); }, x);
  exactly(
      "flipud", [](const auto& a) { return ca::flipud(a); }, x);
  exactly(
      "fliplr", [](const auto& a) { return ca::fliplr(a); }, x);
  exactly(
      "pad",
      [](const auto& a) {
        return std::tuple(ca::pad(a, 1), ca::pad(a, {{1, 0}, {2, 1}}, {.mode = ca::pad_mode::wrap}));
      },
      x);
  exactly(
      "rearrange",
      [](const auto& a) {
        return ca::rearrange("b (h d) -> b h d", a, {{"h", 2}});
      },
      x);
  exactly(
      "rearrange", [](const auto& a) { return ca::rearrange<"b h d -> d (b h)">(a); }, c);
  exactly(
      "moveaxis", [](const auto& a) { return ca::moveaxis(a, 0, -1); }, c);
  exactly(
      "matrix_transpose", [](const auto& a) { return ca::matrix_transpose(a); }, c);
  exactly(
      "rot90", [](const auto& a) { return std::tuple(ca::rot90(a), ca::rot90(a, 2)); }, x);
  exactly(
      "atleast_1d", [](const auto& a) { return ca::atleast_1d(a); }, array(ca::full<float>(ca::shape{}, 2)));
  exactly(
      "atleast_2d", [](const auto& a) { return ca::atleast_2d(a); }, array(row()));
  exactly(
      "atleast_3d", [](const auto& a) { return ca::atleast_3d(a); }, x);
  exactly(
      "broadcast_arrays", [](const auto& a, const auto& b) { return ca::broadcast_arrays(a, b); }, x,
      integers(ca::arange(4)));
  exactly(
      "meshgrid",
      [](const auto& a, const auto& b) {
        return std::tuple_cat(ca::meshgrid(a, b), ca::meshgrid(ca::indexing::ij, a, b));
      },
      array(row()), integers(indices()));
  exactly(
      "split",
      [](const auto& a) {
        return std::tuple(ca::split(a, {1, 3}, 1), ca::split(a, 2, 1));
      },
      x);
  exactly(
      "array_split", [](const auto& a) { return ca::array_split(a, 2); }, x);
  exactly(
      "hsplit", [](const auto& a) { return std::tuple(ca::hsplit(a, 2), ca::hsplit(a, {1})); }, x);
  exactly(
      "vsplit", [](const auto& a) { return ca::vsplit(a, 3); }, x);
  exactly(
      "dsplit", [](const auto& a) { return ca::dsplit(a, 2); }, c);
  exactly(
      "unstack", [](const auto& a) { return ca::unstack(a, 1); }, x);
  exactly(
      "diagonal", [](const auto& a) { return ca::diagonal(a, 1); }, x);
  exactly(
      "trace", [](const auto& a) { return ca::trace(a, 1); }, x);
  exactly(
      "diag", [](const auto& a) { return ca::diag(a); }, x);
  exactly(
      "diag", [](const auto& a) { return ca::diag(a, -1); }, array(row()));
  exactly(
      "diagflat", [](const auto& a) { return ca::diagflat(a); }, x);
  exactly(
      "tril", [](const auto& a) { return ca::tril(a); }, x);
  exactly(
      "triu", [](const auto& a) { return ca::triu(a, 1); }, x);
}
TEST_CASE("operand kinds: repeating, rolling, inserting, leaving out") {
  const array x = matrix();
  exactly(
      "repeat",
      [](const auto& a) {
        return std::tuple(ca::repeat(a, 2), ca::repeat(a, 2, 1), ca::repeat(a, {1, 0, 2}, 0));
      },
      x);
  exactly(
      "repeat", [](const auto& a, const auto& n) { return ca::repeat(a, n, 1); }, x,
      integers(ca::array<ca::int64>({2, 0, 1, 1})));
  exactly(
      "repeat", [](const auto& a, const auto& n) { return ca::repeat(a, n); }, array(row()),
      integers(ca::array<ca::int64>({2, 0, 1, 1})));
  exactly(
      "tile",
      [](const auto& a) {
        return ca::tile(a, {2, 3});
      },
      x);
  exactly(
      "resize",
      [](const auto& a) {
        return std::tuple(ca::resize(a, {2, 2}), ca::resize(a, {5, 5}));
      },
      x);
  exactly(
      "roll",
      [](const auto& a) {
        return std::tuple(ca::roll(a, 2), ca::roll(a, 1, 1), ca::roll(a, {1, -1}, {0, 1}));
      },
      x);
  exactly(
      "insert", [](const auto& a, const auto& v) { return ca::insert(a, 1, v, 0); }, x, array(row()));
  exactly(
      "insert",
      [](const auto& a, const auto& v) {
        return ca::insert(a, {0, 2}, v, 0);
      },
      x, integers(ca::arange(4)));
  exactly(
      "delete_",
      [](const auto& a) {
        return std::tuple(ca::delete_(a, 1, 0), ca::delete_(a, {0, 2}, 1), ca::delete_(a, ca::slice(1, 3), 1));
      },
      x);
  exactly(
      "trim_zeros", [](const auto& a) { return ca::trim_zeros(a); }, array(line()));
  exactly(
      "append", [](const auto& a, const auto& b) { return std::tuple(ca::append(a, b), ca::append(a, b, 1)); }, x,
      integers(counted()));
}
TEST_CASE("operand kinds: lists of several kinds and dtypes") {
  const array x = matrix(), y = other(), r = row();
  const integers n = counted(), k = ca::arange(4);
  const truths m = mask();
  exactly(
      "concatenate", [](const auto&... a) { return ca::concatenate(std::tie(a...), 1); }, x, n, y, m);
  exactly(
      "concat", [](const auto&... a) { return ca::concat(std::tie(a...), 1); }, x, n, y, m);
  exactly(
      "stack", [](const auto&... a) { return ca::stack(std::tie(a...), 1); }, x, n, y, m);
  exactly(
      "hstack", [](const auto&... a) { return ca::hstack(std::tie(a...)); }, x, n, y, m);
  exactly(
      "vstack", [](const auto&... a) { return ca::vstack(std::tie(a...)); }, x, k, y, r);
  exactly(
      "dstack", [](const auto&... a) { return ca::dstack(std::tie(a...)); }, x, n, y, m);
  exactly(
      "column_stack", [](const auto&... a) { return ca::column_stack(std::tie(a...)); }, r, k, r, k);
  exactly(
      "block",
      [](const auto& a, const auto& b, const auto& c, const auto& d) {
        return ca::block(std::tuple(std::tie(a, b), std::tie(c, d)));
      },
      x, n, y, m);
  exactly(
      "block", [](const auto&... a) { return ca::block(std::tie(a...)); }, x, n, y, m);
}
TEST_CASE("operand kinds: a list written down") {
  const array x = matrix();
  const integers i = indices(), n = counted();
  const array picked = x(i);
  const auto all = ca::concatenate(std::tuple(x, x(i), n + 1, x(i, ca::slice(4))));
  CHECK(test::equal(all, {12, 4}, test::values(ca::concatenate(std::tuple(x, picked, ca::eval(n + 1), picked)))));
}
