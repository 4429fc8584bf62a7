// Host memory: one aligned block holds header and data; released blocks are kept for arrays to come.
// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "../../../core/device.hpp"
#include "../../../core/error.hpp"
#include "../../../memory/account.hpp"
#include "../../../memory/stats.hpp"
#include "../../../memory/storage.hpp"

/// What tells the address sanitizer of memory that must not be used; absent without it.
extern "C" __attribute__((weak)) void __asan_poison_memory_region(const volatile void*, unsigned long);
extern "C" __attribute__((weak)) void __asan_unpoison_memory_region(const volatile void*, unsigned long);

namespace cudarray::inline v0::backend {
namespace host {

inline constexpr ::std::size_t alignment = 64, huge_page = 2 << 20;

/// Blocks come in sizes that many requests share: multiples of 64 bytes, from 512 on eight to a power of two. Returns
/// the number of the size that holds `bytes`, and makes `bytes` that size.
inline int size_class(::std::size_t& bytes) {
  if (bytes <= 512) {
    const ::std::size_t n = bytes == 0 ? 1 : (bytes + 63) / 64;
    bytes = n * 64;
    return int(n) - 1;
  }
  const int shift = 60 - __builtin_clzll(bytes - 1);  // an eighth of the power of two below
  const ::std::size_t n = (bytes - 1) >> shift;       // 8 to 15 of them, rounded down
  bytes = (n + 1) << shift;
  return (shift - 6) * 8 + int(n);
}

/// The system's memory. From 4 MB on whole huge pages are asked for: touching new memory costs most of the time of
/// many operations, and 512 times less often so.
inline void* new_block(::std::size_t bytes) {
  if (bytes < 2 * huge_page) return ::operator new(bytes, ::std::align_val_t(alignment), ::std::nothrow);
  bytes = (bytes + huge_page - 1) / huge_page * huge_page;
  void* m = ::mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(m);
  const ::std::size_t before = (huge_page - reinterpret_cast<::std::size_t>(m) % huge_page) % huge_page;
  if (before > 0) ::munmap(begin, before);
  if (before < huge_page) ::munmap(begin + before + bytes, huge_page - before);
#if defined(MADV_HUGEPAGE)
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);
#endif
  return begin + before;
}
inline void delete_block(void* p, ::std::size_t bytes) {
  if (bytes < 2 * huge_page) ::operator delete(p, ::std::align_val_t(alignment));
  else ::munmap(p, (bytes + huge_page - 1) / huge_page * huge_page);
}

CUDARRAY_PUBLIC inline detail::memory_account account;

/// Released blocks by size, the last one first; an eighth of the machine's memory at most. Its lock is the account's,
/// too: a small array costs few locked accesses, which wait for all stores before them.
struct cache {
  struct block {
    block* next;
    ::std::size_t bytes;
  };
  bool locked = false;
  ::std::size_t bytes = 0;
  ::std::size_t most = 0;  ///< that `bytes` may be; 0: not asked for yet
  block* first[54 * 8] = {};

  void lock() {
    while (!detail::one_thread() && __atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) sched_yield();
  }
  void unlock() { __atomic_clear(&locked, __ATOMIC_RELEASE); }
  CUDARRAY_COLD void ask_most() {
    const auto pages = ::std::size_t(::sysconf(_SC_PHYS_PAGES)), page = ::std::size_t(::sysconf(_SC_PAGESIZE));
    __atomic_store_n(&most, pages / 8 * page, __ATOMIC_RELAXED);
  }
  void count(int64 more) { detail::add_locked(bytes, ::std::size_t(more)); }
};
CUDARRAY_PUBLIC inline cache the_cache;

CUDARRAY_COLD inline void empty_cache() {
  cache& c = the_cache;
  for (auto& list : c.first) {
    c.lock();
    cache::block* b = list;
    list = nullptr;
    for (cache::block* i = b; i != nullptr; i = i->next) c.count(-int64(i->bytes));
    c.unlock();
    while (b != nullptr) {
      cache::block* const next = b->next;
      const ::std::size_t bytes = b->bytes;
      if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(b, bytes);
      delete_block(b, bytes);
      b = next;
    }
  }
}

/// A block of at least `bytes`, aligned to 64. Null where the system has none. Charges the account with `charged`
/// bytes (-1: the block is no array's); throws out_of_memory where that would exceed the limit.
inline void* take_block(::std::size_t bytes, int64 charged = -1) {
  cache& c = the_cache;
  const int k = size_class(bytes);
  c.lock();
  if (const int64 limit = charged < 0 ? 0 : detail::charge_locked(account, charged)) {
    const int64 used = account.used;
    c.unlock();
    detail::fail_charge("cpu", charged, used, limit);
  }
  cache::block* const b = c.first[k];
  if (b != nullptr) {
    c.first[k] = b->next;
    c.count(-int64(bytes));
  }
  c.unlock();
  if (b != nullptr) {
    if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(b, bytes);
    return b;
  }
  if (void* p = new_block(bytes)) return p;
  empty_cache();
  return new_block(bytes);
}

/// The account without so many bytes.
inline void credit(int64 bytes) noexcept {
  the_cache.lock();
  detail::add_locked(account.used, -bytes);
  the_cache.unlock();
}

[[noreturn]] CUDARRAY_COLD inline void fail_allocation(::std::size_t bytes) {
  detail::fail<out_of_memory>("cpu: ", bytes, " bytes could not be allocated");
}

/// Takes back a block that was taken for so many bytes, and what was charged with it.
inline void give_block(void* p, ::std::size_t bytes, int64 charged = 0) noexcept {
  cache& c = the_cache;
  const int k = size_class(bytes);
  if (__atomic_load_n(&c.most, __ATOMIC_RELAXED) == 0) c.ask_most();
  const ::std::size_t most = __atomic_load_n(&c.most, __ATOMIC_RELAXED);
  if (bytes > most) {
    credit(charged);
    return delete_block(p, bytes);
  }
  if (__atomic_load_n(&c.bytes, __ATOMIC_RELAXED) + bytes > most) empty_cache();  // other sizes are in use now
  auto* b = static_cast<cache::block*>(p);
  b->bytes = bytes;
  if (__asan_poison_memory_region) __asan_poison_memory_region(b + 1, bytes - sizeof(*b));
  c.lock();
  detail::add_locked(account.used, -charged);
  b->next = c.first[k];
  c.first[k] = b;
  c.count(int64(bytes));
  c.unlock();
}

/// Memory for the time of a call.
struct scratch {
  ::std::size_t bytes;
  char* p;
  explicit scratch(int64 n) : bytes(::std::size_t(n)), p(n > 0 ? static_cast<char*>(take_block(bytes)) : nullptr) {
    if (n > 0 && p == nullptr) fail_allocation(bytes);
  }
  ~scratch() {
    if (p != nullptr) give_block(p, bytes);
  }
  scratch(const scratch&) = delete;
};

}  // namespace host

inline detail::memory_account& account_of(cpu) { return host::account; }
inline int64 cached_bytes(cpu) { return int64(__atomic_load_n(&host::the_cache.bytes, __ATOMIC_RELAXED)); }
inline void release_cached(cpu) { host::empty_cache(); }

inline detail::storage_ref allocate(cpu, ::std::size_t bytes) {
  constexpr ::std::size_t header = (sizeof(detail::storage) + host::alignment - 1) / host::alignment * host::alignment;
  void* block = nullptr;
  if (bytes < SIZE_MAX / 4) {
    block = host::take_block(header + bytes, int64(bytes));
    if (block == nullptr) host::credit(int64(bytes));
  }
  if (block == nullptr) host::fail_allocation(bytes);
  auto* s = new (block) detail::storage;
  s->data = static_cast<char*>(block) + header;
  s->bytes = bytes;
  s->release = [](detail::storage* p) noexcept {
    const ::std::size_t size = p->bytes;
    if (detail::poison_memory && size > 0) ::std::memset(p->data, 0xff, size);
    p->~storage();
    host::give_block(p, header + size, int64(size));
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
