// Device memory: stream-ordered pools, and the order between streams that touch one block.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../../memory/account.hpp"
#include "../../../memory/stats.hpp"
#include "capture.hpp"
#include "streams.hpp"

namespace cudarray::inline v0::backend {
namespace gpu {

/// A block knows the stream it was allocated on (home), the last one that wrote it, and those that were ordered behind
/// that write since and read it. It does not keep them from being given to other owners: their work is done then.
struct block : detail::storage {
  static constexpr int most_readers = 8;
  stream_use home, writer, readers[most_readers];
  int reader_count = 0;
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
  const device_guard guard(earlier.ordinal);
  cudaEvent_t e = nullptr;
  check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  cudaError_t r = cudaEventRecord(e, earlier.handle);
  if (r == cudaSuccess) r = cudaStreamWaitEvent(later.handle, e, 0);
  (void)cudaEventDestroy(e);
  check(r, "cudaStreamWaitEvent");
}

inline void order(const stream_use& earlier, const stream_state& later) {
  if (earlier.stream != &later && !earlier.done()) order(*earlier.stream, later);
}

inline void release_block(detail::storage* s) noexcept;

[[noreturn]] CUDARRAY_COLD inline void fail_ordinals(int a, int b) {
  detail::fail<device_error>("cuda: operands on devices ", a, " and ", b, ": move one with ca::to");
}

/// Called before work on `now` reads or writes a block. On the stream that wrote last, with no reader, it is one
/// compare; else the work waits for the last write, and a write for every reader too. What is captured waits when it is
/// launched. Throws device_error for memory of another device.
inline void use_on(detail::storage* s, const stream_ref& now, bool write) {
  if (s == nullptr) return;
  if (s->ordinal != now->ordinal && s->bytes > 0) fail_ordinals(now->ordinal, s->ordinal);
  if (now->captured != nullptr) {
    if (s->release != release_block || static_cast<block*>(s)->pool != now->captured->pool)
      now->captured->note(s, write);
    return;
  }
  if (s->release != release_block) return;  // borrowed memory: its owner orders its use
  auto& b = *static_cast<block*>(s);
  stream_state* const here = now.get();
  const bool wrote = b.writer.stream == here && !b.writer.done();
  if (wrote && (!write || __atomic_load_n(&b.reader_count, __ATOMIC_ACQUIRE) == 0)) return;
  const spin_guard guard(b.lock);
  stream_use* const end = b.readers + b.reader_count;
  if (write) {
    order(b.writer, *here);
    for (const stream_use* r = b.readers; r != end; ++r) order(*r, *here);
    __atomic_store_n(&b.reader_count, 0, __ATOMIC_RELEASE);  // whoever waits for this write waits for them
    b.writer = stream_use(here);
    return;
  }
  for (const stream_use* r = b.readers; r != end; ++r)
    if (r->stream == here && !r->done()) return;
  order(b.writer, *here);
  if (b.reader_count == block::most_readers) {  // whoever waits for this reader waits for the oldest
    order(b.readers[0], *here);
    b.readers[0] = stream_use(here);
  } else {
    *end = stream_use(here);
    __atomic_store_n(&b.reader_count, b.reader_count + 1, __ATOMIC_RELEASE);
  }
}

/// `order` for a destructor.
inline void order_or_wait(const stream_use& earlier, const stream_state& later) noexcept {
  if (earlier.stream == &later || earlier.done()) return;
  cudaEvent_t e = nullptr;
  const bool ordered = cudaEventCreateWithFlags(&e, cudaEventDisableTiming) == cudaSuccess &&
                       cudaEventRecord(e, earlier.stream->handle) == cudaSuccess &&
                       cudaStreamWaitEvent(later.handle, e, 0) == cudaSuccess;
  if (e != nullptr) (void)cudaEventDestroy(e);
  if (!ordered) (void)cudaStreamSynchronize(earlier.stream->handle);
}

/// Frees in the order of home, or of the stream that threads start with where home has another owner, after the last
/// use on every stream. Never throws; after the runtime's end it does nothing.
inline void release_block(detail::storage* s) noexcept {
  auto* b = static_cast<block*>(s);
  if (b->pool != nullptr) {
    const stream_state* const home = b->home.stream;
    if (detail::poison_memory && home->captured != nullptr)
      (void)cudaMemsetAsync(b->data, 0xff, b->bytes, home->handle);
    if (b->writer.stream != home) b->pool->used_on(b->writer);
    for (int i = 0; i < b->reader_count; ++i) b->pool->used_on(b->readers[i]);
    b->pool->give(b->data);
    b->pool->remove(b);
    b->pool->drop();
    delete b;
    return;
  }
  if (b->data != nullptr) {
    if (const device_guard device(b->ordinal, ::std::nothrow); device) {
      const device_streams& d = streams_of(b->ordinal);
      const stream_state& last = b->home.done() && d.started ? *d.first : *b->home.stream;
      order_or_wait(b->writer, last);
      for (int i = 0; i < b->reader_count; ++i) order_or_wait(b->readers[i], last);
      if (detail::poison_memory) (void)cudaMemsetAsync(b->data, 0xff, b->bytes, last.handle);
      (void)cudaFreeAsync(b->data, last.handle);
    }
  }
  (void)cudaGetLastError();
  detail::credit(account(b->ordinal), b->bytes);
  delete b;
}

/// Pools keep what is freed: a pair of calls costs about 1 µs then.
inline void keep_pool_memory(int ordinal) {
  uint64 all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool_of(ordinal), cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
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
    try {
      if (bytes > 0)
        if (const cudaError_t e = gpu::allocate_on(*stream, &data, rounded); e != cudaSuccess)
          gpu::check(e, detail::cat("allocating ", bytes, " bytes").c_str());
    } catch (...) {
      detail::credit(gpu::account(device.ordinal), bytes);
      throw;
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
  b->home = b->writer = gpu::stream_use(stream.get());
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
  gpu::wait_for(*stream);
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

namespace gpu {
/// Two pieces of pinned memory: one is copied to the device while the other is filled. Pinning is safe, whoever
/// captures meanwhile.
class staging {
 public:
  static constexpr ::std::size_t piece = ::std::size_t(4) << 20;
  explicit staging(const stream_state& stream) : stream_(stream) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    cudaError_t e = cudaHostAlloc(&memory_, 2 * piece, cudaHostAllocDefault);
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    for (cudaEvent_t& c : copied_)
      if (e == cudaSuccess) e = cudaEventCreateWithFlags(&c, cudaEventDisableTiming);
    whole_ = e == cudaSuccess;
    if (!whole_) (void)cudaGetLastError();
  }
  ~staging() {
    if (whole_) (void)cudaStreamSynchronize(stream_.handle);
    for (const cudaEvent_t e : copied_)
      if (e != nullptr) (void)cudaEventDestroy(e);
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    if (memory_ != nullptr) (void)cudaFreeHost(memory_);
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
  }
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  explicit operator bool() const { return whole_; }
  void copy(char* to, ::std::size_t bytes, const detail::byte_source& source) {
    for (::std::size_t at = 0, i = 0; at < bytes; at += piece, ++i) {
      const ::std::size_t n = bytes - at < piece ? bytes - at : piece;
      char* const here = static_cast<char*>(memory_) + i % 2 * piece;
      if (i >= 2) check(cudaEventSynchronize(copied_[i % 2]), "cudaEventSynchronize");
      source.fill(source.of, here, n);
      check(cudaMemcpyAsync(to + at, here, n, cudaMemcpyHostToDevice, stream_.handle), "cudaMemcpyAsync");
      check(cudaEventRecord(copied_[i % 2], stream_.handle), "cudaEventRecord");
    }
    check(cudaStreamSynchronize(stream_.handle), "cudaStreamSynchronize");
  }

 private:
  const stream_state& stream_;
  void* memory_ = nullptr;
  cudaEvent_t copied_[2] = {};
  bool whole_ = false;
};
}  // namespace gpu

inline bool copy_from_source(cuda device, detail::storage& s, ::std::size_t bytes, const detail::byte_source& source) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  gpu::refuse_captured(stream, "copying from the host");
  gpu::staging pieces(*stream);
  if (!pieces) return false;
  gpu::use_on(&s, stream, true);
  pieces.copy(static_cast<char*>(s.data), bytes, source);
  return true;
}

namespace gpu {
/// Null is the legacy default stream, however a file is compiled.
inline cudaStream_t stream_of_consumer(void* stream) {
  return stream == nullptr ? cudaStreamLegacy : static_cast<cudaStream_t>(stream);
}
inline bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  (void)cudaGetLastError();
  return true;
}
}  // namespace gpu

inline void let_consumer_wait(cuda device, detail::storage& s, void* stream, bool writes) {
  const gpu::device_guard guard(device.ordinal);
  const gpu::stream_ref& now = gpu::current(device.ordinal);
  gpu::refuse_captured(now, "handing an array to another library");
  gpu::stream_state consumer;
  consumer.handle = gpu::stream_of_consumer(stream);
  if (gpu::is_captured(consumer.handle))
    detail::fail<cuda_error>("to_dlpack: the consumer's stream is being captured: hand the array over before");
  gpu::use_on(&s, now, writes);
  gpu::order(*now, consumer);
}
/// A stream that is captured has nothing under way. What cannot be ordered is waited for.
inline void wait_for_consumer(cuda device, detail::storage& s, void* stream) noexcept {
  const gpu::device_guard guard(device.ordinal, ::std::nothrow);
  gpu::stream_state consumer;
  consumer.handle = gpu::stream_of_consumer(stream);
  consumer.ordinal = device.ordinal;
  if (gpu::is_captured(consumer.handle)) return;
  try {
    // not the current stream of a thread that captures
    const gpu::stream_ref& later =
        gpu::this_thread().captures < 0 ? gpu::current(device.ordinal) : gpu::first_stream(device.ordinal);
    gpu::order(consumer, *later);
    gpu::use_on(&s, later, true);
  } catch (...) {
    (void)cudaStreamSynchronize(consumer.handle);
    (void)cudaGetLastError();
  }
}
inline void finish_borrowing(cuda device) noexcept {
  try {
    gpu::wait_for_streams(device.ordinal);
  } catch (...) {
    (void)cudaGetLastError();
  }
}

inline void synchronize_device(cuda device) {
  gpu::refuse_captured(gpu::current(device.ordinal), "waiting for the device");
  gpu::wait_for_device(device.ordinal);
}

inline bool capture_random(cuda device, uint64 blocks, detail::random_source& source) {
  gpu::capture* const c = gpu::current(device.ordinal)->captured;
  if (c == nullptr) return false;
  if (c->random.base == nullptr) {
    c->random = source;
    c->random.base = static_cast<const uint64*>(c->pool->take_alone(sizeof(uint64)));
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
  const gpu::device_guard guard(device.ordinal);
  uint64 reserved = 0, used = 0;
  const cudaMemPool_t pool = gpu::pool_of(device.ordinal);
  gpu::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "cudaMemPoolGetAttribute");
  gpu::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "cudaMemPoolGetAttribute");
  return int64(reserved - used);
}
inline void release_cached(cuda device) {
  const gpu::device_guard guard(device.ordinal);
  gpu::wait_for_streams(device.ordinal);
  gpu::check(cudaMemPoolTrimTo(gpu::pool_of(device.ordinal), 0), "cudaMemPoolTrimTo");
}

inline detail::fault_sink fault_slot(cuda device) {
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  if (stream->captured != nullptr) stream->captured->reports = true;
  return {stream->faults, __atomic_add_fetch(&stream->statements, 1, __ATOMIC_RELAXED)};
}

}  // namespace cudarray::inline v0::backend
