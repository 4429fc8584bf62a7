// CUDA graphs: work captured once and launched as a whole.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "../../core/generator.hpp"
#include "runtime/memory.hpp"

namespace cudarray::inline v0 {

/// What a function does on a CUDA device, captured once, and launched as a whole as often as wanted: a step of training
/// costs the host one call.
///
/// The function runs once, and nothing of what it gives the device is done before `launch`. It may allocate, multiply,
/// convolve and draw random numbers (of the thread's generator, which every launch takes further, as a call of the
/// function would). Its temporaries live in memory of the graph's own. What existed before is used where it lies, and
/// kept alive: update it by writing through (`w(ca::_) = ...`, `w += ...`), for a name rebound to new memory is not
/// what the next launch reads. Arrays the function leaves behind hold the values of the last launch. Results of
/// `launch` and of calls of the function are equal, bit by bit.
///     auto g = ca::graph::capture([&] { y(ca::_) = ca::exp(x) + ca::random::normal(x.shape()); });
///     for (int i = 0; i < 100; ++i) g.launch();
class graph {
 public:
  /// Calls `f()`, and throws what it throws. Throws cuda_error for what cannot be captured: what waits for the device
  /// (item, to, printing, reading a mask, nonzero), what copies from the host, work on another device, another stream
  /// or of another graph, seeding.
  template <class F>
  static graph capture(const F& f, cuda device) {
    backend::gpu::refuse_captured(backend::gpu::current(device.ordinal), "capturing a graph");
    const backend::gpu::device_guard guard(device.ordinal);
    graph g(device);
    const random::generator numbers = random::thread_generator();
    {
      const recording r(g);
      f();
    }
    if (!(random::thread_generator() == numbers))
      detail::fail<cuda_error>("graph: seeding the thread's generator, or skipping numbers of it, cannot be captured");
    g.finish();
    return g;
  }
  /// On CUDA's current device (cudaSetDevice), which is device 0 unless it was set.
  template <class F>
  static graph capture(const F& f) {
    int ordinal = 0;
    backend::gpu::check(cudaGetDevice(&ordinal), "cudaGetDevice");
    return capture(f, cuda{ordinal});
  }
  graph(graph&& o) noexcept
      : stream_(::std::move(o.stream_)),
        captured_(::std::exchange(o.captured_, nullptr)),
        nodes_(::std::exchange(o.nodes_, nullptr)),
        run_(::std::exchange(o.run_, nullptr)),
        kernels_(o.kernels_) {}
  graph& operator=(graph o) noexcept {
    ::std::swap(stream_, o.stream_);
    ::std::swap(captured_, o.captured_);
    ::std::swap(nodes_, o.nodes_);
    ::std::swap(run_, o.run_);
    ::std::swap(kernels_, o.kernels_);
    return *this;
  }
  /// Waits for its last launch.
  ~graph() {
    if (stream_.get() == nullptr) return;
    if (const backend::gpu::device_guard device(stream_->ordinal, ::std::nothrow); device) {
      if (run_) captured_->pool->wait(), (void)cudaGraphExecDestroy(run_);
      if (nodes_) (void)cudaGraphDestroy(nodes_);
    }
    (void)cudaGetLastError();
    delete captured_;
    __atomic_store_n(&stream_->gone, true, __ATOMIC_RELEASE);
  }

  /// Gives the work to this thread's current stream of the device. Throws cuda_error, and value_error where it draws
  /// random numbers and the thread's generator is not of the seed and stream it was captured with.
  void launch() const {
    namespace gpu = backend::gpu;
    const int ordinal = stream_->ordinal;
    const gpu::device_guard guard(ordinal);
    const gpu::stream_ref& now = gpu::current(ordinal);
    gpu::refuse_captured(now, "launching a graph");
    for (const auto& u : captured_->uses) gpu::use_on(u.store, now, u.written);
    captured_->pool->each_block([&](gpu::block* b) { gpu::use_on(b, now, true); });
    captured_->pool->launch_on(now);
    if (captured_->random_blocks > 0) {
      const detail::random_source& known = captured_->random;
      random::generator& g = random::thread_generator();
      if (g.seed() != known.seed || g.stream() != known.stream)
        detail::fail<value_error>("graph: it draws from stream ", known.stream, " of seed ", known.seed,
                                  ", the thread's generator is at stream ", g.stream(), " of seed ", g.seed(),
                                  ": capture it again");
      const uint64 begin = g.take(int64(captured_->random_blocks), 1).block;
      gpu::check(
          cudaMemcpyAsync(const_cast<uint64*>(known.base), &begin, sizeof(begin), cudaMemcpyHostToDevice, now->handle),
          "cudaMemcpyAsync");
    }
    if (captured_->reports) gpu::watch_graph(*now, stream_);
    gpu::check(cudaGraphLaunch(run_, now->handle), "cudaGraphLaunch");
    for (const auto& u : captured_->uses)
      if (u.written) detail::count_write(*u.store);
    captured_->pool->each_block([](gpu::block* b) { detail::count_write(*b); });
    detail::count(detail::counters.kernels, kernels_);
  }
  /// How many kernels a launch runs.
  int64 kernels() const { return kernels_; }
  /// The captured graph, for CUDA's own functions.
  cudaGraph_t get() const { return nodes_; }

 private:
  explicit graph(cuda device) {
    namespace gpu = backend::gpu;
    stream_ = gpu::make_stream(device.ordinal, cudaStreamNonBlocking);
    gpu::check(cudaStreamSynchronize(stream_->handle), "cudaStreamSynchronize");  // its tickets are ready
    captured_ = new gpu::capture(new gpu::graph_pool(stream_, gpu::account(device.ordinal)));
  }

  /// While it lives, what this thread gives the device is captured.
  class recording {
   public:
    explicit recording(graph& g) : graph_(g) {
      namespace gpu = backend::gpu;
      gpu::check(cudaStreamBeginCapture(g.stream_->handle, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
      __atomic_fetch_add(&gpu::captures_under_way(), int64(1), __ATOMIC_ACQ_REL);
      g.stream_->captured = g.captured_;
      gpu::thread_state& t = gpu::this_thread();
      before_ = ::std::exchange(t.streams[g.stream_->ordinal], g.stream_);
      t.captures = g.stream_->ordinal;
    }
    ~recording() {
      backend::gpu::thread_state& t = backend::gpu::this_thread();
      t.streams[graph_.stream_->ordinal] = before_;
      t.captures = -1;
      graph_.stream_->captured = nullptr;
      graph_.end_ = cudaStreamEndCapture(graph_.stream_->handle, &graph_.nodes_);
      __atomic_fetch_sub(&backend::gpu::captures_under_way(), int64(1), __ATOMIC_ACQ_REL);
      (void)cudaGetLastError();
    }
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;

   private:
    graph& graph_;
    backend::gpu::stream_ref before_;
  };

  void finish() {
    namespace gpu = backend::gpu;
    const gpu::device_guard guard(stream_->ordinal);  // the function may have set another
    gpu::check(end_, "capturing a graph");
    captured_->pool->launch_on(stream_);  // arrays in its memory are used from now on, behind its allocation
    gpu::check(cudaGraphInstantiate(&run_, nodes_, 0), "cudaGraphInstantiate");
    ::std::size_t count = 0;
    gpu::check(cudaGraphGetNodes(nodes_, nullptr, &count), "cudaGraphGetNodes");
    ::std::vector<cudaGraphNode_t> all(count);
    gpu::check(cudaGraphGetNodes(nodes_, all.data(), &count), "cudaGraphGetNodes");
    for (const cudaGraphNode_t node : all) {
      cudaGraphNodeType type;
      gpu::check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
      kernels_ += type == cudaGraphNodeTypeKernel;
    }
  }

  backend::gpu::stream_ref stream_;
  backend::gpu::capture* captured_ = nullptr;
  cudaGraph_t nodes_ = nullptr;
  cudaGraphExec_t run_ = nullptr;
  cudaError_t end_ = cudaSuccess;
  int64 kernels_ = 0;
};

}  // namespace cudarray::inline v0
