// What goes wrong when it is used wrongly: one table of calls with the exceptions they throw, type and text.
// SPDX-License-Identifier: MIT
#include <limits>
#include <string>
#include <typeinfo>
#include <vector>

#include "temporary_file.hpp"
#include "test.hpp"

namespace {

using ca::_;
using ca::int64;
using ca::none;
using ca::slice;
using array_t = ca::ndarray<float>;
using host_t = ca::ndarray<float, ca::cpu>;

constexpr bool on_cuda = std::is_same_v<ca::default_device, ca::cuda>;
constexpr int64 huge = int64(1) << 50;

/// Arrays that a wrong call must leave as they are.
struct arrays {
  static inline float borrowed[4] = {1, 2, 3, 4};

  array_t a = ca::array<float>({{1, 2, 3}, {4, 5, 6}});    // (2, 3)
  array_t v = ca::array<float>({7, 8, 9});                 // (3,)
  array_t wide = ca::broadcast_to(ca::ones({3}), {2, 3});  // read-only
  array_t scalar = ca::full({}, 5);
  array_t ranks = ca::zeros({1, 1, 1, 1, 1, 1, 1, 1});
  array_t images = ca::ones({2, 3, 4, 4});
  array_t filters = ca::ones({5, 3, 3, 3});
  ca::ndarray<ca::uint8> bytes = ca::array<ca::uint8>({1, 255});
  ca::ndarray<int> labels = ca::array<int>({0, 2});
  ca::ndarray<int> beyond = ca::array<int>({2});
  ca::ndarray<int> before = ca::array<int>({-3});
  host_t host = ca::array<float, ca::cpu>({{1, 2, 3}, {4, 5, 6}});
  host_t constant = ca::from_pointer<const float, ca::cpu>(borrowed, {4});
  ca::random::generator random{1};

  /// All elements, one after another.
  std::vector<double> state() const {
    std::vector<double> s;
    const auto add = [&](const auto& x) {
      for (const auto element : test::values(x)) s.push_back(double(element));
    };
    add(a), add(v), add(wide), add(scalar), add(ranks), add(images), add(filters);
    add(bytes), add(labels), add(beyond), add(before);
    add(host), add(constant);
    s.push_back(double(random.offset()));
    return s;
  }
};

struct row {
  const char* what;
  const std::type_info* type;
  std::string text;
  void (*call)(arrays&);
};

template <class E>
row throws(const char* what, const std::string& text, void (*call)(arrays&)) {
  return {what, &typeid(E), text, call};
}

using ca::index_error;
using ca::io_error;
using ca::out_of_memory;
using ca::shape_error;
using ca::stale_error;
using ca::value_error;

// Evaluated and waited for: what is wrong with an index is known on CUDA when it synchronises.
template <class X>
void run(const X& x) {
  ca::eval(x);
  ca::synchronize();
}

const std::string equal = ": they must be equal (nnet::one_hot_encode makes such labels of class numbers)";
const std::string read_only =
    "assignment: the array of shape (2, 3) is read-only, a view of a broadcast array: write into a .copy()";
std::string stale(const std::string& array) {
  return "array of " + array + ", written after this expression was built; use ca::eval where you meant a value";
}

// clang-format off
const std::vector<row> table = {
    // shapes
    throws<shape_error>("operands that do not broadcast", "+: shapes (2, 3) and (2,) differ at axis 1", [](arrays& x) { (void)(x.a + ca::ones({2})); }),
    throws<shape_error>("the axis is counted in the result", "*: shapes (3,) and (2, 2) differ at axis 1", [](arrays& x) { (void)(x.v * ca::ones({2, 2})); }),
    throws<shape_error>("functions of two operands", "maximum: shapes (2, 3) and (3, 2) differ at axis 0", [](arrays& x) { ca::maximum(x.a, x.a.t()); }),
    throws<shape_error>("another name of a function", "mod: shapes (2, 3) and (3, 2) differ at axis 0", [](arrays& x) { ca::mod(x.a, x.a.t()); }),
    throws<shape_error>("an empty operand against two elements", "-: shapes (0,) and (3,) differ at axis 0", [](arrays& x) { (void)(array_t() - x.v); }),
    throws<shape_error>("where", "where: shapes (4,) and (2, 3) differ at axis 1", [](arrays& x) { ca::where(ca::zeros<bool>({4}), x.a, 0); }),
    throws<shape_error>("clip", "clip: shapes (2, 3) and (2,) differ at axis 1", [](arrays& x) { ca::clip(x.a, ca::zeros({2}), 1); }),
    throws<shape_error>("a negative extent", "empty: negative extent in shape (2, -3)", [](arrays&) { ca::empty({2, -3}); }),
    throws<shape_error>("eye of negative size", "eye: negative extent in shape (-1, -1)", [](arrays&) { ca::eye(-1); }),
    throws<shape_error>("nine axes", "shape: 9 axes, at most 8 are supported", [](arrays&) { ca::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}); }),
    throws<shape_error>("a ninth axis by newaxis", "shape: more than 8 axes", [](arrays& x) { x.ranks(ca::newaxis, ca::ellipsis); }),
    throws<shape_error>("a ninth axis by expand_dims", "shape: more than 8 axes", [](arrays& x) { ca::expand_dims(x.ranks, 0); }),
    throws<shape_error>("a ninth axis by take", "shape: more than 8 axes", [](arrays& x) { ca::take(x.ranks, ca::zeros<int>({1, 1})); }),
    throws<shape_error>("a ragged list", "array: a list of parts with different shapes, (2,) and (1,)", [](arrays&) { ca::array<float>({{1, 2}, {3}}); }),
    throws<shape_error>("a list of lists and numbers", "array: a list of parts with different shapes, (2,) and ()", [](arrays&) { ca::array<float>({{1, 2}, 3}); }),
    throws<shape_error>("elements that do not fill the shape", "array: 2 elements for shape (3,)", [](arrays&) { ca::array(std::vector<float>{1, 2}, {3}); }),
    throws<shape_error>("broadcast_to what does not fit", "broadcast_to: shape (2, 3) does not broadcast to (3, 2)", [](arrays& x) { ca::broadcast_to(x.a, {3, 2}); }),
    throws<shape_error>("broadcast_to fewer axes", "broadcast_to: shape (2, 3) does not broadcast to (3,)", [](arrays& x) { ca::broadcast_to(x.a, {3}); }),

    // huge shapes
    throws<shape_error>("more elements than 64 bits count", "full: shape (4294967296, 4294967296) is too large", [](arrays&) { ca::full({int64(1) << 32, int64(1) << 32}, 0); }),
    throws<shape_error>("an overflow beside an extent of 0", "empty: shape (4294967296, 0, 4294967296) is too large", [](arrays&) { ca::empty({int64(1) << 32, 0, int64(1) << 32}); }),
    throws<shape_error>("more bytes than 64 bits count", "empty: shape (4611686018427387904,) is too large", [](arrays&) { ca::empty<float>({int64(1) << 62}); }),
    throws<shape_error>("broadcast_to more than 64 bits count", "broadcast_to: shape (4294967296, 4294967296) is too large", [](arrays& x) { ca::broadcast_to(x.scalar, {int64(1) << 32, int64(1) << 32}); }),
    throws<shape_error>("broadcast_to a negative extent", "broadcast_to: negative extent in shape (-1,)", [](arrays&) { ca::broadcast_to(ca::ones({1}), {-1}); }),
    throws<shape_error>("reshape to more than 64 bits count", "reshape: cannot reshape (0,) (0 elements) to (4294967296, 4294967296)", [](arrays&) { ca::reshape(array_t(), {int64(1) << 32, int64(1) << 32}); }),
    throws<out_of_memory>("more memory than there is", on_cuda ? "cuda: allocating 4503599627370496 bytes: cudaErrorMemoryAllocation: out of memory" : "cpu: 4503599627370496 bytes could not be allocated", [](arrays&) { ca::zeros<float>({huge}); }),
    throws<out_of_memory>("more memory than there is on the host", "cpu: 4503599627370496 bytes could not be allocated", [](arrays&) { ca::empty<float, ca::cpu>({huge}); }),
    throws<out_of_memory>("a copy of a broadcast view", on_cuda ? "cuda: allocating 4503599627370496 bytes: cudaErrorMemoryAllocation: out of memory" : "cpu: 4503599627370496 bytes could not be allocated", [](arrays& x) { ca::copy(ca::broadcast_to(x.scalar, {huge})); }),

    // indices and slices
    throws<index_error>("an index beyond the end", "index: 2 is out of bounds for axis 0 with size 2", [](arrays& x) { x.a(2); }),
    throws<index_error>("an index before the start", "index: -4 is out of bounds for axis 1 with size 3", [](arrays& x) { x.a(0, -4); }),
    throws<index_error>("an index into nothing", "index: 0 is out of bounds for axis 0 with size 0", [](arrays&) { array_t()(0); }),
    throws<index_error>("an index after an ellipsis", "index: 3 is out of bounds for axis 1 with size 3", [](arrays& x) { x.a(ca::ellipsis, 3); }),
    throws<index_error>("too many indices", "index: 3 indices for an array of 2 axes, shape (2, 3)", [](arrays& x) { x.a(0, 0, 0); }),
    throws<index_error>("an index of a 0-d array", "index: 1 indices for an array of 0 axes, shape ()", [](arrays& x) { x.scalar(0); }),
    throws<index_error>("two ellipses", "index: more than one ellipsis", [](arrays& x) { x.a(ca::ellipsis, ca::ellipsis); }),
    throws<value_error>("a step of 0", "slice: the step is 0", [](arrays& x) { x.a(slice(0, 2, 0)); }),

    // axes
    throws<index_error>("an axis that is not there", "sum: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::sum(x.a, 2); }),
    throws<index_error>("a negative axis that is not there", "mean: axis -3 is out of bounds for an array of 2 axes", [](arrays& x) { ca::mean(x.a, -3); }),
    throws<index_error>("an axis of a 0-d array", "max: axis 0 is out of bounds for an array of 0 axes", [](arrays& x) { ca::max(x.scalar, 0); }),
    throws<index_error>("one of several axes", "std: axis 5 is out of bounds for an array of 2 axes", [](arrays& x) { ca::std(x.a, {0, 5}); }),
    throws<value_error>("an axis twice", "sum: axis 0 is named twice", [](arrays& x) { ca::sum(x.a, {0, 0}); }),
    throws<value_error>("an axis twice, from both ends", "var: axis -1 is named twice", [](arrays& x) { ca::var(x.a, {1, -1}); }),
    throws<shape_error>("nine axes of a reduction", "axes: 9 axes given, at most 8 exist", [](arrays& x) { ca::sum(x.ranks, {0, 1, 2, 3, 4, 5, 6, 7, 8}); }),
    throws<index_error>("the extent of an axis that is not there", "shape: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { (void)x.a.shape(2); }),
    throws<index_error>("the stride of an axis that is not there", "stride: axis -3 is out of bounds for an array of 2 axes", [](arrays& x) { (void)x.a.stride(-3); }),
    throws<value_error>("too few axes to transpose", "transpose: 1 axes given for an array of 2", [](arrays& x) { ca::transpose(x.a, 0); }),
    throws<value_error>("too many axes to transpose", "transpose: 3 axes given for an array of 2", [](arrays& x) { ca::transpose(x.a, {0, 1, 2}); }),
    throws<value_error>("a permutation with an axis twice", "transpose: axis -2 is named twice", [](arrays& x) { ca::transpose(x.a, {0, -2}); }),
    throws<index_error>("a permutation with an axis that is not there", "transpose: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::transpose(x.a, {0, 2}); }),
    throws<index_error>("swapaxes", "swapaxes: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::swapaxes(x.a, 0, 2); }),
    throws<index_error>("flip", "flip: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::flip(x.a, 2); }),
    throws<index_error>("expand_dims counts in the result", "expand_dims: axis 3 is out of bounds for an array of 3 axes", [](arrays& x) { ca::expand_dims(x.a, 3); }),
    throws<shape_error>("squeeze of an axis that is not 1", "squeeze: axis 1 of shape (2, 3) is not 1", [](arrays& x) { ca::squeeze(x.a, 1); }),
    throws<index_error>("squeeze of an axis that is not there", "squeeze: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::squeeze(x.a, 2); }),
    throws<index_error>("an axis that int would cut", "sum: axis 4294967297 is out of bounds for an array of 2 axes", [](arrays& x) { ca::sum(x.a, (int64(1) << 32) + 1); }),
    throws<index_error>("one of several axes that int would cut", "sum: axis 4294967296 is out of bounds for an array of 2 axes", [](arrays& x) { ca::sum(x.a, {0, int64(1) << 32}); }),
    throws<index_error>("an axis beyond int64", "max: axis 9223372036854775807 is out of bounds for an array of 2 axes", [](arrays& x) { ca::max(x.a, UINT64_MAX); }),
    throws<index_error>("sort along an axis that int would cut", "sort: axis 4294967296 is out of bounds for an array of 2 axes", [](arrays& x) { ca::sort(x.a, int64(1) << 32); }),
    throws<index_error>("take along an axis that int would cut", "take: axis 4294967296 is out of bounds for an array of 2 axes", [](arrays& x) { ca::take(x.a, x.labels, int64(1) << 32); }),
    throws<index_error>("an index beyond int64", "index: 9223372036854775807 is out of bounds for axis 0 with size 2", [](arrays& x) { x.a(UINT64_MAX); }),
    throws<shape_error>("an extent beyond int64", "zeros: shape (9223372036854775807,) is too large", [](arrays&) { ca::zeros(UINT64_MAX); }),
    throws<value_error>("more threads than int counts", "set_num_threads: 4294967297 threads; 1 to 1024 are possible", [](arrays&) { ca::set_num_threads((int64(1) << 32) + 1); }),

    // reductions of nothing
    throws<value_error>("the largest of nothing", "max: no elements along the reduced axes of shape (0,)", [](arrays&) { ca::max(array_t()); }),
    throws<value_error>("the smallest along an empty axis", "min: no elements along the reduced axes of shape (2, 0)", [](arrays&) { ca::min(ca::zeros({2, 0}), 1); }),
    throws<index_error>("amax along no axis", "amax: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::amax(x.a, 2); }),
    throws<value_error>("amin of nothing", "amin: no elements along the reduced axes of shape (0,)", [](arrays&) { ca::amin(array_t()); }),
    throws<value_error>("argmax of nothing", "argmax: no elements along the reduced axes of shape (0, 3)", [](arrays&) { ca::argmax(ca::zeros({0, 3}), 0); }),

    // reshape
    throws<shape_error>("another number of elements", "reshape: cannot reshape (2, 3) (6 elements) to (4, 2)", [](arrays& x) { ca::reshape(x.a, {4, 2}); }),
    throws<shape_error>("an extent that does not come out", "reshape: cannot reshape (2, 3) (6 elements) to (4, -1)", [](arrays& x) { ca::reshape(x.a, {4, -1}); }),
    throws<shape_error>("two unknown extents", "reshape: cannot reshape (2, 3) (6 elements) to (-1, -1)", [](arrays& x) { ca::reshape(x.a, {-1, -1}); }),
    throws<shape_error>("a negative extent other than -1", "reshape: cannot reshape (2, 3) (6 elements) to (-2, -3)", [](arrays& x) { ca::reshape(x.a, {-2, -3}); }),
    throws<shape_error>("an unknown extent beside 0", "reshape: cannot reshape (0,) (0 elements) to (0, -1)", [](arrays&) { ca::reshape(array_t(), {0, -1}); }),
    throws<shape_error>("two unknown extents of nothing", "reshape: cannot reshape (0, 2, 3) (0 elements) to (-1, -1)", [](arrays&) { ca::reshape(ca::zeros({0, 2, 3}), {-1, -1}); }),
    throws<shape_error>("an extent and two unknown ones of nothing", "reshape: cannot reshape (0, 2, 3) (0 elements) to (2, -1, -1)", [](arrays&) { ca::reshape(ca::zeros({0, 2, 3}), {2, -1, -1}); }),
    throws<shape_error>("a negative extent behind 0", "reshape: cannot reshape (0,) (0 elements) to (0, -5)", [](arrays&) { ca::reshape(array_t(), {0, -5}); }),
    throws<shape_error>("nothing in more than 64 bits count", "reshape: shape (0, 1099511627776, 1099511627776) is too large", [](arrays&) { ca::reshape(array_t(), {0, int64(1) << 40, int64(1) << 40}); }),

    // joining and splitting
    throws<shape_error>("concatenate of other extents", "concatenate: shapes (2, 3) and (3, 2) along axis 0", [](arrays& x) { ca::concatenate({x.a, x.a.t()}); }),
    throws<shape_error>("concatenate of other ranks", "concatenate: shapes (2, 3) and (3,) along axis 1", [](arrays& x) { ca::concatenate({x.a, x.v}, -1); }),
    throws<index_error>("concatenate along no axis", "concatenate: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::concatenate({x.a, x.a}, 2); }),
    throws<index_error>("stack along no axis", "stack: axis 3 is out of bounds for an array of 3 axes", [](arrays& x) { ca::stack({x.a, x.a}, 3); }),
    throws<index_error>("concatenate of 0-d arrays", "concatenate: axis 0 is out of bounds for an array of 0 axes", [](arrays& x) { ca::concatenate({x.scalar, x.scalar}); }),
    throws<value_error>("concatenate of nothing", "concatenate: no arrays given", [](arrays&) { ca::concatenate(std::vector<array_t>()); }),
    throws<shape_error>("stack of other shapes", "stack: shapes (2, 3) and (3,)", [](arrays& x) { ca::stack({x.a, x.v}); }),
    throws<value_error>("stack of nothing", "stack: no arrays given", [](arrays&) { ca::stack(std::vector<array_t>()); }),
    throws<shape_error>("stack beyond eight axes", "shape: more than 8 axes", [](arrays& x) { ca::stack({x.ranks, x.ranks}); }),
    throws<value_error>("split into unequal parts", "split: axis of 3 does not divide into 2 equal parts", [](arrays& x) { ca::split(x.a, 2, 1); }),
    throws<value_error>("split into no parts", "split: axis of 3 does not divide into 0 equal parts", [](arrays& x) { ca::split(x.a, 0, 1); }),
    throws<index_error>("split along no axis", "split: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::split(x.a, {1}, 2); }),

    // products
    throws<shape_error>("matmul of what does not fit", "matmul: shapes (2, 3) and (2, 3) do not fit: 3 columns, 2 rows", [](arrays& x) { ca::matmul(x.a, x.a); }),
    throws<shape_error>("matmul with a vector", "matmul: shapes (3,) and (2, 3) do not fit: 3 columns, 2 rows", [](arrays& x) { ca::matmul(x.v, x.a); }),
    throws<shape_error>("matmul with a 0-d array", "matmul: shapes (2, 3) and (): a 0-d operand (write a * b)", [](arrays& x) { ca::matmul(x.a, x.scalar); }),
    throws<shape_error>("dot of vectors", "dot: shapes (3,) and (2,) do not fit: 3 columns, 2 rows", [](arrays& x) { ca::dot(x.v, ca::ones({2})); }),

    // index arrays and masks
    throws<index_error>("sort along no axis", "sort: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::sort(x.a, 2); }),
    throws<index_error>("sort of a 0-d array", "sort: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::sort(x.scalar); }),
    throws<index_error>("argsort along no axis", "argsort: axis -3 is out of bounds for an array of 2 axes", [](arrays& x) { ca::argsort(x.a, -3); }),
    throws<index_error>("argsort of a 0-d array", "argsort: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::argsort(x.scalar); }),
    throws<index_error>("cumsum along no axis", "cumsum: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::cumsum(x.a, 2); }),
    throws<index_error>("cumsum along an axis of a 0-d array", "cumsum: axis 0 is out of bounds for an array of 0 axes", [](arrays& x) { ca::cumsum(x.scalar, 0); }),
    throws<index_error>("cumprod along no axis", "cumprod: axis -3 is out of bounds for an array of 2 axes", [](arrays& x) { ca::cumprod(x.a, -3); }),
    throws<index_error>("cummax along no axis", "cummax: axis 1 is out of bounds for an array of 1 axes", [](arrays& x) { ca::cummax(x.v, 1); }),
    throws<index_error>("cummin along no axis", "cummin: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::cummin(x.a + 1, 2); }),
    throws<index_error>("take beyond the end", "take: index 2 is out of bounds for axis 0 with size 2", [](arrays& x) { run(ca::take(x.a, x.beyond)); }),
    throws<index_error>("take before the start", "take: index -3 is out of bounds for axis 0 with size 2", [](arrays& x) { run(ca::take(x.a, x.before)); }),
    throws<index_error>("take along another axis", "take: index 3 is out of bounds for axis 1 with size 3", [](arrays& x) { run(ca::take(x.a, x.beyond + 1, 1)); }),
    throws<index_error>("take along no axis", "take: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::take(x.a, x.labels, 2); }),
    throws<index_error>("take from a 0-d array", "take: axis 0 is out of bounds for an array of 0 axes", [](arrays& x) { ca::take(x.scalar, x.labels); }),
    throws<index_error>("an index array of a 0-d array", "index: 1 indices for an array of 0 axes, shape ()", [](arrays& x) { x.scalar(x.labels); }),
    throws<index_error>("assignment by an index array beyond the end", "index: index 2 is out of bounds for axis 0 with size 2", [](arrays& x) { x.a(x.beyond) = 0; ca::synchronize(); }),
    throws<index_error>("assignment by an index array before the start", "index: index -3 is out of bounds for axis 0 with size 2", [](arrays& x) { x.a(x.before) = x.v; ca::synchronize(); }),
    throws<shape_error>("assignment of what does not fit an index array", "assignment: shape (2, 3) does not broadcast to (1, 3)", [](arrays& x) { x.a(x.beyond) = x.a; }),
    throws<index_error>("a mask of another shape", "index: a mask of shape (3,) for an array of shape (2, 3)", [](arrays& x) { x.a(x.v > 0); }),
    throws<index_error>("a mask of more axes", "index: a mask of shape (2, 3) for an array of shape (3,)", [](arrays& x) { x.v(x.a > 0); }),
    throws<shape_error>("masked assignment of another number of elements", "assignment: shapes (2,) and (3,) differ at axis 0", [](arrays& x) { x.a(x.a > 4) = x.v; }),
    throws<value_error>("masked assignment into a read-only array", read_only, [](arrays& x) { x.wide(x.a > 4) = 0; }),

    // assignment
    throws<shape_error>("assignment of another shape", "assignment: shapes (2, 3) and (2, 2) differ at axis 1", [](arrays& x) { x.a(_) = ca::ones({2, 2}); }),
    throws<shape_error>("assignment of a larger shape", "assignment: shape (2, 3) does not broadcast to (3,)", [](arrays& x) { x.v(_) = x.a; }),
    throws<shape_error>("assignment of several to one", "assignment: shape (3,) does not broadcast to ()", [](arrays& x) { x.a(0, 0) = x.v; }),
    throws<shape_error>("in place with a larger result", "+=: the result's shape (2, 3) is not the array's, (3,)", [](arrays& x) { x.v += x.a; }),
    throws<shape_error>("in place with what does not fit", "*=: shapes (2, 3) and (2,) differ at axis 1", [](arrays& x) { x.a *= ca::ones({2}); }),
    throws<shape_error>("copyto another shape", "copyto: the source has shape (3,), the target (2, 3)", [](arrays& x) { ca::copyto(x.a, x.v); }),
    throws<value_error>("into a broadcast view", read_only, [](arrays& x) { x.wide(_) = 0; }),
    throws<value_error>("into a broadcast view, in place", read_only, [](arrays& x) { x.wide += 1; }),
    throws<value_error>("into a broadcast view, by fill", read_only, [](arrays& x) { x.wide.fill(0); }),
    throws<value_error>("into a row of a broadcast view", "assignment: the array of shape (3,) is read-only, a view of a broadcast array: write into a .copy()", [](arrays& x) { x.wide(0) = 0; }),
    throws<value_error>("into an element of a broadcast view", "assignment: the array of shape () is read-only, a view of a broadcast array: write into a .copy()", [](arrays& x) { x.wide(0, 0) = 0; }),
    throws<value_error>("into borrowed const memory", "assignment: the array borrows const memory, so it is read-only", [](arrays& x) { x.constant(_) = 0; }),
    throws<value_error>("into a view of borrowed const memory", "assignment: the array borrows const memory, so it is read-only", [](arrays& x) { x.constant(slice(1, 3)) *= 2; }),

    // out
    throws<shape_error>("out of another shape", "exp: the result has shape (2, 3), out has (3,)", [](arrays& x) { ca::exp(x.a, ca::out(x.v)); }),
    throws<shape_error>("out does not broadcast", "add: the result has shape (3,), out has (2, 3)", [](arrays& x) { ca::add(x.v, 1, ca::out(x.a)); }),
    throws<shape_error>("out of a reduction", "sum: the result has shape (2,), out has (3,)", [](arrays& x) { ca::sum(x.a, 1, ca::out(x.v)); }),
    throws<shape_error>("out of where", "where: the result has shape (2, 3), out has (3,)", [](arrays& x) { ca::where(x.a > 0, x.a, 0, ca::out(x.v)); }),
    throws<shape_error>("out of clip", "clip: the result has shape (3,), out has (2, 3)", [](arrays& x) { ca::clip(x.v, 0, 1, ca::out(x.a)); }),
    throws<shape_error>("out of a product", "matmul: the result has shape (2, 2), out has (2, 3)", [](arrays& x) { ca::matmul(x.a, x.a.t(), ca::out(x.a)); }),
    throws<value_error>("a product into a read-only array", read_only, [](arrays& x) { ca::matmul(ca::ones({2, 2}), x.a, ca::out(x.wide)); }),
    throws<value_error>("random numbers into a read-only array", read_only, [](arrays& x) { ca::random::normal(0, 1, ca::out(x.wide), x.random); }),
    throws<value_error>("out that is read-only", read_only, [](arrays& x) { ca::exp(x.a, ca::out(x.wide)); }),

    // scalars that do not fit
    throws<value_error>("an operand above the dtype", "+: the scalar 300 does not fit uint8", [](arrays& x) { (void)(x.bytes + 300); }),
    throws<value_error>("an operand below the dtype", "*: the scalar -1 does not fit uint8", [](arrays& x) { (void)(x.bytes * -1); }),
    throws<value_error>("assignment above the dtype", "assignment: the scalar 256 does not fit uint8", [](arrays& x) { x.bytes(0) = 256; }),
    throws<value_error>("fill above the dtype", "assignment: the scalar 256 does not fit uint8", [](arrays& x) { x.bytes.fill(256); }),
    throws<value_error>("in place above the dtype", "-=: the scalar 256 does not fit uint8", [](arrays& x) { x.bytes -= 256; }),
    throws<value_error>("masked assignment above the dtype", "assignment: the scalar 300 does not fit uint8", [](arrays& x) { x.bytes(x.bytes > 1) = 300; }),
    throws<value_error>("an element of a list above the dtype", "array: the scalar 300 does not fit uint8", [](arrays&) { ca::array<ca::uint8>({300}); }),
    throws<value_error>("full above the dtype", "full: the scalar 300 does not fit uint8", [](arrays&) { ca::full<ca::uint8>({2}, 300); }),
    throws<value_error>("full_like above the dtype", "full_like: the scalar 300 does not fit uint8", [](arrays& x) { ca::full_like(x.bytes, 300); }),
    throws<value_error>("an unsigned scalar above int32", "+: the scalar 4294967295 does not fit int32", [](arrays& x) { (void)(x.labels + 4294967295u); }),

    // expressions
    throws<stale_error>("an array written after the expression was built", stale("shape (2, 3), float32"), [](arrays& x) { array_t b = ca::copy(x.a); const auto e = b + 1; b(0, 0) = 7; array_t r = e; }),
    throws<stale_error>("an array written in place meanwhile", stale("shape (3,), float32"), [](arrays& x) { array_t b = ca::copy(x.v); const auto e = ca::sum(b); b += 1; (void)e.item(); }),
    throws<stale_error>("a view of the array was written", stale("shape (3,), float32"), [](arrays& x) { array_t b = ca::copy(x.a); const auto e = b(1) * 2; b(_, 0) = 0; array_t r = e; }),
    throws<stale_error>("a stale expression assigned", stale("shape (3,), float32"), [](arrays& x) { array_t b = ca::copy(x.v); const auto e = b * 2; b.fill(0); x.v(_) = e; }),
    throws<stale_error>("the second operand was written", stale("shape (2,), int32"), [](arrays& x) { ca::ndarray<int> b = ca::copy(x.labels); const auto e = ca::sum(x.a) + b * x.labels; b += 1; array_t r = ca::astype<float>(e); }),
    throws<stale_error>("a 0-d operand was written", stale("shape (), bool"), [](arrays& x) { ca::ndarray<bool> b = ca::full<bool>({}, true); const auto e = ca::where(b, x.a, 0); b.fill(false); array_t r = e; }),

    // elements and memory
    throws<value_error>("the value of several elements", "item: an array of shape (2, 3) has 6 elements, not one", [](arrays& x) { x.a.item(); }),
    throws<value_error>("the value of an expression of several elements", "item: an array of shape (2,) has 2 elements, not one", [](arrays& x) { ca::sum(x.a, 1).item(); }),
    throws<value_error>("the value of nothing", "item: an array of shape (0,) has 0 elements, not one", [](arrays&) { array_t().item(); }),
    throws<index_error>("at beyond the end", "index: 3 is out of bounds for axis 1 with size 3", [](arrays& x) { x.host.at(0, 3) = 0; }),
    throws<index_error>("at with too few indices", "at: 1 indices for an array of shape (2, 3)", [](arrays& x) { x.host.at(0) = 0; }),
    throws<index_error>("at of an empty array", "index: 0 is out of bounds for axis 0 with size 0", [](arrays&) { ca::zeros<float, ca::cpu>({0}).at(0) = 0; }),
    throws<value_error>("a span of a view with gaps", "span: the array of shape (3, 2) is not contiguous: use .copy()", [](arrays& x) { (void)x.host.t().span(); }),
    throws<shape_error>("access by another number of indices", "access: 3 indices for an array of shape (2, 3)", [](arrays& x) { (void)x.host.access<3>(); }),
    throws<shape_error>("from_pointer with a negative extent", "from_pointer: negative extent in shape (-4,)", [](arrays& x) { ca::from_pointer<float, ca::cpu>(x.borrowed, {-4}); }),
    throws<shape_error>("from_pointer to more than 64 bits count", "from_pointer: shape (4294967296, 4294967296) is too large", [](arrays& x) { ca::from_pointer<float, ca::cpu>(x.borrowed, {int64(1) << 32, int64(1) << 32}); }),
    throws<shape_error>("from_pointer with too few strides", "from_pointer: 1 strides for shape (2, 2)", [](arrays& x) { ca::from_pointer<float, ca::cpu>(x.borrowed, {2, 2}, {1}); }),

    // ranges
    throws<value_error>("from_pointer of nothing", "from_pointer: a null pointer for shape (2, 3)", [](arrays&) { ca::from_pointer<float>(nullptr, {2, 3}); }),
    throws<shape_error>("from_pointer with strides beyond memory", "from_pointer: the stride 4611686018427387904 of axis 0 of shape (4,) is too large", [](arrays& x) { ca::from_pointer<float, ca::cpu>(x.borrowed, {4}, ca::shape{int64(1) << 62}); }),
    throws<value_error>("arange with a step of 0", "arange: the step is 0", [](arrays&) { ca::arange(0, 5, 0); }),
    throws<value_error>("an integer to a negative power", "power: an integer to the negative power -2", [](arrays& x) { ca::power(x.labels, -2); }),
    throws<value_error>("integers to powers among which is a negative one", "power: an integer to the negative power -3", [](arrays& x) { run(ca::power(x.labels, x.before)); }),
    throws<value_error>("a number to powers among which is a negative one", "power: an integer to the negative power -3", [](arrays& x) { run(ca::power(2, x.before)); }),
    throws<value_error>("a limit above all elements that would be a result", "clip: the scalar 300 does not fit uint8", [](arrays& x) { ca::clip(x.bytes, 300, 400); }),
    throws<value_error>("arange beyond its dtype", "arange: 0 to 299 do not fit uint8", [](arrays&) { ca::arange<ca::uint8>(300); }),
    throws<value_error>("arange beyond int64", "arange: 18446744073709551613 to 18446744073709551614 do not fit int64", [](arrays&) { ca::arange(UINT64_MAX - 2, UINT64_MAX); }),
    throws<shape_error>("arange of more elements than there may be", "arange: shape (4611686018427387904,) is too large", [](arrays&) { ca::arange(INT64_MIN, UINT64_MAX); }),
    throws<value_error>("arange by NaN", "arange: 0 to 1 by nan", [](arrays&) { ca::arange(0, 1, std::nan("")); }),
    throws<value_error>("arange by a step of 0.", "arange: the step is 0", [](arrays&) { ca::arange(0., 1, 0); }),
    throws<value_error>("linspace of a negative count", "linspace: -1 values", [](arrays&) { ca::linspace(0, 1, -1); }),

    // random numbers
    throws<value_error>("a negative scale", "random::normal: scale -1 is negative", [](arrays& x) { ca::random::normal({3}, 0, -1, x.random); }),
    throws<value_error>("no integers in the range", "random::integers: no integers in [5, 5)", [](arrays& x) { ca::random::integers({3}, 5, 5, x.random); }),
    throws<value_error>("integers that the array does not hold", "random::integers: [0, 256) does not fit int8", [](arrays& x) { ca::random::integers(0, 256, ca::out(ca::zeros<ca::int8>({3})), x.random); }),
    throws<value_error>("integers that float16 does not hold", "random::integers: [0, 65506) does not fit float16", [](arrays& x) { ca::random::integers(0, 65506, ca::out(ca::zeros<ca::float16>({3})), x.random); }),
    throws<value_error>("integers beyond int64", "random::integers: [0, 18446744073709551615) does not fit int64", [](arrays& x) { ca::random::integers({3}, 0, UINT64_MAX, x.random); }),
    throws<value_error>("numbers of an infinite range", "random::uniform: [0, inf) has no finite width", [](arrays& x) { ca::random::uniform({3}, 0, std::numeric_limits<float>::infinity(), x.random); }),
    throws<value_error>("a permutation of fewer than none", "random::permutation: -1 elements", [](arrays& x) { ca::random::permutation(-1, x.random); }),
    throws<shape_error>("random numbers of a negative extent", "random::uniform: negative extent in shape (-3,)", [](arrays& x) { ca::random::uniform({-3}, 0, 1, x.random); }),

    // nnet
    throws<shape_error>("images without a batch", "nnet::conv2d: images of shape (3, 4, 4), not (n, c, h, w)", [](arrays& x) { ca::nnet::conv2d(x.images(0), x.filters); }),
    throws<shape_error>("filters of other channels", "nnet::conv2d: filters of shape (5, 3, 3, 3) for images of shape (2, 2, 4, 4); (k, c, r, s) and (n, c, h, w) are wanted", [](arrays& x) { ca::nnet::conv2d(x.images(_, slice(0, 2)), x.filters); }),
    throws<shape_error>("a filter larger than the image", "nnet::conv2d: a window of (3, 3) does not fit images of (2, 3, 2, 4) with padding (0, 0)", [](arrays& x) { ca::nnet::conv2d(x.images(_, _, slice(0, 2)), x.filters); }),
    throws<value_error>("a stride of 0", "nnet::conv2d: stride (0, 1) is not positive", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.stride = {0, 1}}); }),
    throws<value_error>("a padding beyond 64 bits", "nnet::conv2d: padding (4611686018427387904, 4611686018427387904) is too large", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.padding = int64(1) << 62}); }),
    throws<value_error>("a negative padding", "nnet::conv2d: padding (-1, -1) is negative", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.padding = -1}); }),
    throws<shape_error>("a gradient of another shape", "nnet::conv2d_backward_data: the gradient has shape (2, 3, 4, 4), the convolution's result (2, 5, 2, 2)", [](arrays& x) { ca::nnet::conv2d_backward_data(x.images, x.filters, x.images.shape()); }),
    throws<shape_error>("filters to differentiate by of other channels", "nnet::conv2d_backward_weights: filters of shape (5, 1, 3, 3) for images of shape (2, 3, 4, 4); (k, c, r, s) and (n, c, h, w) are wanted", [](arrays& x) { ca::nnet::conv2d_backward_weights(x.images, x.images, {5, 1, 3, 3}); }),
    throws<value_error>("numbers for other axes", "nnet::conv2d: stride of 3 numbers: 2 or 1 are wanted", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.stride = {1, 1, 1}}); }),
    throws<value_error>("a dilation of 0", "nnet::conv2d: dilation (1, 0) is not positive", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.dilation = {1, 0}}); }),
    throws<shape_error>("a filter with gaps that is larger than the image", "nnet::conv2d: a window of (3, 3) with dilation (2, 1) does not fit images of (2, 3, 4, 4) with padding (0, 0)", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.dilation = {2, 1}}); }),
    throws<value_error>("groups that do not divide channels", "nnet::conv2d: 2 groups of 3 channels and 5 filters", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, {.groups = 2}); }),
    throws<shape_error>("filters that see more than their group", "nnet::conv2d: filters of shape (6, 3, 3, 3) for images of shape (2, 3, 4, 4); (k, c / groups, r, s) and (n, c, h, w) are wanted", [](arrays& x) { ca::nnet::conv2d(x.images, ca::zeros({6, 3, 3, 3}), {.groups = 3}); }),
    throws<shape_error>("a bias for other filters", "nnet::conv2d: a bias of shape (3,): (5,) is wanted", [](arrays& x) { ca::nnet::conv2d(x.images, x.filters, ca::zeros({3})); }),
    throws<shape_error>("images where lines are wanted", "nnet::conv1d: filters of shape (5, 3, 3, 3) for images of shape (2, 3, 4, 4); (k, c, s) and (n, c, w) are wanted", [](arrays& x) { ca::nnet::conv1d(x.images, x.filters); }),
    throws<value_error>("a gradient with padding `same`", "nnet::conv2d_backward_data: the padding is a number of pixels, not `same`", [](arrays& x) { ca::nnet::conv2d_backward_data(x.images, x.filters, x.images.shape(), {.padding = ca::nnet::same}); }),
    throws<shape_error>("filters of other channels, transposed", "nnet::conv_transpose2d: filters of shape (5, 3, 3, 3) for images of shape (2, 3, 4, 4); (c, k / groups, r, s) and (n, c, h, w) are wanted", [](arrays& x) { ca::nnet::conv_transpose2d(x.images, x.filters); }),
    throws<value_error>("a result as much longer as a stride", "nnet::conv_transpose2d: output_padding (2, 2) is not below stride (2, 2) or dilation (1, 1)", [](arrays& x) { ca::nnet::conv_transpose2d(x.images, ca::zeros({3, 1, 2, 2}), {.stride = 2, .output_padding = 2}); }),
    throws<shape_error>("padding that takes all", "nnet::conv_transpose2d: images of (2, 3, 4, 4) and filters of (3, 1, 1, 1) with padding (2, 2) and stride (1, 1) leave no result", [](arrays& x) { ca::nnet::conv_transpose2d(x.images, ca::zeros({3, 1, 1, 1}), {.padding = 2}); }),
    throws<value_error>("no windows of adaptive pooling", "nnet::adaptive_avg_pool2d: size (0, 2) is not positive", [](arrays& x) { ca::nnet::adaptive_avg_pool2d(x.images, {0, 2}); }),
    throws<shape_error>("adaptive pooling of no pixels", "nnet::adaptive_max_pool2d: images of (1, 1, 0, 2) have no pixels", [](arrays&) { ca::nnet::adaptive_max_pool2d(ca::zeros({1, 1, 0, 2}), 1); }),
    throws<shape_error>("unpooling to images of other axes", "nnet::max_unpool: pixels of shape (2, 3, 4, 4), indices of shape (2, 3, 4, 4), a size of (8,)", [](arrays& x) { ca::nnet::max_unpool(x.images, ca::zeros<int>({2, 3, 4, 4}), {8}); }),
    throws<value_error>("widths of other axes", "pad: 3 widths for an array of shape (2, 3): 1 or 2 are wanted", [](arrays& x) { ca::pad(x.a, {{1, 1}, {1, 1}, {1, 1}}); }),
    throws<value_error>("a negative width", "pad: widths 1 and -1 of axis 0 are negative", [](arrays& x) { ca::pad(x.a, {{1, -1}}); }),
    throws<value_error>("a border of nothing", "pad: axis 0 of shape (0, 2) has no elements to repeat", [](arrays&) { ca::pad(ca::zeros({0, 2}), 1, {.mode = ca::pad_mode::wrap}); }),
    throws<shape_error>("pooling without channels", "nnet::max_pool2d: images of shape (2, 3), not (n, c, h, w)", [](arrays& x) { ca::nnet::max_pool2d(x.a); }),
    throws<shape_error>("a pooling window larger than the image", "nnet::avg_pool2d: a window of (5, 5) does not fit images of (2, 3, 4, 4) with padding (0, 0)", [](arrays& x) { ca::nnet::avg_pool2d(x.images, {.window = 5}); }),
    throws<value_error>("pooling with more padding than half the window", "nnet::max_pool2d: padding (2, 0) is more than half the window (3, 3)", [](arrays& x) { ca::nnet::max_pool2d(x.images, {.window = 3, .padding = {2, 0}}); }),
    throws<value_error>("pooling with a negative stride", "nnet::avg_pool2d: stride (-1, -1) is not positive", [](arrays& x) { ca::nnet::avg_pool2d(x.images, {.stride = -1}); }),
    throws<shape_error>("a gradient that is not the pooling's", "nnet::max_pool2d_backward: the gradient has shape (2, 3, 4, 4), the pooling's result (2, 3, 2, 2)", [](arrays& x) { ca::nnet::max_pool2d_backward(x.images, x.images); }),
    throws<shape_error>("a gradient that is not the averaging's", "nnet::avg_pool2d_backward: the gradient has shape (2, 3, 4, 4), the pooling's result (2, 3, 2, 2)", [](arrays& x) { ca::nnet::avg_pool2d_backward(x.images, x.images.shape()); }),
    throws<value_error>("dropout of everything", "nnet::dropout: the probability 1 is not in [0, 1)", [](arrays& x) { ca::nnet::dropout(x.a, 1, x.random); }),
    throws<value_error>("a dropout mask with a negative probability", "nnet::dropout_mask: the probability -0.5 is not in [0, 1)", [](arrays& x) { ca::nnet::dropout_mask({2}, -0.5, x.random); }),
    throws<shape_error>("a dropout mask of a negative extent", "nnet::dropout_mask: negative extent in shape (-2,)", [](arrays& x) { ca::nnet::dropout_mask({-2}, 0.5, x.random); }),
    throws<shape_error>("a gradient that is not relu's", "nnet::relu_backward: shapes (2, 3) and (3, 2) differ at axis 0", [](arrays& x) { ca::nnet::relu_backward(x.a.t(), x.a); }),
    throws<index_error>("softmax along no axis", "nnet::softmax: axis 2 is out of bounds for an array of 2 axes", [](arrays& x) { ca::nnet::softmax(x.a, 2); }),
    throws<index_error>("log_softmax of a 0-d array", "nnet::log_softmax: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::nnet::log_softmax(x.scalar); }),
    throws<index_error>("logsumexp along no axis", "nnet::logsumexp: axis -3 is out of bounds for an array of 2 axes", [](arrays& x) { ca::nnet::logsumexp(x.a, -3); }),
    throws<index_error>("a label beyond the classes", "nnet::one_hot_encode: index 2 is out of bounds for axis 0 with size 2", [](arrays& x) { ca::nnet::one_hot_encode(x.beyond, 2); ca::synchronize(); }),
    throws<index_error>("a label before the classes", "nnet::one_hot_encode: index -3 is out of bounds for axis 0 with size 2", [](arrays& x) { ca::nnet::one_hot_encode(x.before, 2); ca::synchronize(); }),
    throws<index_error>("one-hot decoding of a 0-d array", "nnet::one_hot_decode: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::nnet::one_hot_decode(x.scalar); }),
    throws<value_error>("one-hot decoding of no classes", "nnet::one_hot_decode: no elements along the reduced axes of shape (2, 0)", [](arrays&) { ca::nnet::one_hot_decode(ca::zeros({2, 0})); }),
    throws<index_error>("a loss of a 0-d array", "nnet::categorical_cross_entropy: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::nnet::categorical_cross_entropy(x.scalar, x.scalar); }),
    throws<shape_error>("a loss of what does not fit", "nnet::categorical_cross_entropy: predictions of shape (2, 3), labels of shape (3, 2)" + equal, [](arrays& x) { ca::nnet::categorical_cross_entropy(x.a, x.a.t()); }),
    throws<index_error>("a softmax loss of a 0-d array", "nnet::softmax_cross_entropy: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::nnet::softmax_cross_entropy(x.scalar, x.scalar); }),
    throws<shape_error>("a softmax loss of what does not fit", "nnet::softmax_cross_entropy: predictions of shape (2, 3), labels of shape (2, 2)" + equal, [](arrays& x) { ca::nnet::softmax_cross_entropy(x.a, ca::ones({2, 2})); }),
    throws<index_error>("the gradient of a loss of a 0-d array", "nnet::softmax_cross_entropy_backward: axis -1 is out of bounds for an array of 0 axes", [](arrays& x) { ca::nnet::softmax_cross_entropy_backward(x.scalar, x.scalar); }),
    throws<shape_error>("the gradient of a loss of what does not fit", "nnet::softmax_cross_entropy_backward: predictions of shape (2, 3), labels of shape (2, 2)" + equal, [](arrays& x) { ca::nnet::softmax_cross_entropy_backward(x.a, ca::ones({2, 2})); }),
    throws<value_error>("a loss with an eps of NaN", "nnet::categorical_cross_entropy: eps nan is not in [0, 0.5)", [](arrays& x) { ca::nnet::categorical_cross_entropy(x.a, x.a, std::nan("")); }),
    throws<value_error>("a loss with an eps of 1", "nnet::categorical_cross_entropy: eps 1 is not in [0, 0.5)", [](arrays& x) { ca::nnet::categorical_cross_entropy(x.a, x.a, 1); }),
    throws<shape_error>("labels as a column", "nnet::softmax_cross_entropy: predictions of shape (2, 3), labels of shape (2, 1)" + equal, [](arrays& x) { ca::nnet::softmax_cross_entropy(x.a, ca::ones({2, 1})); }),
    throws<shape_error>("class numbers as labels", "nnet::softmax_cross_entropy: predictions of shape (2, 3), labels of shape (3,)" + equal, [](arrays& x) { ca::nnet::softmax_cross_entropy(x.a, x.v); }),
    throws<shape_error>("more rows of labels than predictions", "nnet::categorical_cross_entropy: predictions of shape (3,), labels of shape (2, 3)" + equal, [](arrays& x) { ca::nnet::categorical_cross_entropy(x.v, x.a); }),
    throws<shape_error>("labels broadcast in a gradient", "nnet::softmax_cross_entropy_backward: predictions of shape (2, 3), labels of shape (3,)" + equal, [](arrays& x) { ca::nnet::softmax_cross_entropy_backward(x.a, x.v); }),
    throws<value_error>("fewer than no classes", "nnet::one_hot_encode: -1 classes", [](arrays& x) { ca::nnet::one_hot_encode(x.labels, -1); }),
    throws<shape_error>("out of an activation", "nnet::relu: the result has shape (2, 3), out has (3,)", [](arrays& x) { ca::nnet::relu(x.a, ca::out(x.v)); }),

    // files
    throws<io_error>("a file that is not there", "/no/such/file.npy: No such file or directory", [](arrays&) { ca::load<float>("/no/such/file.npy"); }),
    throws<io_error>("a folder that is not there", "/no/such/file.npy: No such file or directory", [](arrays& x) { ca::save("/no/such/file.npy", x.a); }),
    throws<io_error>("a full disk", "/dev/full: No space left on device", [](arrays& x) { ca::save("/dev/full", x.a); }),
    throws<io_error>("an empty file", "/dev/null: the file ends too early: 0 of the 8 bytes of magic and version", [](arrays&) { ca::load<float>("/dev/null"); }),
    throws<io_error>("not a .npy file", "/dev/zero: not a .npy file: it begins with \"\\x00\\x00\\x00\\x00\\x00\\x00\", where \"\\x93NUMPY\" is read", [](arrays&) { ca::load<float>("/dev/zero"); }),
    throws<io_error>("an IDX file that is not there", "/no/such/file: No such file or directory", [](arrays&) { ca::load_idx("/no/such/file", 3); }),
    throws<shape_error>("an IDX file of more axes than arrays have", "load_idx: 9 axes, 0 to 8 are supported", [](arrays&) { ca::load_idx("/dev/null", 9); }),
    throws<io_error>("an empty IDX file", "/dev/null: the file ends too early: 0 of the 4 bytes of type and number of axes", [](arrays&) { ca::load_idx("/dev/null", 3); }),
    throws<io_error>("not an IDX file", "/dev/zero: not an IDX file of bytes with 3 axes: it begins with \"\\x00\\x00\\x00\\x00\"", [](arrays&) { ca::load_idx("/dev/zero", 3); }),
};
// clang-format on

}  // namespace

TEST_CASE("misuse: every wrong call throws what the table says, and changes nothing") {
  arrays x;
  const auto state = x.state();
  for (const row& r : table) {
    INFO(r.what);
    const std::type_info* type = nullptr;
    std::string text;
    try {
      r.call(x);
      text = "nothing was thrown";
    } catch (const ca::error& e) {
      type = &typeid(e);
      text = e.what();
    } catch (const std::exception& e) {
      text = std::string("not an error of the library: ") + e.what();
    }
    CHECK(text == r.text);
    CHECK((type != nullptr && *type == *r.type));
    const bool unchanged = x.state() == state;
    CHECK(unchanged);
    if (!unchanged) x = arrays();  // so that the next row is judged by itself
  }
}

TEST_CASE("misuse: another dtype in a file") {
  const test::temporary_file f;
  ca::save(f.path(), ca::ones({2}));
  CHECK(test::thrown<ca::dtype_error>([&] { ca::load<int>(f.path()); }) ==
        f.says("the file holds <f4, not <i4 (int32)"));
}

TEST_CASE("misuse: a label out of range names the label and the number of classes") {
  const auto text = test::thrown<ca::index_error>([] {
    ca::nnet::one_hot_encode(ca::array<int>({0, 3}), 3);
    ca::synchronize();
  });
  CHECK(text.find("index 3 is out of bounds for axis 0 with size 3") != std::string::npos);
}

TEST_CASE("misuse: every error is a ca::error and a std::runtime_error") {
  CHECK(test::thrown<std::runtime_error>([] { ca::zeros({2})(5); }) ==
        "index: 5 is out of bounds for axis 0 with size 2");
  CHECK(test::thrown<ca::error>([] { ca::zeros({2})(5); }) == "index: 5 is out of bounds for axis 0 with size 2");
}

TEST_CASE("misuse: a wrong index is reported once") {
  const auto wrong = [] {
    ca::eval(ca::take(ca::ones({2}), ca::array<int>({7})));
    ca::synchronize();
  };
  CHECK(test::thrown<ca::index_error>(wrong) == "take: index 7 is out of bounds for axis 0 with size 2");
  ca::synchronize();
  CHECK(ca::sum(ca::ones({2})).item() == 2);
}

TEST_CASE("misuse: at of a default-constructed array") {
  CHECK(test::thrown<ca::index_error>([] { host_t().at(0) = 1; }) ==
        "index: 0 is out of bounds for axis 0 with size 0");
}
