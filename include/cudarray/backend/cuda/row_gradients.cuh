// Row programs of gradients on CUDA: one kernel, and one for each sum over rows.
// SPDX-License-Identifier: MIT
#pragma once

#include "gradients.cuh"
#include "kernel/row_gradients.cuh"
#include "row_program.cuh"

namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD {
template <int Operands, class... K>
inline constexpr int widest_operand<Operands, detail::joined_gradients<K...>> = [] {
  int w = 0;
  ((w = widest_operand<Operands, K> > w ? widest_operand<Operands, K> : w), ...);
  return w;
}();

#pragma GCC visibility push(hidden)  // kernels belong to the file's own binary

/// Finds which gradients are computed, which are parts of others, and which are sums over the rows (`sums[j]` is their
/// number then). False where one is neither that nor one for each element.
template <int Operands, int Gradients>
bool find_row_gradients(row_gradients_plan<Operands, Gradients>& r, const detail::iteration_space<Operands>& s,
                        const int* operand_of, const operand_info* written) {
  const int x = s.ndim - 1;
  int sums = 0;
  for (int j = 0; j < Gradients; ++j) {
    r.part_of[j] = -1, r.sums[j] = -1, r.partial[j] = nullptr;
    for (int i = j - 1; i >= 0; --i)
      if (written[i].data != nullptr && written[i].data == written[j].data) r.part_of[j] = int8(i);
    r.wanted[j] = written[j].data != nullptr && r.part_of[j] < 0;
    if (!r.wanted[j]) continue;
    const int64* const stride = s.stride[operand_of[j]];
    bool moves = true, still = true;
    for (int d = 0; d < x; ++d) moves = moves && stride[d] != 0, still = still && stride[d] == 0;
    if (stride[x] != 1 || !(moves || still)) return false;
    if (!moves) r.sums[j] = sums++;
  }
  r.has_sums = sums > 0;
  return true;
}

/// The places of sums in shared memory, and blocks of which each adds up rows as long as others run beside it.
template <int V, int Operands, int Gradients>
bool spread_rows(row_gradients_plan<Operands, Gradients>& r, const int* sum_bytes, int ordinal, const void* kernel) {
  r.even = true;
  for (int d = 0; d < r.space.kept; ++d) r.even = r.even && r.lead_step[d] == 0;
  if (!r.has_sums) return true;
  if (r.parts > 1 && !r.even) return false;
  int next = 0;
  for (int j = 0; j < Gradients; ++j) {
    if (r.sums[j] < 0) continue;
    const int bytes = sum_bytes[r.sums[j]];
    r.sums[j] = next;
    next += int(ceil_div(int64(r.part_width + V - 1) * bytes, 16) * 16);
  }
  const device_guard guard(ordinal);
  int at_once = 1;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, r.threads, r.block_bytes()),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const int64 most = int64(multiprocessors(ordinal)) * at_once / r.parts;
  r.row_groups = int(ceil_div(r.blocks, most > 0 ? most : 1));
  r.blocks = ceil_div(r.blocks, r.row_groups);
  return true;
}

/// Room for what each block finds of a sum, for all sums.
template <int Operands, int Gradients>
detail::storage_ref make_partial_sums(cuda device, row_gradients_plan<Operands, Gradients>& r, const int* sum_bytes) {
  if (!r.has_sums) return {};
  const auto bytes_of = [&](int j) {
    return r.sums[j] < 0 ? 0 : ::std::size_t(ceil_div(r.blocks * r.width * sum_bytes[j], 16) * 16);
  };
  ::std::size_t total = 0;
  for (int j = 0; j < Gradients; ++j) total += bytes_of(j);
  const detail::storage_ref memory = allocate(device, total);
  auto* next = static_cast<char*>(memory->data);
  for (int j = 0; j < Gradients; next += bytes_of(j++))
    if (r.sums[j] >= 0) r.partial[j] = next;
  return memory;
}

template <int V, int First, class... T, class Program, int Operands, int... J>
bool run_row_gradients(cuda device, const detail::gradients_to<First, T...>& to, const Program& program,
                       const detail::iteration_space<Operands>& s, ::std::integer_sequence<int, J...>) {
  using target = detail::gradients_to<First, T...>;
  constexpr auto kernel = row_gradients_kernel<V, target, Program, Operands>;
  constexpr int gradients = target::count, operand_of[] = {target::operand(J)...},
                sum_bytes[] = {int(sizeof(detail::compute_t<T>))...};
  using plan = row_gradients_plan<Operands, gradients>;
  static_assert(sizeof(to) + sizeof(Program) + sizeof(plan) <= gpu::parameter_bytes,
                "a plan must fit the kernel parameters");
  const void* const code = reinterpret_cast<const void*>(kernel);
  const operand_info written[] = {{detail::get<J>(to.p), int(sizeof(T))}...};
  plan r;
  if (!find_row_gradients(r, s, operand_of, written)) return false;
  survey<Operands> leaves;
  survey_program(leaves, program);
  int bytes_of_sums[gradients], sums = 0;
  for (int j = 0; j < gradients; ++j) {
    if (r.sums[j] >= 0) bytes_of_sums[sums++] = sum_bytes[j];
    else if (r.wanted[j]) leaves.of[operand_of[j]] = written[j];
  }
  if (!plan_row_program(r, s, leaves.of,
                        {V, gradients, 0, 0, most_shared_of<kernel>(device.ordinal), multiprocessors(device.ordinal),
                         compiled_for_hopper(device.ordinal, code) ? row_cluster : 1, bytes_of_sums, sums}) ||
      !spread_rows<V>(r, bytes_of_sums, device.ordinal, code))
    return false;
  const detail::storage_ref memory = make_partial_sums(device, r, sum_bytes);
  (use_on(s.store[operand_of[J]], current(device.ordinal), true), ...);
  launch_clusters(unsigned(r.parts), device.ordinal, s.store, Operands, kernel,
                  dim3(unsigned(r.blocks), unsigned(r.parts)), unsigned(r.threads), r.block_bytes(), to, program, r);
  const auto finish = [&]<int K, class U>(U* q) {
    if (r.partial[K] == nullptr) return;
    bool dense;
    const auto places = places_of_sum(s.extent, s.stride[operand_of[K]], s.ndim, dense);
    add_shared_sums<double, detail::compute_t<U>>(device, q, &s.store[operand_of[K]], r.partial[K], places, r.width,
                                                  r.blocks, bool(to.adds >> K & 1u));
  };
  (finish.template operator()<J>(detail::get<J>(to.p)), ...);
  return true;
}

#pragma GCC visibility pop
}  // namespace cudarray::inline v0::backend::gpu::inline CUDARRAY_BUILD
namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD {

template <int First, class... T, class Program, int Operands>
bool run_row_program(cuda device, const detail::gradients_to<First, T...>& to, const Program& program,
                     const detail::iteration_space<Operands>& s) {
  constexpr int widest = [] {
    int w = gpu::widest_operand<Operands, Program>;
    ((w = int(sizeof(T)) > w ? int(sizeof(T)) : w), ...);
    return w;
  }();
  return gpu::run_row_gradients<(widest <= 2    ? 8
                                 : widest >= 16 ? 1
                                                : 16 / widest)>(device, to, program, s,
                                                                ::std::make_integer_sequence<int, int(sizeof...(T))>{});
}

}  // namespace cudarray::inline v0::backend::inline CUDARRAY_BUILD
