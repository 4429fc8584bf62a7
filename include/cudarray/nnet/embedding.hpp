// Embeddings: rows of a table, picked by integers.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/indexing.hpp"
#include "../ops/math.hpp"
#include "../ops/operators.hpp"
#include "../ops/reductions.hpp"

namespace cudarray::inline v0::nnet {

/// What embedding_bag makes of the rows of a bag.
enum class bag { mean, sum, max };

struct embedding_options {
  cudarray::detail::any_integer padding_idx =
      INT64_MIN;  ///< the row with this number has no gradient; none unless given
};

}  // namespace cudarray::inline v0::nnet
namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD {

/// The padding row as it counts from the front, -1 where there is none. Throws shape_error, value_error.
inline int64 check_embedding(const char* function, const shape& table, const embedding_options& o) {
  if (table.ndim() != 2) cudarray::detail::fail<shape_error>(function, ": a table of shape ", table, ", not (rows, n)");
  const int64 row = o.padding_idx;
  if (row == INT64_MIN) return -1;
  if (row < -table[0] || row >= table[0])
    cudarray::detail::fail<value_error>(function, ": padding_idx ", row, " is no row of a table of shape ", table);
  return row < 0 ? row + table[0] : row;
}
/// Whether each index of bags is another than `padding`, with an axis for the columns of the table.
template <class Ix>
auto counted(const Ix& index, int64 rows, int64 padding) {
  const auto i = astype<int64>(index);
  return expand_dims(where(i < 0, i + rows, i) != padding, -1);
}
/// Throws shape_error unless integers are (b, n).
inline void check_bags(const char* function, const shape& bags) {
  if (bags.ndim() != 2) cudarray::detail::fail<shape_error>(function, ": integers of shape ", bags, ", not (b, n)");
}

}  // namespace cudarray::inline v0::nnet::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD {

/// Rows of a table: integers (..) and (rows, n) -> (.., n). Lazy; of a variable eager. Negative integers count from the
/// end, as in `take`. The gradient of a row that is picked more than once is summed in one order: the same bits in
/// every run. Throws shape_error, value_error for a padding_idx that is no row, index_error for an integer that is
/// none: on CUDA at the next synchronising call.
///     ca::nnet::embedding(tokens, table, {.padding_idx = 0})
template <array_expression Ix, array_expression W>
auto embedding(const Ix& index, const W& table, const embedding_options& o = {}) {
  detail::check_embedding("nnet::embedding", cudarray::detail::dims_of(table), o);
  return take(table, index, 0);
}
/// The mean, sum or largest of the rows of each bag: (b, n) integers, (rows, d) -> (b, d). Integers that are
/// padding_idx do not count; a bag without others is 0. Lazy; of a variable eager. Throws as embedding does.
///     ca::nnet::embedding_bag<ca::nnet::bag::sum>(tokens, table)
template <bag M = bag::mean, array_expression Ix, array_expression W>
auto embedding_bag(const Ix& index, const W& table, const embedding_options& o = {}) {
  constexpr const char* function = "nnet::embedding_bag";
  const shape &bags = cudarray::detail::dims_of(index), &dims = cudarray::detail::dims_of(table);
  const int64 padding = detail::check_embedding(function, dims, o);
  detail::check_bags(function, bags);
  const auto rows = take(table, index, 0);
  const auto counts = detail::counted(index, dims[0], padding);
  if constexpr (M == bag::sum) {
    return sum(where(counts, rows, 0), 1);
  } else if constexpr (M == bag::mean) {
    using T = cudarray::detail::primal_t<value_type_t<W>>;
    return sum(where(counts, rows, 0), 1) / astype<T>(maximum(sum(counts, 1), 1));
  } else {
    if (bags[1] == 0) cudarray::detail::fail<shape_error>(function, ": bags of shape ", bags, " have no largest row");
    const auto largest = max(where(counts, rows, -::std::numeric_limits<double>::infinity()), 1);
    return where(any(counts, 1), largest, 0);
  }
}
/// The sum of rows that are weighted, one number for each integer: (b, n), (rows, d), (b, n) -> (b, d).
template <bag M = bag::sum, array_expression Ix, array_expression W, array_expression S>
auto embedding_bag(const Ix& index, const W& table, const S& weights, const embedding_options& o = {}) {
  static_assert(M == bag::sum, "cudarray: nnet::embedding_bag: rows with weights are summed: use bag::sum");
  constexpr const char* function = "nnet::embedding_bag";
  const shape &bags = cudarray::detail::dims_of(index), &dims = cudarray::detail::dims_of(table);
  const int64 padding = detail::check_embedding(function, dims, o);
  detail::check_bags(function, bags);
  if (cudarray::detail::dims_of(weights) != bags)
    cudarray::detail::fail<shape_error>(function, ": integers of shape ", bags, ", weights of shape ",
                                        cudarray::detail::dims_of(weights), ": both are to be (b, n)");
  const auto counts = detail::counted(index, dims[0], padding);
  return sum(where(counts, take(table, index, 0) * expand_dims(weights, -1), 0), 1);
}

}  // namespace cudarray::inline v0::nnet::inline CUDARRAY_BUILD
