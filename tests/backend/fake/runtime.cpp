// SPDX-License-Identifier: MIT
#include "runtime.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

/// The order of work: of each stream, how much of it is known to come before.
using order_clock = std::map<const void*, unsigned long>;

struct CUstream_st {
  int device = 0;
  bool busy = false, capturing = false;
  order_clock clock;
  std::vector<fake::use> captured;
};
struct CUevent_st {
  order_clock clock;
};
struct CUgraph_st {
  std::vector<fake::use> uses;
};
struct CUgraphExec_st {
  std::vector<fake::use> uses;
};

namespace {

struct moment {
  const void* stream = nullptr;
  unsigned long tick = 0;
};
struct memory {
  std::size_t bytes = 0;
  int device = 0;
  moment written;
  std::vector<moment> read;
};
struct failure {
  int countdown = 0;
  cudaError_t error = cudaSuccess;
  bool lasting = false;
};

constexpr int devices = 2;
struct world {
  std::recursive_mutex lock;
  fake::counts counts;
  std::vector<std::string> violations;
  std::map<const char*, memory> blocks;  // by address
  std::set<cudaStream_t> streams;
  std::map<std::string, failure> failures;
  order_clock done;  // what the host knows to be done
  long limit = 0, pooled = 0;
  int captures = 0;
};
world& w() {
  static world* const one = new world;
  return *one;
}
using guard = std::lock_guard<std::recursive_mutex>;
thread_local int current = 0;
thread_local std::set<int> contexts;   // of this thread's calls
thread_local std::vector<int> pushed;  // devices that were current when a context was pushed
thread_local cudaError_t pending = cudaSuccess;

/// What a call returns: the error that it was told to fail with, if it is time.
cudaError_t result(const char* function) {
  const auto at = w().failures.find(function);
  if (at == w().failures.end() || --at->second.countdown > 0) return cudaSuccess;
  const cudaError_t e = at->second.error;
  if (!at->second.lasting) w().failures.erase(at);
  return pending = e;
}

bool before(const moment& m, cudaStream_t s) {
  if (m.stream == nullptr) return true;
  for (const order_clock* known : {&s->clock, &w().done}) {
    const auto at = known->find(m.stream);
    if (at != known->end() && at->second >= m.tick) return true;
  }
  return false;
}
moment next(cudaStream_t s) { return {s, ++s->clock[s]}; }
void join(order_clock& to, const order_clock& from) {
  for (const auto& [stream, tick] : from)
    if (to[stream] < tick) to[stream] = tick;
}
std::map<const char*, memory>::iterator find(const void* p) {
  auto at = w().blocks.upper_bound(static_cast<const char*>(p));
  if (at == w().blocks.begin()) return w().blocks.end();
  --at;
  return static_cast<const char*>(p) < at->first + at->second.bytes ? at : w().blocks.end();
}
void wrong(const char* what) { w().violations.push_back(what); }

void touch(cudaStream_t s, const fake::use& u) {
  const auto at = find(u.data);
  if (at == w().blocks.end()) return;
  memory& m = at->second;
  if (m.device != s->device) wrong("a kernel used memory of another device");
  if (!before(m.written, s))
    wrong(u.write ? "a write was not ordered behind a write" : "a read was not ordered behind a write");
  const moment here = next(s);
  if (u.write) {
    for (const moment& r : m.read)
      if (!before(r, s)) wrong("a write was not ordered behind a read");
    m.read.clear();
    m.written = here;
  } else {
    m.read.push_back(here);
  }
}

void give(cudaStream_t s, const std::vector<fake::use>& uses) {
  ++w().counts.kernels;
  if (s->capturing) s->captured.insert(s->captured.end(), uses.begin(), uses.end());
  else
    for (const fake::use& u : uses) touch(s, u);
}

}  // namespace

namespace fake {

void add_library_counts(counts& c);

counts now() {
  const guard g(w().lock);
  counts c = w().counts;
  c.allocations = long(w().blocks.size());
  c.streams = long(w().streams.size());
  add_library_counts(c);
  return c;
}
std::set<int> contexts_made() { return std::exchange(contexts, {}); }
std::vector<std::string> violations() {
  const guard g(w().lock);
  return std::exchange(w().violations, {});
}
void work(cudaStream_t s, const std::vector<use>& uses) {
  const guard g(w().lock);
  give(s, uses);
}
void keep_busy(cudaStream_t s, bool busy) {
  const guard g(w().lock);
  s->busy = busy;
}
void fail(const std::string& function, int nth, cudaError_t error, bool lasting) {
  const guard g(w().lock);
  if (nth > 0) w().failures[function] = {nth, error, lasting};
  else w().failures.erase(function);
}
void limit_memory(long bytes) {
  const guard g(w().lock);
  w().limit = bytes;
  w().pooled = 0;
}

}  // namespace fake

#define FAKE_CONTEXT          \
  const guard held(w().lock); \
  contexts.insert(current)
// A call that needs a context: the current device gets one.
#define FAKE_CALL(name)       \
  const guard held(w().lock); \
  contexts.insert(current);   \
  if (const cudaError_t failed = result(name); failed != cudaSuccess) return failed

extern "C" {

const char* cudaGetErrorName(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "an error";
}
const char* cudaGetErrorString(cudaError_t) { return "told to fail"; }
cudaError_t cudaGetLastError() { return std::exchange(pending, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return pending; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 9;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* n) {
  *n = devices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* d) {
  *d = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int d) {
  const guard held(w().lock);
  if (d < 0 || d >= devices) return pending = cudaErrorInvalidDevice;
  contexts.insert(d);
  current = d;
  return cudaSuccess;
}
// The driver's contexts: a number of a device stands for its primary context.
static int fake_retain(void** context, int d) {
  *context = reinterpret_cast<void*>(std::intptr_t(d) + 1);
  return 0;
}
static int fake_push(void* context) {
  pushed.push_back(current);
  current = int(reinterpret_cast<std::intptr_t>(context)) - 1;
  return 0;
}
static int fake_pop(void** context) {
  *context = reinterpret_cast<void*>(std::intptr_t(current) + 1);
  current = pushed.back();
  pushed.pop_back();
  return 0;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const std::string_view wanted = name;
  *function = wanted == "cuDevicePrimaryCtxRetain" ? reinterpret_cast<void*>(fake_retain)
              : wanted == "cuCtxPushCurrent"       ? reinterpret_cast<void*>(fake_push)
              : wanted == "cuCtxPopCurrent"        ? reinterpret_cast<void*>(fake_pop)
                                                   : nullptr;
  *found = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  FAKE_CALL("cudaDeviceSynchronize");
  ++w().counts.device_waits;
  if (w().captures > 0) wrong("waiting for the device ends a capture");
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) {
  FAKE_CALL("cudaStreamCreateWithFlags");
  *s = new CUstream_st;
  (*s)->device = current;
  w().streams.insert(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  FAKE_CALL("cudaStreamDestroy");
  w().streams.erase(s);  // the object stays: its address tells moments apart
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
  FAKE_CONTEXT;
  if (s->busy) return cudaErrorNotReady;
  join(w().done, s->clock);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  FAKE_CALL("cudaStreamSynchronize");
  ++w().counts.stream_waits;
  if (s->capturing) wrong("waiting for a stream that is captured");
  join(w().done, s->clock);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status) {
  FAKE_CONTEXT;
  *status = s->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  FAKE_CONTEXT;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  FAKE_CALL("cudaStreamWaitEvent");
  ++w().counts.orders;
  if (s->capturing) wrong("a captured stream waits for one that is not");
  join(s->clock, e->clock);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  FAKE_CALL("cudaEventCreateWithFlags");
  *e = new CUevent_st;
  ++w().counts.events;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  FAKE_CONTEXT;
  --w().counts.events;
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  FAKE_CALL("cudaEventRecord");
  e->clock = s->clock;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  FAKE_CONTEXT;
  join(w().done, e->clock);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  FAKE_CONTEXT;
  *ms = 1;
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** p, size_t bytes, cudaStream_t s) {
  FAKE_CALL("cudaMallocAsync");
  if (s->capturing) wrong("memory was allocated on a captured stream");
  if (w().limit > 0 && w().counts.bytes + w().pooled + long(bytes) > w().limit)
    return pending = cudaErrorMemoryAllocation;
  *p = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  w().counts.bytes += long(bytes);
  w().blocks[static_cast<const char*>(*p)] = {bytes, s->device, next(s), {}};
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t s) {
  FAKE_CALL("cudaFreeAsync");
  const auto at = w().blocks.find(static_cast<const char*>(p));
  if (at == w().blocks.end()) {
    wrong("what is freed is not there");
    return pending = cudaErrorInvalidValue;
  }
  touch(s, {p, true});
  if (w().limit > 0) w().pooled += long(at->second.bytes);
  w().counts.bytes -= long(at->second.bytes);
  std::free(p);
  w().blocks.erase(at);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  FAKE_CALL("cudaHostAlloc");
  *p = std::calloc(1, bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  FAKE_CONTEXT;
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* p, int v, size_t bytes, cudaStream_t s) {
  FAKE_CALL("cudaMemsetAsync");
  std::memset(p, v, bytes);
  give(s, {{p, true}});
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t s) {
  FAKE_CALL("cudaMemcpyAsync");
  std::memcpy(to, from, bytes);
  give(s, {{from, false}, {to, true}});
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  FAKE_CONTEXT;
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  FAKE_CONTEXT;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* v) {
  FAKE_CONTEXT;
  *static_cast<unsigned long long*>(v) = 0;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  FAKE_CALL("cudaMemPoolTrimTo");
  ++w().counts.trims;
  w().pooled = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  FAKE_CALL("cudaStreamBeginCapture");
  s->capturing = true;
  s->captured.clear();
  ++w().captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* g) {
  FAKE_CONTEXT;
  s->capturing = false;
  --w().captures;
  *g = new CUgraph_st{s->captured};
  return result("cudaStreamEndCapture");
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* run, cudaGraph_t g, unsigned long long) {
  FAKE_CALL("cudaGraphInstantiate");
  *run = new CUgraphExec_st{g->uses};
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t* n) {
  FAKE_CONTEXT;
  *n = 0;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType*) { return cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  FAKE_CONTEXT;
  delete g;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
  FAKE_CONTEXT;
  delete g;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s) {
  FAKE_CALL("cudaGraphLaunch");
  give(s, g->uses);
  return cudaSuccess;
}

}  // extern "C"
