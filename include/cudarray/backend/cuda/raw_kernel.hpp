// Kernels that NVRTC compiles from source at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <nvrtc.h>

#include <map>
#include <mutex>
#include <utility>

#include "../../eval/raw_kernel.hpp"
#include "runtime/memory.hpp"

namespace cudarray::inline v0::backend::gpu {

/// A kernel of a device's architecture, and the sizes of its parameters.
struct compiled_kernel {
  cudaKernel_t kernel = nullptr;
  ::std::vector<::std::size_t> parameters;
  int shared[most_devices] = {};  ///< the bytes of shared memory that it may have on each device, above what all have
};
inline ::std::mutex& raw_kernel_lock() {
  static ::std::mutex lock;
  return lock;
}

/// Throws cuda_error naming the kernel, the call, the reason, and what the compiler said.
inline void check_nvrtc(nvrtcResult e, const ::std::string& name, const char* call, nvrtcProgram program) {
  if (e == NVRTC_SUCCESS) return;
  ::std::string log;
  ::std::size_t n = 0;
  if (nvrtcGetProgramLogSize(program, &n) == NVRTC_SUCCESS && n > 1) {
    log.resize(n);
    if (nvrtcGetProgramLog(program, &log[0]) == NVRTC_SUCCESS) log = '\n' + log.substr(0, n - 1);
    else log.clear();
  }
  detail::fail<cuda_error>("raw_kernel ", name, ": ", call, ": ", nvrtcGetErrorString(e), log);
}

/// The machine code of a source for an architecture, and the kernel's name in it.
inline ::std::pair<::std::string, ::std::string> machine_code(const detail::kernel_source& s, int architecture) {
  struct owner {
    nvrtcProgram program = nullptr;
    ~owner() { (void)nvrtcDestroyProgram(&program); }
  } p;
  const auto checked = [&](nvrtcResult e, const char* call) { check_nvrtc(e, s.name, call, p.program); };
  checked(nvrtcCreateProgram(&p.program, s.code.c_str(), (s.name + ".cu").c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
  checked(nvrtcAddNameExpression(p.program, s.name.c_str()), "nvrtcAddNameExpression");
  const ::std::string target = detail::cat("--gpu-architecture=sm_", architecture);
  ::std::vector<const char*> options{target.c_str()};
  for (const auto& o : s.options) options.push_back(o.c_str());
  checked(nvrtcCompileProgram(p.program, int(options.size()), options.data()), "nvrtcCompileProgram");
  const char* lowered = nullptr;
  checked(nvrtcGetLoweredName(p.program, s.name.c_str(), &lowered), "nvrtcGetLoweredName");
  ::std::size_t bytes = 0;
  checked(nvrtcGetCUBINSize(p.program, &bytes), "nvrtcGetCUBINSize");
  ::std::string code(bytes, '\0');
  checked(nvrtcGetCUBIN(p.program, &code[0]), "nvrtcGetCUBIN");
  return {::std::move(code), lowered};
}

/// Compiled once for each source and architecture, and kept until the process ends.
inline compiled_kernel& compiled(int ordinal, const detail::kernel_source& s) {
  static auto& all = *new ::std::map<::std::pair<int, ::std::string>, compiled_kernel>;  // the driver may end first
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal), "cudaDeviceGetAttribute");
  const ::std::scoped_lock guard(raw_kernel_lock());
  const auto [at, first] = all.try_emplace({10 * major + minor, s.key});
  if (!first) return at->second;
  try {
    const auto [code, name] = machine_code(s, 10 * major + minor);
    compiled_kernel& k = at->second;
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "cudaLibraryLoadData");
    const cudaError_t found = cudaLibraryGetKernel(&k.kernel, library, name.c_str());
    if (found != cudaSuccess) (void)cudaLibraryUnload(library);
    check(found, "cudaLibraryGetKernel");
    for (::std::size_t offset = 0, bytes = 0;; k.parameters.push_back(bytes))
      if (cudaFuncGetParamInfo(k.kernel, k.parameters.size(), &offset, &bytes) != cudaSuccess) break;
    (void)cudaGetLastError();  // that there are no more
    return k;
  } catch (...) {
    all.erase(at);
    throw;
  }
}

inline void check_arguments(const detail::kernel_source& s, const compiled_kernel& k,
                            const detail::kernel_arguments& a) {
  if (::std::size_t(a.count) != k.parameters.size())
    detail::fail<value_error>("raw_kernel ", s.name, ": ", a.count, " arguments for ", k.parameters.size(),
                              " parameters");
  for (int i = 0; i < a.count; ++i)
    if (a.bytes[i] != k.parameters[::std::size_t(i)])
      detail::fail<value_error>("raw_kernel ", s.name, ": argument ", i, " has ", a.bytes[i], " bytes, its parameter ",
                                k.parameters[::std::size_t(i)]);
}
/// Lets launches of a kernel on the current device have so much shared memory.
inline void allow_shared(const char* launch, compiled_kernel& k, int ordinal, int bytes) {
  constexpr int without_asking = 48 << 10;
  if (bytes <= without_asking) return;
  const ::std::scoped_lock guard(raw_kernel_lock());
  int& allowed = k.shared[ordinal];
  if (bytes <= allowed) return;
  check(cudaFuncSetAttribute(k.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), launch);
  allowed = bytes;
}
inline dim3 checked_extent(const detail::kernel_source& s, const char* what, const launch_extent& e) {
  constexpr int64 most = INT32_MAX;
  if (e.x < 1 || e.y < 1 || e.z < 1 || e.x > most || e.y > most || e.z > most)
    detail::fail<value_error>("raw_kernel ", s.name, ": ", e.x, " x ", e.y, " x ", e.z, " ", what);
  return dim3(unsigned(e.x), unsigned(e.y), unsigned(e.z));
}

}  // namespace cudarray::inline v0::backend::gpu
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

inline void run_raw_kernel(cuda device, const detail::kernel_source& s, const kernel_launch& l,
                           const detail::kernel_arguments& a, const detail::used_memory* used, int count) {
  const dim3 grid = gpu::checked_extent(s, "blocks", l.grid), block = gpu::checked_extent(s, "threads", l.block);
  if (l.shared_bytes < 0 || l.shared_bytes > INT32_MAX)
    detail::fail<value_error>("raw_kernel ", s.name, ": ", l.shared_bytes, " bytes of shared memory");
  const gpu::device_guard guard(device.ordinal);
  gpu::compiled_kernel& k = gpu::compiled(device.ordinal, s);
  gpu::check_arguments(s, k, a);
  const ::std::string launch = detail::cat("launch of raw_kernel ", s.name);
  gpu::allow_shared(launch.c_str(), k, device.ordinal, int(l.shared_bytes));
  const gpu::stream_ref& stream = gpu::current(device.ordinal);
  for (int i = 0; i < count; ++i) gpu::use_on(used[i].store, stream, used[i].written);
  const cudaLaunchConfig_t config{grid, block, ::std::size_t(l.shared_bytes), stream->handle, nullptr, 0};
  gpu::check(cudaLaunchKernelExC(&config, k.kernel, const_cast<void**>(a.values)), launch.c_str());
  detail::count(detail::counters.kernels);
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
