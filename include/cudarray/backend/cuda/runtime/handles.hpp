// Handles of CUDA's libraries, lent to one call at a time, and the workspace of a stream.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"

namespace cudarray::inline v0::backend::gpu {

/// What nobody uses of a library's handles, by device. They live as long as the process.
template <class Handle>
struct idle_handles {
  struct list {
    Handle* last = nullptr;
    char lock = 0;
  };
  CUDARRAY_PUBLIC static list& of(int ordinal) {
    static list lists[most_devices];
    return lists[ordinal];
  }
};

/// A handle for a device while a call needs it. There are as many as calls at one time: a thread that ends leaves
/// nothing behind. `Handle{}` makes one for the current device; its `next` is ours.
template <class Handle>
class lent {
 public:
  explicit lent(int ordinal) : list_(idle_handles<Handle>::of(ordinal)) {
    {
      const spin_guard guard(list_.lock);
      handle_ = list_.last;
      if (handle_ != nullptr) list_.last = handle_->next;
    }
    if (handle_ == nullptr) handle_ = new Handle;
  }
  ~lent() {
    const spin_guard guard(list_.lock);
    handle_->next = list_.last;
    list_.last = handle_;
  }
  lent(const lent&) = delete;
  lent& operator=(const lent&) = delete;
  Handle* operator->() const { return handle_; }
  Handle& operator*() const { return *handle_; }

 private:
  typename idle_handles<Handle>::list& list_;
  Handle* handle_;
};

/// What cuBLAS may use on a stream, as much as NVIDIA recommends for Hopper. With memory of its own it would choose
/// other algorithms in a graph than outside.
inline constexpr ::std::size_t workspace_bytes = ::std::size_t(32) << 20;

/// The stream's, or the graph's where it is captured: kernels of one stream use it one after another. What a program
/// captures by CUDA's own functions has one to itself, in `own`. Throws out_of_memory.
inline void* workspace_on(stream_state& s, detail::storage_ref& own) {
  if (s.captured != nullptr) {
    void*& known = s.captured->blas_workspace;
    if (known == nullptr) known = s.captured->pool->take(workspace_bytes);
    return known;
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(s.handle, &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusNone) {
    own = allocate(cuda{s.ordinal}, workspace_bytes);
    return own->data;
  }
  const spin_guard guard(s.lock);
  if (s.workspace == nullptr) check(allocate_on(s, &s.workspace, workspace_bytes), "allocating a workspace for cuBLAS");
  return s.workspace;
}

}  // namespace cudarray::inline v0::backend::gpu
