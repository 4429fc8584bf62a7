// Device memory: stream-ordered pools, and the order between streams that touch one block.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../eval/plan.hpp"
#include "../../memory/account.hpp"
#include "../../memory/stats.hpp"
#include "capture.hpp"
#include "runtime.hpp"

namespace cudarray::inline v0::backend {
namespace gpu {

/// A block knows the stream it was allocated on (home), the last one that wrote it, and the others that touched it.
struct block : detail::storage {
  static constexpr int most_users = 8;
  stream_ref home, writer;
  stream_ref users[most_users];
  int user_count = 0;          ///< streams other than home that touched it
  graph_pool* pool = nullptr;  ///< it lies in a graph's memory
  char lock = 0;
};

/// The account of a device's memory.
CUDARRAY_PUBLIC inline detail::memory_account& account(int ordinal) {
  static detail::memory_account accounts[most_devices];
  return accounts[ordinal];
}

/// Makes `later` wait for all work `earlier` was given so far.
inline void order(const stream_state& earlier, const stream_state& later) {
  cudaEvent_t e = nullptr;
  {
    const device_guard guard(earlier.ordinal);
    check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  cudaError_t r = cudaEventRecord(e, earlier.handle);
  if (r == cudaSuccess) r = cudaStreamWaitEvent(later.handle, e, 0);
  (void)cudaEventDestroy(e);
  check(r, "cudaStreamWaitEvent");
}

inline void release_block(detail::storage* s) noexcept;

/// Called before work on `now` reads or writes a block. On the stream that wrote last, with no other user, it is one
/// compare; else the work waits for the last write, and a write for every reader too. What is captured waits when it is
/// launched.
inline void use_on(detail::storage* s, const stream_ref& now, bool write) {
  if (now->captured != nullptr && s != nullptr) {
    if (s->release != release_block || static_cast<block*>(s)->pool != now->captured->pool)
      now->captured->note(s, write);
    return;
  }
  if (s == nullptr || s->release != release_block) return;  // borrowed memory: its owner orders its use
  auto& b = *static_cast<block*>(s);
  if (b.writer.get() == now.get() && __atomic_load_n(&b.user_count, __ATOMIC_ACQUIRE) == 0) return;
  while (__atomic_test_and_set(&b.lock, __ATOMIC_ACQUIRE)) {
  }
  struct unlock {
    char& lock;
    ~unlock() { __atomic_clear(&lock, __ATOMIC_RELEASE); }
  } const on_exit{b.lock};
  if (b.writer.get() != now.get()) order(*b.writer.get(), *now.get());
  bool known = now.get() == b.home.get();
  for (int i = 0; i < b.user_count; ++i) {
    known = known || b.users[i].get() == now.get();
    if (write && b.users[i].get() != now.get() && b.users[i].get() != b.writer.get())
      order(*b.users[i].get(), *now.get());
  }
  if (write && b.home.get() != now.get() && b.home.get() != b.writer.get()) order(*b.home.get(), *now.get());
  if (!known) {
    if (b.user_count == block::most_users) {  // fold the oldest user into home's order
      order(*b.users[0].get(), *b.home.get());
      b.users[0] = now;
    } else {
      b.users[b.user_count] = now;
      __atomic_store_n(&b.user_count, b.user_count + 1, __ATOMIC_RELEASE);
    }
  }
  if (write) b.writer = now;
}

/// Frees in home's order, after the last use on every stream. Never throws; after the runtime's end it does nothing.
inline void release_block(detail::storage* s) noexcept {
  auto* b = static_cast<block*>(s);
  if (b->pool != nullptr) {
    if (detail::poison_memory && b->home->captured != nullptr)
      (void)cudaMemsetAsync(b->data, 0xff, b->bytes, b->home->handle);
    if (b->writer.get() != b->home.get()) b->pool->used_on(b->writer);
    for (int i = 0; i < b->user_count; ++i) b->pool->used_on(b->users[i]);
    b->pool->give(b->data);
    b->pool->remove(b);
    b->pool->drop();
    delete b;
    return;
  }
  int before = -1;
  if (cudaGetDevice(&before) == cudaSuccess) {
    if (before != b->ordinal) (void)cudaSetDevice(b->ordinal);
    bool ordered = true;
    for (int i = 0; i < b->user_count; ++i) {
      cudaEvent_t e = nullptr;
      ordered = ordered && cudaEventCreateWithFlags(&e, cudaEventDisableTiming) == cudaSuccess &&
                cudaEventRecord(e, b->users[i]->handle) == cudaSuccess &&
                cudaStreamWaitEvent(b->home->handle, e, 0) == cudaSuccess;
      if (e) (void)cudaEventDestroy(e);
    }
    if (!ordered) (void)cudaDeviceSynchronize();
    if (b->data && detail::poison_memory) (void)cudaMemsetAsync(b->data, 0xff, b->bytes, b->home->handle);
    if (b->data) (void)cudaFreeAsync(b->data, b->home->handle);
    if (before != b->ordinal) (void)cudaSetDevice(before);
  }
  (void)cudaGetLastError();
  detail::credit(account(b->ordinal), b->bytes);
  delete b;
}

inline cudaMemPool_t pool_of(int ordinal) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, ordinal), "cudaDeviceGetDefaultMemPool");
  return pool;
}

/// Pools keep what is freed: a pair of calls costs about 1 µs then.
inline void keep_pool_memory(int ordinal) {
  uint64 all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool_of(ordinal), cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
}

/// The record in mapped host memory that kernels of a device report to.
CUDARRAY_PUBLIC inline detail::fault_record*& fault_memory(int ordinal) {
  static detail::fault_record* records[most_devices];
  return records[ordinal];
}

/// Throws what kernels reported since the last look.
inline void throw_reported(int ordinal) {
  detail::fault_record* const f = fault_memory(ordinal);
  if (f == nullptr || f->function == nullptr) return;
  struct reset {
    detail::fault_record* f;
    ~reset() { f->function = nullptr; }
  } const on_exit{f};
  detail::throw_fault(*f);
}

/// Waits for this thread's stream and throws what went wrong in it.
inline void wait(int ordinal) {
  refuse_captured(current(ordinal), "waiting for the device");
  check(cudaStreamSynchronize(current(ordinal)->handle), "cudaStreamSynchronize");
  throw_reported(ordinal);
}

}  // namespace gpu

/// Memory whose aligned accesses of 16 bytes are all its own, those that reach over its end, too.
CUDARRAY_PUBLIC inline detail::storage_ref allocate(cuda device, ::std::size_t bytes) {
  const ::std::size_t rounded = (bytes + 15) & ~::std::size_t(15);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  const gpu::device_guard guard(device.ordinal);
  static bool pools_kept[gpu::most_devices];
  if (!__atomic_load_n(&pools_kept[device.ordinal], __ATOMIC_RELAXED)) {
    gpu::keep_pool_memory(device.ordinal);
    __atomic_store_n(&pools_kept[device.ordinal], true, __ATOMIC_RELAXED);
  }
  gpu::graph_pool* const pool = stream->captured != nullptr ? stream->captured->pool : nullptr;
  void* data = nullptr;
  if (pool != nullptr) {
    data = pool->take(bytes > 0 ? bytes : 1);
  } else {
    detail::charge(gpu::account(device.ordinal), bytes, "cuda");
    const cudaError_t e = bytes > 0 ? cudaMallocAsync(&data, rounded, stream->handle) : cudaSuccess;
    if (e != cudaSuccess) {
      detail::credit(gpu::account(device.ordinal), bytes);
      gpu::check(e, detail::cat("allocating ", bytes, " bytes").c_str());
    }
  }
  auto* b = new gpu::block;
  if (pool != nullptr) {
    b->pool = pool;
    pool->keep();
    pool->add(b);
  }
  b->data = data;
  b->bytes = bytes;
  b->ordinal = device.ordinal;
  b->release = gpu::release_block;
  b->home = b->writer = stream;
  detail::count(detail::counters.allocations);
  return detail::storage_ref(b);
}

inline void copy_to_host(cuda device, void* host, detail::storage& s, ::std::size_t offset, ::std::size_t bytes) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  gpu::refuse_captured(stream, "reading an array on the host (item, to, printing, a mask)");
  gpu::use_on(&s, stream, false);
  gpu::check(cudaMemcpyAsync(host, static_cast<const char*>(s.data) + offset, bytes, cudaMemcpyDefault, stream->handle),
             "cudaMemcpyAsync");
  gpu::wait(device.ordinal);
}

inline void copy_from_host(cuda device, detail::storage& s, ::std::size_t offset, const void* host,
                           ::std::size_t bytes) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  gpu::refuse_captured(stream, "copying from the host");
  gpu::use_on(&s, stream, true);
  gpu::check(cudaMemcpyAsync(static_cast<char*>(s.data) + offset, host, bytes, cudaMemcpyDefault, stream->handle),
             "cudaMemcpyAsync");
  gpu::check(cudaStreamSynchronize(stream->handle), "cudaStreamSynchronize");
}

inline void synchronize_device(cuda device) {
  const gpu::device_guard guard(device.ordinal);
  gpu::wait(device.ordinal);
}

inline bool capture_random(cuda device, uint64 blocks, detail::random_source& source) {
  gpu::capture* const c = gpu::current(device.ordinal)->captured;
  if (c == nullptr) return false;
  if (c->random.base == nullptr) {
    c->random = source;
    c->random.base = static_cast<const uint64*>(c->pool->take(sizeof(uint64)));
  }
  source.block = c->random_blocks;
  source.base = c->random.base;
  c->random_blocks += blocks;
  return true;
}

inline detail::memory_account& account_of(cuda device) {
  (void)gpu::current(device.ordinal);  // throws where there is no such device
  return gpu::account(device.ordinal);
}
inline int64 cached_bytes(cuda device) {
  uint64 reserved = 0, used = 0;
  const cudaMemPool_t pool = gpu::pool_of(device.ordinal);
  gpu::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "cudaMemPoolGetAttribute");
  gpu::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "cudaMemPoolGetAttribute");
  return int64(reserved - used);
}
inline void release_cached(cuda device) {
  const gpu::device_guard guard(device.ordinal);
  gpu::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  gpu::check(cudaMemPoolTrimTo(gpu::pool_of(device.ordinal), 0), "cudaMemPoolTrimTo");
}

inline detail::fault_record* fault_slot(cuda device) {
  detail::fault_record*& record = gpu::fault_memory(device.ordinal);
  detail::fault_record* known = __atomic_load_n(&record, __ATOMIC_ACQUIRE);
  if (known == nullptr) {
    const gpu::device_guard guard(device.ordinal);
    void* p = nullptr;
    gpu::check(cudaHostAlloc(&p, sizeof(detail::fault_record), cudaHostAllocMapped | cudaHostAllocPortable),
               "cudaHostAlloc");
    auto* const made = new (p) detail::fault_record;
    if (__atomic_compare_exchange_n(&record, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) known = made;
    else (void)cudaFreeHost(p);  // another thread was first
  }
  return known;
}

}  // namespace cudarray::inline v0::backend
