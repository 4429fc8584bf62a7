// Streams and events: shared, used again, and what kernels on them report.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "../../../eval/plan.hpp"
#include "../plan/threads.hpp"
#include "runtime.hpp"

namespace cudarray::inline v0 {
namespace backend::gpu {

struct capture;
struct watched_graph;

/// A stream shared by those who use it. A stream is never destroyed: one that nobody refers to any more waits for the
/// next who wants one, and is given to that one when its work is done.
struct stream_state {
  cudaStream_t handle = nullptr;
  int ordinal = 0;
  unsigned flags = 0;
  /// Counters in device memory, all zero between two kernels: a kernel whose blocks have to know which of them is the
  /// last counts there.
  uint32* tickets = nullptr;
  detail::fault_record* faults = nullptr;  ///< in mapped host memory, where the stream's kernels report
  int statements = 0;                      ///< so many may have reported there
  void* workspace = nullptr;               ///< cuBLAS's; allocated by the first product
  ::std::vector<watched_graph> graphs;     ///< launched on it: their kernels report to them
  char lock = 0;                           ///< of workspace and graphs
  capture* captured = nullptr;             ///< what its work becomes part of, if it is being captured
  bool gone = false;                       ///< the graph that it captured is no more
  unsigned owners = 0;                     ///< how often it was given to someone
  int64 references = 0;
  stream_state *next = nullptr, *next_idle = nullptr;  ///< in the lists of its device
};

/// Nobody refers to it any more: its work goes on.
inline void retire(stream_state* s) noexcept;

class stream_ref {
 public:
  stream_ref() = default;
  explicit stream_ref(stream_state* s) : s_(s) { keep(); }
  stream_ref(const stream_ref& o) : s_(o.s_) { keep(); }
  stream_ref(stream_ref&& o) noexcept : s_(::std::exchange(o.s_, nullptr)) {}
  stream_ref& operator=(stream_ref o) noexcept {
    ::std::swap(s_, o.s_);
    return *this;
  }
  ~stream_ref() {
    if (s_ && __atomic_sub_fetch(&s_->references, int64(1), __ATOMIC_ACQ_REL) == 0) retire(s_);
  }
  stream_state* get() const { return s_; }
  stream_state* operator->() const { return s_; }
  stream_state& operator*() const { return *s_; }

 private:
  void keep() {
    if (s_) __atomic_fetch_add(&s_->references, int64(1), __ATOMIC_RELAXED);
  }
  stream_state* s_ = nullptr;
};

/// The stream that a graph was captured on, where its kernels report, and the number of its last launch among the
/// statements of the stream it was launched on.
struct watched_graph {
  stream_ref captured;
  int statement;
};

/// Work that a stream was given. Where the stream has another owner since, the work is done.
struct stream_use {
  stream_state* stream = nullptr;
  unsigned owner = 0;
  stream_use() = default;
  explicit stream_use(stream_state* s) : stream(s), owner(__atomic_load_n(&s->owners, __ATOMIC_RELAXED)) {}
  bool done() const { return __atomic_load_n(&stream->owners, __ATOMIC_ACQUIRE) != owner; }
};

/// The streams of a device.
struct device_streams {
  /// Those that nobody refers to, the first the longest.
  struct queue {
    stream_state *oldest = nullptr, *newest = nullptr;
  };
  stream_state* all = nullptr;  ///< grows at its head, so that it can be walked without a lock
  queue idle[2];                ///< with cudaStreamDefault, and cudaStreamNonBlocking
  stream_ref first;             ///< the stream that every thread starts with, if `started`
  bool started = false;
  detail::fault_record* records = nullptr;  ///< for streams to come, `left` of them
  int left = 0;
  ::std::vector<detail::fault_record> lost;  ///< what was reported on streams that have other owners since
  char lock = 0;

  stream_state* take_oldest(queue& q) {
    stream_state* const s = q.oldest;
    if (s != nullptr) q.oldest = s->next_idle;
    return s;
  }
  void add(queue& q, stream_state* s) {
    s->next_idle = nullptr;
    if (q.oldest == nullptr) q.oldest = s;
    else q.newest->next_idle = s;
    q.newest = s;
  }
};
CUDARRAY_PUBLIC inline device_streams& streams_of(int ordinal) {
  static device_streams* const of = new device_streams[most_devices];  // lives as long as the process
  return of[ordinal];
}

inline void retire(stream_state* s) noexcept {
  if (s->workspace != nullptr) {
    const device_guard device(s->ordinal, ::std::nothrow);
    (void)cudaFreeAsync(::std::exchange(s->workspace, nullptr), s->handle);
  }
  device_streams& d = streams_of(s->ordinal);
  const spin_guard guard(d.lock);
  d.add(d.idle[s->flags], s);
}

inline bool is_later(int statement, int than) { return int(unsigned(statement) - unsigned(than)) > 0; }

/// Throws what kernels that report to a stream's record have left there, and takes it out; nothing of a statement after
/// the one with the number `last`, if that is given.
inline void throw_reported(stream_state& s, const int* last = nullptr) {
  detail::fault_record fault;
  {
    const spin_guard guard(s.lock);
    if (!s.faults->is_set()) return;
    fault = *s.faults;
    if (last != nullptr && is_later(fault.statement, *last)) return;
    detail::store_release<const char*>(s.faults->function, nullptr);
  }
  detail::throw_fault(fault);
}

/// Forgets graphs that are gone; these have waited for their launches. Returns them, for they may not be dropped under
/// the lock, which the caller holds.
inline ::std::vector<watched_graph> forget_graphs(stream_state& s) {
  ::std::vector<watched_graph> kept, forgotten;
  for (watched_graph& g : s.graphs) {
    const bool over = __atomic_load_n(&g.captured->gone, __ATOMIC_ACQUIRE) && !g.captured->faults->is_set();
    (over ? forgotten : kept).push_back(::std::move(g));
  }
  s.graphs.swap(kept);
  return forgotten;
}

/// Throws what kernels of a stream, and of graphs launched on it, have reported, up to a statement if one is given. The
/// caller has waited for them.
inline void throw_faults(stream_state& s, const int* last = nullptr) {
  throw_reported(s, last);
  stream_ref found;
  ::std::vector<watched_graph> forgotten;
  {
    const spin_guard guard(s.lock);
    if (s.graphs.empty()) return;
    for (const watched_graph& g : s.graphs)
      if ((last == nullptr || !is_later(g.statement, *last)) && g.captured->faults->is_set()) found = g.captured;
    forgotten = forget_graphs(s);
  }
  if (found.get() != nullptr) throw_reported(*found);
}

/// A graph is about to be launched on a stream.
inline void watch_graph(stream_state& s, const stream_ref& captured) {
  constexpr ::std::size_t few = 16;
  ::std::vector<watched_graph> forgotten;
  const spin_guard guard(s.lock);
  const int statement = __atomic_add_fetch(&s.statements, 1, __ATOMIC_RELAXED);
  for (watched_graph& known : s.graphs)
    if (known.captured.get() == captured.get()) {
      known.statement = statement;
      return;
    }
  if (s.graphs.size() >= few) forgotten = forget_graphs(s);
  s.graphs.push_back({captured, statement});
}

/// A record for one more stream. The caller holds the lock of the device's streams.
inline detail::fault_record* new_record(device_streams& d) {
  if (d.left == 0) {
    constexpr int some = 64;
    void* p = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // pinning memory is safe, whoever captures meanwhile
    check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
    const cudaError_t e =
        cudaHostAlloc(&p, some * sizeof(detail::fault_record), cudaHostAllocMapped | cudaHostAllocPortable);
    (void)cudaThreadExchangeStreamCaptureMode(&mode);
    check(e, "cudaHostAlloc");
    d.records = static_cast<detail::fault_record*>(p);
    for (int i = 0; i < some; ++i) new (d.records + i) detail::fault_record;
    d.left = some;
  }
  --d.left;
  return d.records++;
}

/// Waits for all streams of a device but those that are captured, on which nothing runs: waiting for the device itself
/// would end the captures of other threads.
inline void wait_for_streams(int ordinal) {
  const device_guard guard(ordinal);
  for (const stream_state* s = __atomic_load_n(&streams_of(ordinal).all, __ATOMIC_ACQUIRE); s != nullptr; s = s->next) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (s->flags == cudaStreamNonBlocking) continue;  // a graph's
    check(cudaStreamIsCapturing(s->handle, &status), "cudaStreamIsCapturing");
    if (status == cudaStreamCaptureStatusNone) check(cudaStreamSynchronize(s->handle), "cudaStreamSynchronize");
  }
}

inline cudaMemPool_t pool_of(int ordinal) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, ordinal), "cudaDeviceGetDefaultMemPool");
  return pool;
}

/// Allocates on a stream. Where there is too little memory it waits for what the streams of the device free, gives what
/// the pool holds back to the system, and tries once more.
inline cudaError_t allocate_on(int ordinal, cudaStream_t stream, void** data, ::std::size_t bytes) {
  const cudaError_t e = cudaMallocAsync(data, bytes, stream);
  if (e != cudaErrorMemoryAllocation) return e;
  (void)cudaGetLastError();
  wait_for_streams(ordinal);
  check(cudaMemPoolTrimTo(pool_of(ordinal), 0), "cudaMemPoolTrimTo");
  return cudaMallocAsync(data, bytes, stream);
}
inline cudaError_t allocate_on(const stream_state& s, void** data, ::std::size_t bytes) {
  return allocate_on(s.ordinal, s.handle, data, bytes);
}

/// The caller holds the lock of the device's streams, and has made the device the current one.
inline stream_state* new_stream(int ordinal, unsigned flags) {
  struct parts {
    cudaStream_t handle = nullptr;
    void* tickets = nullptr;
    ~parts() {
      if (tickets != nullptr) (void)cudaFreeAsync(tickets, handle);
      if (handle != nullptr) (void)cudaStreamDestroy(handle);
    }
  } p;
  constexpr ::std::size_t bytes = most_tickets * sizeof(uint32);
  device_streams& d = streams_of(ordinal);
  check(cudaStreamCreateWithFlags(&p.handle, flags), "cudaStreamCreateWithFlags");
  check(allocate_on(ordinal, p.handle, &p.tickets, bytes), "cudaMallocAsync");
  check(cudaMemsetAsync(p.tickets, 0, bytes, p.handle), "cudaMemsetAsync");
  detail::fault_record* const record = new_record(d);
  auto* s = new stream_state;
  s->faults = record;
  s->handle = ::std::exchange(p.handle, nullptr);
  s->tickets = static_cast<uint32*>(::std::exchange(p.tickets, nullptr));
  s->ordinal = ordinal;
  s->flags = flags;
  s->next = d.all;
  __atomic_store_n(&d.all, s, __ATOMIC_RELEASE);
  return s;
}

/// A stream that nobody else refers to. One whose work is captured does not wait for the legacy stream
/// (cudaStreamNonBlocking): other threads may use that meanwhile.
inline stream_ref make_stream(int ordinal, unsigned flags = cudaStreamDefault) {
  constexpr int tries = 4;
  const device_guard device(ordinal);
  device_streams& d = streams_of(ordinal);
  ::std::vector<watched_graph> watched;  // dropped when the lock is not held any more
  const spin_guard guard(d.lock);
  for (int i = 0; i < tries; ++i) {
    stream_state* const s = d.take_oldest(d.idle[flags]);
    if (s == nullptr) break;
    if (cudaStreamQuery(s->handle) != cudaSuccess) {
      d.add(d.idle[flags], s);
      continue;
    }
    if (s->faults->is_set()) {
      d.lost.push_back(*s->faults);
      detail::store_release<const char*>(s->faults->function, nullptr);
    }
    watched.swap(s->graphs);  // their records are found by who waits for the device
    s->gone = false;
    __atomic_store_n(&s->owners, s->owners + 1, __ATOMIC_RELEASE);
    return stream_ref(s);
  }
  return stream_ref(new_stream(ordinal, flags));
}

/// A thread's current streams, a null one meaning the first stream, and the device that it captures work of, if any.
struct thread_state {
  stream_ref streams[most_devices];
  int captures = -1;
};
CUDARRAY_PUBLIC inline thread_state& this_thread() {
  static thread_local thread_state state;
  return state;
}

CUDARRAY_NO_INLINE inline void start(device_streams& d, int ordinal) {
  stream_ref made = make_stream(ordinal);
  const spin_guard guard(d.lock);
  if (d.started) return;  // another thread was first; what was made waits for the next who wants one
  ::std::swap(d.first, made);
  __atomic_store_n(&d.started, true, __ATOMIC_RELEASE);
}

/// The stream of a device that every thread starts with.
inline const stream_ref& first_stream(int ordinal) {
  device_streams& d = streams_of(ordinal);
  if (!__atomic_load_n(&d.started, __ATOMIC_ACQUIRE)) start(d, ordinal);
  return d.first;
}

/// The current stream of a device in this thread. Throws device_error for a device that is not there, and cuda_error
/// where the thread captures work of another device.
inline const stream_ref& current(int ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) detail::fail<device_error>("cuda: there is no device ", ordinal);
  const thread_state& t = this_thread();
  if (t.captures >= 0 && t.captures != ordinal)
    detail::fail<cuda_error>("graph: work on device ", ordinal, " cannot be captured in a graph of device ",
                             t.captures);
  return t.streams[ordinal].get() ? t.streams[ordinal] : first_stream(ordinal);
}

/// Waits for what one stream was given, and throws what kernels reported there.
inline void wait_for(stream_state& s) {
  const device_guard guard(s.ordinal);
  check(cudaStreamSynchronize(s.handle), "cudaStreamSynchronize");
  throw_faults(s);
}

/// Waits for all streams of a device, and throws what kernels reported on any.
inline void wait_for_device(int ordinal) {
  device_streams& d = streams_of(ordinal);
  wait_for_streams(ordinal);
  for (stream_state* s = __atomic_load_n(&d.all, __ATOMIC_ACQUIRE); s != nullptr; s = s->next) throw_faults(*s);
  detail::fault_record lost;
  {
    const spin_guard guard(d.lock);
    if (d.lost.empty()) return;
    lost = d.lost.back();
    d.lost.pop_back();
  }
  detail::throw_fault(lost);
}

}  // namespace backend::gpu

/// A CUDA stream: shared handle. The library gives its stream to the next who wants one when neither a handle nor an
/// array's memory needs it any more.
///     ca::stream s;
///     { ca::stream_scope scope(s); c(ca::_) = a + b; }  // runs on s
class stream {
 public:
  explicit stream(cuda device = {}) : state_(backend::gpu::make_stream(device.ordinal)) {}
  explicit stream(backend::gpu::stream_ref s) : state_(::std::move(s)) {}
  /// The handle for CUDA's own functions.
  cudaStream_t get() const { return state_->handle; }
  cuda device() const { return {state_->ordinal}; }
  /// Waits for the work given so far. Throws cuda_error, and what that work reported (index_error).
  void synchronize() const { backend::gpu::wait_for(*state_); }
  const backend::gpu::stream_ref& state() const { return state_; }
  friend bool operator==(const stream& a, const stream& b) { return a.state_.get() == b.state_.get(); }
  friend bool operator!=(const stream& a, const stream& b) { return !(a == b); }

 private:
  backend::gpu::stream_ref state_;
};

/// This thread's current stream on a device.
inline stream current_stream(cuda device = {}) { return stream(backend::gpu::current(device.ordinal)); }

/// Makes a stream this thread's current one, for the scope.
class stream_scope {
 public:
  /// Throws cuda_error where this thread captures a graph.
  explicit stream_scope(const stream& s) : ordinal_(s.device().ordinal) {
    if (backend::gpu::current(ordinal_)->captured != nullptr)
      detail::fail<cuda_error>("graph: work on another stream cannot be captured");
    before_ = ::std::exchange(backend::gpu::this_thread().streams[ordinal_], s.state());
  }
  ~stream_scope() { backend::gpu::this_thread().streams[ordinal_] = before_; }
  stream_scope(const stream_scope&) = delete;
  stream_scope& operator=(const stream_scope&) = delete;

 private:
  int ordinal_;
  backend::gpu::stream_ref before_;
};

/// A point in a stream's work: to wait for, and to time with.
class event {
 public:
  explicit event(cuda device = {}) : ordinal_(device.ordinal) {
    const backend::gpu::device_guard guard(ordinal_);
    backend::gpu::check(cudaEventCreate(&handle_), "cudaEventCreate");
  }
  ~event() {
    const backend::gpu::device_guard guard(ordinal_, ::std::nothrow);
    (void)cudaEventDestroy(handle_);
  }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record(const stream& s) {
    const backend::gpu::device_guard guard(ordinal_);
    const int statements = __atomic_load_n(&s.state()->statements, __ATOMIC_RELAXED);
    backend::gpu::check(cudaEventRecord(handle_, s.get()), "cudaEventRecord");
    recorded_ = s.state();
    statements_ = statements;
  }
  void record() { record(current_stream(cuda{ordinal_})); }
  /// Waits for the point. Throws cuda_error, and what its stream's work up to there reported (index_error).
  void synchronize() const {
    const backend::gpu::device_guard guard(ordinal_);
    backend::gpu::check(cudaEventSynchronize(handle_), "cudaEventSynchronize");
    if (recorded_.get() != nullptr) backend::gpu::throw_faults(*recorded_, &statements_);
  }
  /// Makes later work of a stream wait for this point.
  void wait(const stream& s) const {
    const backend::gpu::device_guard guard(s.device().ordinal);
    backend::gpu::check(cudaStreamWaitEvent(s.get(), handle_, 0), "cudaStreamWaitEvent");
  }
  cudaEvent_t get() const { return handle_; }
  cuda device() const { return {ordinal_}; }

 private:
  cudaEvent_t handle_ = nullptr;
  int ordinal_;
  backend::gpu::stream_ref recorded_;
  int statements_ = 0;  ///< that the stream had then
};

/// Milliseconds from one recorded event to a later one; waits for it.
inline float elapsed_ms(const event& from, const event& to) {
  to.synchronize();
  const backend::gpu::device_guard guard(to.device().ordinal);
  float ms = 0;
  backend::gpu::check(cudaEventElapsedTime(&ms, from.get(), to.get()), "cudaEventElapsedTime");
  return ms;
}

}  // namespace cudarray::inline v0
