// Convolution by oneDNN, through the C interface of its versions 2 and 3: float32. Our threads share the images out.
// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_version.h>

#include <cstring>

#include "../../../eval/convolution.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/threads.hpp"

namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD {

/// A handle that is destroyed with its owner; null where it could not be made.
template <class Handle, dnnl_status_t (*Destroy)(Handle)>
struct dnn_owner {
  Handle handle = nullptr;
  dnn_owner() = default;
  dnn_owner(const dnn_owner&) = delete;
  ~dnn_owner() {
    if (handle != nullptr) (void)Destroy(handle);
  }
};
using dnn_description = dnn_owner<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using dnn_primitive = dnn_owner<dnnl_primitive_t, dnnl_primitive_destroy>;
using dnn_memory = dnn_owner<dnnl_memory_t, dnnl_memory_destroy>;

inline dnnl_engine_t dnn_engine() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t e = nullptr;
    return dnnl_engine_create(&e, dnnl_cpu, 0) == dnnl_success ? e : nullptr;
  }();
  return engine;
}

struct dnn_dims {
  dnnl_dims_t extent;
  int n = 0, channels;  ///< which axis has the channels of an operand
  dnn_dims(::std::initializer_list<int64> leading, const int64 (&spatial)[3], int axes)
      : channels(int(leading.size()) - 1) {
    for (const int64 e : leading) extent[n++] = e;
    for (int a = 0; a < axes; ++a) extent[n++] = spatial[a];
  }
  dnnl_format_tag_t tag(bool channels_last) const {
    if (!channels_last) return n == 4 ? dnnl_abcd : n == 5 ? dnnl_abcde : dnnl_abcdef;
    if (channels == 1) return n == 4 ? dnnl_acdb : dnnl_acdeb;
    return n == 5 ? dnnl_abdec : dnnl_abdefc;
  }
};

/// How an array of float32 lies in memory: versions 2 keep a structure, versions 3 a handle.
struct dnn_layout {
#if DNNL_VERSION_MAJOR < 3
  using view = const dnnl_memory_desc_t*;
  dnnl_memory_desc_t of;
  bool ok;
  dnn_layout(const dnn_dims& d, dnnl_format_tag_t tag)
      : ok(dnnl_memory_desc_init_by_tag(&of, d.n, d.extent, dnnl_f32, tag) == dnnl_success) {}
  view get() const { return &of; }
#else
  using view = const_dnnl_memory_desc_t;
  dnn_owner<dnnl_memory_desc_t, dnnl_memory_desc_destroy> of;
  bool ok;
  dnn_layout(const dnn_dims& d, dnnl_format_tag_t tag)
      : ok(dnnl_memory_desc_create_with_tag(&of.handle, d.n, d.extent, dnnl_f32, tag) == dnnl_success) {}
  view get() const { return of.handle; }
#endif
};

/// While it lives, oneDNN's own threads rest in this thread. Two pools would take the processors from each other.
class dnn_single_thread {
  using setter = void (*)(int);
  using getter = int (*)();
  int before = 0;
  static setter set() {
    static const auto f = reinterpret_cast<setter>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    return f;
  }
  static getter get() {
    static const auto f = reinterpret_cast<getter>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    return f;
  }

 public:
  /// False for oneDNN with threads that cannot be told to rest.
  static bool possible() {
    return DNNL_CPU_RUNTIME == DNNL_RUNTIME_SEQ ||
           (DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP && set() != nullptr && get() != nullptr);
  }
  dnn_single_thread() {
    if (DNNL_CPU_RUNTIME != DNNL_RUNTIME_OMP || !possible()) return;
    before = get()();
    set()(1);
  }
  ~dnn_single_thread() {
    if (before != 0) set()(before);
  }
  dnn_single_thread(const dnn_single_thread&) = delete;
};

/// Steps of a computation in oneDNN; once one has failed, the rest do nothing.
struct dnn_steps {
  dnnl_engine_t engine = dnn_engine();
  dnn_owner<dnnl_stream_t, dnnl_stream_destroy> stream;
  dnn_owner<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy> attributes;
  bool ok;

  dnn_steps() : ok(engine != nullptr) {
    then([&] { return dnnl_stream_create(&stream.handle, engine, dnnl_stream_default_flags); });
    then([&] { return dnnl_primitive_attr_create(&attributes.handle); });
    then([&] { return dnnl_primitive_attr_set_scratchpad_mode(attributes.handle, dnnl_scratchpad_mode_user); });
  }
  template <class F>
  void then(const F& step) {
    ok = ok && step() == dnnl_success;
  }
  void use(dnn_memory& m, dnn_layout::view layout, void* data) {
    then([&] { return dnnl_memory_create(&m.handle, layout, engine, data); });
  }
  /// Runs what is described, with scratch memory of its own.
  void run(const dnn_description& d, dnnl_exec_arg_t (&arguments)[4], int count) {
    dnn_primitive p;
    then([&] { return dnnl_primitive_create(&p.handle, d.handle); });
    if (!ok) return;
    const dnn_layout::view extra = dnnl_primitive_desc_query_md(d.handle, dnnl_query_scratchpad_md, 0);
    const scratch space(int64(dnnl_memory_desc_get_size(extra)));
    dnn_memory m;
    use(m, extra, space.p);
    arguments[count] = {DNNL_ARG_SCRATCHPAD, m.handle};
    then([&] { return dnnl_primitive_execute(p.handle, stream.handle, count + 1, arguments); });
    then([&] { return dnnl_stream_wait(stream.handle); });
  }
  void reorder(dnn_layout::view from, const dnn_memory& source, dnn_layout::view to, const dnn_memory& target) {
    dnn_description d;
    then([&] { return dnnl_reorder_primitive_desc_create(&d.handle, from, engine, to, engine, attributes.handle); });
    dnnl_exec_arg_t arguments[4] = {{DNNL_ARG_FROM, source.handle}, {DNNL_ARG_TO, target.handle}};
    run(d, arguments, 2);
  }
};

/// Describes a part of the convolution in the layouts given; the gradients need the description of `forward`.
inline dnnl_status_t describe(const detail::convolution& c, detail::convolution::what part, const dnn_steps& s,
                              dnn_description& d, const dnn_layout (&any)[3], const dnn_description& forward) {
  using what = detail::convolution::what;
  const auto x = any[0].get(), w = any[1].get(), y = any[2].get();
  dnnl_dims_t gaps;
  for (int a = 0; a < c.axes; ++a) gaps[a] = c.dilation[a] - 1;
  const auto &stride = c.stride, &padding = c.padding;
  constexpr auto direct = dnnl_convolution_direct;
#if DNNL_VERSION_MAJOR < 3
  dnnl_convolution_desc_t of;
  dnnl_status_t status;
  if (part == what::forward)
    status = dnnl_dilated_convolution_forward_desc_init(&of, dnnl_forward, direct, x, w, nullptr, y, stride, gaps,
                                                        padding, padding);
  else if (part == what::backward_data)
    status = dnnl_dilated_convolution_backward_data_desc_init(&of, direct, x, w, y, stride, gaps, padding, padding);
  else
    status = dnnl_dilated_convolution_backward_weights_desc_init(&of, direct, x, w, nullptr, y, stride, gaps, padding,
                                                                 padding);
  if (status != dnnl_success) return status;
  return dnnl_primitive_desc_create(&d.handle, &of, s.attributes.handle, s.engine, forward.handle);
#else
  if (part == what::forward)
    return dnnl_convolution_forward_primitive_desc_create(&d.handle, s.engine, dnnl_forward, direct, x, w, nullptr, y,
                                                          stride, gaps, padding, padding, s.attributes.handle);
  if (part == what::backward_data)
    return dnnl_convolution_backward_data_primitive_desc_create(&d.handle, s.engine, direct, x, w, y, stride, gaps,
                                                                padding, padding, forward.handle, s.attributes.handle);
  return dnnl_convolution_backward_weights_primitive_desc_create(&d.handle, s.engine, direct, x, w, nullptr, y, stride,
                                                                 gaps, padding, padding, forward.handle,
                                                                 s.attributes.handle);
#endif
}

/// The convolution of some images, operands x, weights and y: they go into the layouts that oneDNN likes best, and the
/// result comes back. False where oneDNN has none.
inline bool convolve_images(const detail::convolution& c, int64 images, float* const (&data)[3]) {
  using what = detail::convolution::what;
  const auto filters = c.groups == 1 ? dnn_dims({c.k, c.c}, c.window, c.axes)
                                     : dnn_dims({c.groups, c.k / c.groups, c.c / c.groups}, c.window, c.axes);
  const dnn_dims dims[3] = {{{images, c.c}, c.in, c.axes}, filters, {{images, c.k}, c.out, c.axes}};
  const dnn_layout any[3] = {{dims[0], dnnl_format_tag_any},
                             {dims[1], dnnl_format_tag_any},
                             {dims[2], dnnl_format_tag_any}},
                   plain[3] = {{dims[0], dims[0].tag(c.channels_last)},
                               {dims[1], dims[1].tag(c.channels_last)},
                               {dims[2], dims[2].tag(c.channels_last)}};
  const int names[3] = {c.part == what::backward_data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                        c.part == what::backward_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
                        c.part == what::forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST},
            written = c.part == what::forward         ? 2
                      : c.part == what::backward_data ? 0
                                                      : 1;
  dnn_steps s;
  for (int i = 0; i < 3; ++i) s.ok = s.ok && any[i].ok && plain[i].ok;
  dnn_description forward, gradient;
  s.then([&] { return describe(c, what::forward, s, forward, any, gradient); });
  if (c.part != what::forward) s.then([&] { return describe(c, c.part, s, gradient, any, forward); });
  const dnn_description& chosen = c.part == what::forward ? forward : gradient;
  if (!s.ok) return false;
  // its plain loops and products of windows are slower than what the caller has
  const char* kind = "";
  s.then([&] { return dnnl_primitive_desc_query(chosen.handle, dnnl_query_impl_info_str, 0, &kind); });
  if (!s.ok || ::std::strncmp(kind, "ref", 3) == 0 || ::std::strncmp(kind, "gemm", 4) == 0) return false;

  dnn_layout::view layout[3];
  bool moved[3];
  int64 bytes[3];
  for (int i = 0; i < 3; ++i) {
    layout[i] = dnnl_primitive_desc_query_md(chosen.handle, dnnl_query_exec_arg_md, names[i]);
    moved[i] = dnnl_memory_desc_equal(layout[i], plain[i].get()) == 0;
    bytes[i] = moved[i] ? int64(dnnl_memory_desc_get_size(layout[i])) : 0;
  }
  const scratch space[3] = {scratch(bytes[0]), scratch(bytes[1]), scratch(bytes[2])};
  dnn_memory outside[3], inside[3];
  for (int i = 0; i < 3; ++i) {
    s.use(outside[i], plain[i].get(), data[i]);
    s.use(inside[i], layout[i], moved[i] ? static_cast<void*>(space[i].p) : data[i]);
    if (moved[i] && i != written) s.reorder(plain[i].get(), outside[i], layout[i], inside[i]);
  }
  dnnl_exec_arg_t arguments[4] = {
      {names[0], inside[0].handle}, {names[1], inside[1].handle}, {names[2], inside[2].handle}};
  s.run(chosen, arguments, 3);
  if (moved[written]) s.reorder(layout[written], inside[written], plain[written].get(), outside[written]);
  return s.ok;
}

/// The convolution of float32; false where oneDNN is not the faster way.
template <class T>
bool convolve_by_onednn(const detail::convolution& c, T* x, T* w, T* y, int64 work) {
  using what = detail::convolution::what;
  // the preparations, and filling up few channels to a pack of them, cost more than oneDNN gains
  if (work < 1 << 18 || (c.part == what::backward_data && c.c <= 4 && c.groups == 1)) return false;
  const int64 wanted = parts_for(work / 16) == 1 ? 1 : num_threads(), most = wanted < c.n ? wanted : c.n,
              parts = dnn_single_thread::possible() ? most : 1;
  const int64 filters = c.filters();
  // each part adds up the gradient of its own images
  const scratch partial(c.part == what::backward_weights ? (parts - 1) * filters * 4 : 0);
  float* const sums = reinterpret_cast<float*>(partial.p);
  bool failed = false;
  parallel(parts, [&](int64 part) {
    const dnn_single_thread alone;
    const int64 first = c.n * part / parts, images = c.n * (part + 1) / parts - first;
    float* const own = c.part == what::backward_weights && part > 0 ? sums + (part - 1) * filters : w;
    if (!convolve_images(c, images, {x + first * c.image(), own, y + first * c.result()}))
      __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
  });
  if (failed) return false;
  if (c.part == what::backward_weights)
    for (int64 part = 1; part < parts; ++part)
      for (int64 i = 0; i < filters; ++i) w[i] += sums[(part - 1) * filters + i];
  return true;
}

}  // namespace cudarray::inline v0::backend::host::inline CUDARRAY_BUILD
