// Host memory: one aligned block holds header and data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <new>

#include "../../core/device.hpp"
#include "../../core/error.hpp"
#include "../../memory/account.hpp"
#include "../../memory/stats.hpp"
#include "../../memory/storage.hpp"

namespace cudarray::inline v0::backend {

CUDARRAY_PUBLIC inline detail::memory_account host_account;
inline detail::memory_account& account_of(cpu) { return host_account; }
inline int64 cached_bytes(cpu) { return 0; }
inline void release_cached(cpu) {}

inline detail::storage_ref allocate(cpu, ::std::size_t bytes) {
  constexpr ::std::size_t alignment = 64, header = (sizeof(detail::storage) + alignment - 1) / alignment * alignment;
  if (bytes >= SIZE_MAX / 4) throw out_of_memory(detail::cat("cpu: ", bytes, " bytes could not be allocated"));
  detail::charge(host_account, bytes, "cpu");
  void* block = ::operator new(header + bytes, ::std::align_val_t(alignment), ::std::nothrow);
  if (block == nullptr) {
    detail::credit(host_account, bytes);
    throw out_of_memory(detail::cat("cpu: ", bytes, " bytes could not be allocated"));
  }
  auto* s = new (block) detail::storage;
  s->data = static_cast<char*>(block) + header;
  s->bytes = bytes;
  s->release = [](detail::storage* p) noexcept {
    detail::credit(host_account, p->bytes);
    if (detail::poison_memory && p->bytes > 0) ::std::memset(p->data, 0xff, p->bytes);
    p->~storage();
    ::operator delete(static_cast<void*>(p), ::std::align_val_t(alignment));
  };
  detail::count(detail::counters.allocations);
  return detail::storage_ref(s);
}

inline void copy_to_host(cpu, void* host, detail::storage& s, ::std::size_t offset, ::std::size_t bytes) {
  if (bytes) ::std::memcpy(host, static_cast<const char*>(s.data) + offset, bytes);
}

inline void copy_from_host(cpu, detail::storage& s, ::std::size_t offset, const void* host, ::std::size_t bytes) {
  if (bytes) ::std::memcpy(static_cast<char*>(s.data) + offset, host, bytes);
}

inline void synchronize_device(cpu) {}

}  // namespace cudarray::inline v0::backend
