// Faults: errors that depend on data, recorded by whichever threads find them; the first in order is kept.
// SPDX-License-Identifier: MIT
#pragma once

#include "../core/error.hpp"
#include "../core/lock.hpp"

namespace cudarray::inline v0::detail {

/// A data-dependent error: on the CPU it stands beside the call, on CUDA in mapped host memory. Of several that of the
/// first statement is kept, and of these the first in the order of the positions.
struct fault_record {
  const char* function = nullptr;  ///< null: no fault
  int64 position = 0;              ///< of the index that is wrong among all of them
  int64 value = 0;
  int64 limit = 0;
  int axis = 0;  ///< -1: there is none, the value itself is not allowed
  int statement = 0;
  uint32 lock = 0;

  CUDARRAY_HD bool is_set() const { return load_acquire(function) != nullptr; }
  /// Whether nothing is recorded, or what comes later. What is read without the lock while another thread writes is the
  /// old, or of the new what is compared first.
  CUDARRAY_HD bool comes_after(int other_statement, int64 other_position, int64 other_value) const {
    if (!is_set()) return true;
    const int later = int(unsigned(other_statement) - unsigned(load_acquire(statement)));
    if (later != 0) return later < 0;
    const int64 known = load_acquire(position);
    return other_position != known ? other_position < known : other_value < load_acquire(value);
  }
};

/// Where the faults of a statement are recorded. A later statement has a higher number.
struct fault_sink {
  fault_record* record = nullptr;
  int statement = 0;
};

}  // namespace cudarray::inline v0::detail
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What a fault at one place of a statement says.
struct fault_site {
  fault_record* record = nullptr;
  const char* function = nullptr;
  int axis = -1;
  int statement = 0;
  fault_site() = default;
  fault_site(const fault_sink& sink, const char* function_, int axis_)
      : record(sink.record), function(function_), axis(axis_), statement(sink.statement) {}
};

CUDARRAY_HD inline void record_fault(const fault_site& at, int64 position, int64 value, int64 limit) {
  fault_record& f = *at.record;
  while (f.comes_after(at.statement, position, value)) {
    if (!try_lock(f.lock)) continue;
    if (f.comes_after(at.statement, position, value)) {
      f.limit = limit;
      f.axis = at.axis;
      store_release(f.value, value);
      store_release(f.position, position);
      store_release(f.statement, at.statement);
      store_release(f.function, at.function);
    }
    unlock(f.lock);
    return;
  }
}

/// Throws what a recorded fault says: index_error, or, without an axis, value_error for a power.
inline void throw_fault(const fault_record& f) {
  if (!f.is_set()) return;
  if (f.axis < 0) fail<value_error>(f.function, ": an integer to the negative power ", f.value);
  fail<index_error>(f.function, ": index ", f.value, " is out of bounds for axis ", f.axis, " with size ", f.limit);
}

CUDARRAY_HD inline bool index_fits(int64 k, int64 limit) { return k >= -limit && k < limit; }

/// An index brought into range; one out of range, the index at some position, is recorded, and false returned.
CUDARRAY_HD inline bool resolve_index(int64& k, int64 limit, const fault_site& fault, int64 position) {
  const bool fits = index_fits(k, limit);
  if (!fits) record_fault(fault, position, k, limit);
  else if (k < 0) k += limit;
  return fits;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
