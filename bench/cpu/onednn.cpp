// The rows of scripts/cpu-bench in oneDNN, version 2. Convolutions and pooling are in the layouts that it likes best.
// SPDX-License-Identifier: MIT
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "worker.hpp"

using namespace worker;
using dnnl::algorithm, dnnl::memory, dnnl::prop_kind;

namespace {

using desc = memory::desc;
using dims = memory::dims;
using tag = memory::format_tag;

const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
dnnl::stream stream(cpu);

desc of(const dims& d, tag layout) { return {d, memory::data_type::f32, layout}; }
desc of(const dims& d) { return of(d, std::array{tag::a, tag::a, tag::ab, tag::abc, tag::abcd}[d.size()]); }

memory in_layout(memory from, const desc& layout) {
  if (from.get_desc() == layout) return from;
  memory to(layout, cpu);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return to;
}
memory input(const desc& layout, int seed) {
  memory m(of(layout.dims()), cpu);
  fill(static_cast<float*>(m.get_data_handle()), int64(m.get_desc().get_size() / 4), seed);
  return in_layout(m, layout);
}

/// A primitive with its arguments; its result, in C order.
struct job {
  dnnl::primitive what;
  std::unordered_map<int, memory> arguments;
  memory result;
  mutable memory plain = {};

  const float* data() const {
    plain = in_layout(result, of(result.get_desc().dims()));
    return static_cast<const float*>(plain.get_data_handle());
  }
  int64 size() const { return int64(of(result.get_desc().dims()).get_size() / 4); }
  job* run() {
    what.execute(stream, arguments);
    stream.wait();
    return this;
  }
};

/// Adds a row of the primitive P made from this description, with inputs of seeds 0, 1, ... under these names.
template <class P, class... Names>
void row_of(const char* name, const typename P::desc& d, Names... names) {
  row(
      name, [](job& j) { return j.run(); },
      [=](int) {
        const typename P::primitive_desc p(d, cpu);
        job j{P(p), {}, memory(p.dst_desc(), cpu)};
        int seed = 0;
        ((j.arguments[names] = input(p.query_md(dnnl::query::exec_arg_md, names), seed++)), ...);
        j.arguments[DNNL_ARG_DST] = j.result;
        return j;
      });
}

void arrays() {
  const auto square = of({4096, 4096}), scores = of({4096, 1024});
  const auto add = [=](const char* name, const desc& a, const desc& b) {
    row_of<dnnl::binary>(name, {algorithm::binary_add, a, b, a}, DNNL_ARG_SRC_0, DNNL_ARG_SRC_1);
  };
  add("a + row 4096^2", square, of({1, 4096}));
  add("a + column 4096^2", square, of({4096, 1}));
  const auto reduce = [](const char* name, const desc& from, const desc& to, algorithm how) {
    row_of<dnnl::reduction>(name, {how, from, to, 0, 0}, DNNL_ARG_SRC);
  };
  reduce("sum 16M", of({16 * M}), of({1}), algorithm::reduction_sum);
  reduce("sum axis 1 4096^2", square, of({4096, 1}), algorithm::reduction_sum);
  reduce("sum axis 0 4096^2", square, of({1, 4096}), algorithm::reduction_sum);
  reduce("sum axis 1 64x512x256", of({64, 512, 256}), of({64, 1, 256}), algorithm::reduction_sum);
  reduce("max axis 1 4096^2", square, of({4096, 1}), algorithm::reduction_max);
  row_of<dnnl::softmax_forward>("softmax 4096x1024", {prop_kind::forward_inference, scores, 1}, DNNL_ARG_SRC);
  row_of<dnnl::logsoftmax_forward>("log_softmax 4096x1024", {prop_kind::forward_inference, scores, 1}, DNNL_ARG_SRC);
  const auto product = [](const char* name, const desc& d) {
    row_of<dnnl::matmul>(name, {d, d, d}, DNNL_ARG_SRC, DNNL_ARG_WEIGHTS);
  };
  product("sgemm 1024", of({1024, 1024}));
  product("sgemm 64", of({64, 64}));
  product("sgemm 64 of 64", of({64, 64, 64}));
  row(
      "transpose copy 4096^2", [](job& j) { return j.run(); },
      [=](int seed) {
        const memory from = input(square, seed), to(of({4096, 4096}, tag::ba), cpu);
        return job{dnnl::reorder(from, to),
                   {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
                   memory(square, cpu, to.get_data_handle())};
      });
}

struct layer {
  dims x, w, y;
  desc any(const dims& d) const { return of(d, tag::any); }
  dnnl::convolution_forward::primitive_desc forward() const {
    return {
        {prop_kind::forward_training, algorithm::convolution_direct, any(x), any(w), any(y), {1, 1}, {2, 2}, {2, 2}},
        cpu};
  }
  job forward_job() const {
    const auto p = forward();
    const memory result(p.dst_desc(), cpu);
    return {dnnl::convolution_forward(p),
            {{DNNL_ARG_SRC, input(p.src_desc(), 0)},
             {DNNL_ARG_WEIGHTS, input(p.weights_desc(), 1)},
             {DNNL_ARG_DST, result}},
            result};
  }
  job data_job() const {
    const dnnl::convolution_backward_data::primitive_desc p(
        {algorithm::convolution_direct, any(x), any(w), any(y), {1, 1}, {2, 2}, {2, 2}}, cpu, forward());
    const memory result(p.diff_src_desc(), cpu);
    return {dnnl::convolution_backward_data(p),
            {{DNNL_ARG_WEIGHTS, input(p.weights_desc(), 1)},
             {DNNL_ARG_DIFF_DST, input(p.diff_dst_desc(), 2)},
             {DNNL_ARG_DIFF_SRC, result}},
            result};
  }
  job weights_job() const {
    const dnnl::convolution_backward_weights::primitive_desc p(
        {algorithm::convolution_direct, any(x), any(w), any(y), {1, 1}, {2, 2}, {2, 2}}, cpu, forward());
    const memory result(p.diff_weights_desc(), cpu);
    return {dnnl::convolution_backward_weights(p),
            {{DNNL_ARG_SRC, input(p.src_desc(), 0)},
             {DNNL_ARG_DIFF_DST, input(p.diff_dst_desc(), 2)},
             {DNNL_ARG_DIFF_WEIGHTS, result}},
            result};
  }
};

void networks() {
  const layer inner{{32, 32, 14, 14}, {64, 32, 5, 5}, {32, 64, 14, 14}};
  const layer outer{{128, 1, 28, 28}, {32, 1, 5, 5}, {128, 32, 28, 28}};
  const auto run = [](job& j) { return j.run(); };
  row("conv 32-64 forward", run, [=](int) { return inner.forward_job(); });
  row(
      "conv 32-64 backward", [](job& w, job& x) { return w.run(), x.run(); }, [=](int) { return inner.weights_job(); },
      [=](int) { return inner.data_job(); });
  row("conv 1-32 forward", run, [=](int) { return outer.forward_job(); });
  row("conv 1-32 backward weights", run, [=](int) { return outer.weights_job(); });

  const desc x = of({128, 32, 28, 28}, tag::aBcd16b), y = of({128, 32, 14, 14}, tag::aBcd16b);
  const auto pool = [=](prop_kind kind) {
    return dnnl::pooling_forward::primitive_desc({kind, algorithm::pooling_max, x, y, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
                                                 cpu);
  };
  row("max pool forward", run, [=](int) {
    const memory result(y, cpu);
    return job{dnnl::pooling_forward(pool(prop_kind::forward_inference)),
               {{DNNL_ARG_SRC, input(x, 0)}, {DNNL_ARG_DST, result}},
               result};
  });
  row("max pool backward", run, [=](int) {
    const auto forward = pool(prop_kind::forward_training);
    const memory places(forward.workspace_desc(), cpu), result(x, cpu);
    const memory top(y, cpu);
    dnnl::pooling_forward(forward).execute(
        stream, {{DNNL_ARG_SRC, input(x, 0)}, {DNNL_ARG_DST, top}, {DNNL_ARG_WORKSPACE, places}});
    const dnnl::pooling_backward::primitive_desc p({algorithm::pooling_max, x, y, {2, 2}, {2, 2}, {0, 0}, {0, 0}}, cpu,
                                                   forward);
    return job{dnnl::pooling_backward(p),
               {{DNNL_ARG_DIFF_DST, input(y, 1)}, {DNNL_ARG_WORKSPACE, places}, {DNNL_ARG_DIFF_SRC, result}},
               result};
  });
}

}  // namespace

int main() {
  arrays();
  networks();
  return serve([](int threads) { omp_set_num_threads(threads); });
}
