// What the benchmark programs share: tables of rows, timing, the limits of the machine, JSON lines as peers/ prints.
// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cudarray/creation.hpp>
#include <cudarray/manipulation.hpp>
#include <cudarray/math.hpp>
#include <cudarray/random.hpp>
#include <cudarray/stream.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

namespace ca = cudarray;
using array = ca::ndarray<float>;
using ca::int64;

inline constexpr bool gpu = !ca::default_device::synchronous;

/// The peers' sizes on a GPU, smaller ones without.
inline constexpr int64 many = gpu ? 1 << 26 : 1 << 22, side = gpu ? 8192 : 2048, tall = gpu ? 1 << 20 : 1 << 16;

/// Normal numbers; without a GPU one million of them over and over, which takes less time than making them all.
inline array normal(const ca::shape& s) {
  if constexpr (gpu) return ca::random::normal(s);
  static const array million = ca::random::normal(1 << 20);
  const array a = ca::empty(s), flat = ca::ravel(a);
  for (int64 at = 0; at < a.size(); at += million.size()) {
    const array part = flat(ca::slice(at, at + million.size()));
    part(ca::_) = million(ca::slice(part.size()));
  }
  return a;
}

inline std::string count(int64 n) { return "n=" + std::to_string(n); }
template <class... N>
std::string dims(int64 first, N... others) {
  return (std::to_string(first) + ... + ("x" + std::to_string(others)));
}

// ---------------------------------------------------------------- time

#if defined(CUDARRAY_HAS_CUDA)
using mark = ca::event;
using ca::elapsed_ms;
#else
/// A point in time.
struct mark {
  std::chrono::steady_clock::time_point at;
  void record() { at = std::chrono::steady_clock::now(); }
};
inline double elapsed_ms(const mark& from, const mark& to) {
  return std::chrono::duration<double, std::milli>(to.at - from.at).count();
}
#endif

inline double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + std::ptrdiff_t(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// Milliseconds of one call: the median and the least of `samples` groups of `calls`, `host` the host's part of it.
struct timing {
  double median = 0, least = 0, host = 0;
  int samples = 0, calls = 0;
};

/// As peers/common.py measures: all groups are queued behind each other, so that a device never waits for the host.
template <class F>
timing measure(const F& call, double target_ms) {
  ca::synchronize();
  mark begin, end;
  begin.record();
  for (int i = 0; i < 3; ++i) call();
  end.record();
  ca::synchronize();
  const double guess = std::max(double(elapsed_ms(begin, end)) / 3, 1e-4);
  const int calls = std::clamp(int(0.2 / guess), 1, 500);
  const int samples = std::clamp(int(target_ms / (guess * calls)), guess > 60 ? 1 : 7, 200);
  for (int i = 0; i < std::min(2 * calls, 200) && guess < 20; ++i) call();
  std::vector<mark> marks(std::size_t(samples) + 1);
  marks[0].record();
  for (int s = 1; s <= samples; ++s) {
    for (int i = 0; i < calls; ++i) call();
    marks[std::size_t(s)].record();
  }
  ca::synchronize();
  std::vector<double> times;
  for (std::size_t s = 1; s < marks.size(); ++s) times.push_back(double(elapsed_ms(marks[s - 1], marks[s])) / calls);
  return {median(times), *std::min_element(times.begin(), times.end()), 0, samples, calls};
}

/// As chain_time of peers/common.py: wall time of 1000 calls, each of which may wait for the one before.
template <class F>
timing measure_chain(const F& call) {
  constexpr int calls = 1000, rounds = 3;
  std::vector<double> times, host;
  for (int r = 0; r <= rounds; ++r) {
    ca::synchronize();
    const double begin = now_ms();
    for (int i = 0; i < calls; ++i) call();
    const double queued = now_ms();
    ca::synchronize();
    if (r == 0) continue;
    times.push_back((now_ms() - begin) / calls);
    host.push_back((queued - begin) / calls);
  }
  return {median(times), *std::min_element(times.begin(), times.end()), median(host), rounds, calls};
}

// ---------------------------------------------------------------- the machine

#if defined(__CUDACC__)
static __global__ void copy_kernel(const float4* from, float4* to) {
  const std::size_t at = std::size_t(blockIdx.x) * 1024 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = from[at + std::size_t(i) * 256];
#pragma unroll
  for (int i = 0; i < 4; ++i) to[at + std::size_t(i) * 256] = v[i];
}
#endif

/// Bytes read and written per second by a plain copy: of the driver's and a kernel's the faster, or the C library's.
inline double copy_bandwidth() {
  const int64 n = gpu ? 1 << 26 : 1 << 24;
  const array from = normal(n), to = ca::empty(n);
  const std::size_t bytes = std::size_t(n) * sizeof(float);
  const auto rate = [&](const auto& copy) { return 2 * double(bytes) / (measure(copy, 40).median * 1e-3); };
#if defined(__CUDACC__)
  const auto stream = ca::current_stream().get();
  const auto driver = [&] { cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream); };
  const auto kernel = [&] {
    copy_kernel<<<unsigned(n / 4096), 256, 0, stream>>>(reinterpret_cast<const float4*>(from.data()),
                                                        reinterpret_cast<float4*>(to.data()));
  };
  for (const double begin = now_ms(); now_ms() - begin < 300; ca::synchronize()) kernel();  // clocks go up
  return std::max(rate(driver), rate(kernel));
#else
  return rate([&] { std::memcpy(to.data(), from.data(), bytes); });
#endif
}

inline std::string machine() {
#if defined(__CUDACC__)
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, 0) == cudaSuccess) return p.name;
#endif
  return ca::default_device::name;
}

// ---------------------------------------------------------------- rows

/// What one call of a row does, at least: bytes to be read and written, or operations and a function that measures how
/// many the machine can do per second. Buffers are rotated so that `footprint` (absent: the bytes) times their number
/// is several L2s.
struct work {
  double bytes = 0, flops = 0;
  double (*peak)() = nullptr;
  double footprint = 0;
  const char* peer = "cudarray";  ///< whose row this is
  int steps = 1;                  ///< steps of the workload in one call
  bool chain = false;             ///< calls depend on each other: measure_chain
};

class suite {
  struct entry {
    std::string workload, params;
    work amount;
    std::function<std::function<void()>()> make;
    std::vector<std::function<void()>> sets;
    timing last;
    std::string error;
    int done = 0;
  };

 public:
  /// Options: --json FILE (lines are appended), --only PREFIXES, --quick, --budget SECONDS, and Google Benchmark's.
  suite(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    for (int i = 1; i < argc; ++i) {
      const std::string a = argv[i];
      const bool value = i + 1 < argc;
      if (a == "--quick") quick_ = true;
      else if (a == "--json" && value) json_ = argv[++i];
      else if (a == "--budget" && value) budget_ = std::stod(argv[++i]);
      else if (a == "--only" && value) {
        for (std::string rest = argv[++i]; !rest.empty();) {
          const std::size_t comma = std::min(rest.find(','), rest.size());
          if (comma > 0) only_.push_back(rest.substr(0, comma));
          rest.erase(0, comma + 1);
        }
      } else {
        std::fprintf(stderr, "%s: %s: not an option, or its value is missing\n", argv[0], a.c_str());
        std::exit(2);
      }
    }
  }

  bool quick() const { return quick_; }
  bool wanted(const std::string& workload) const {
    return only_.empty() ||
           std::any_of(only_.begin(), only_.end(), [&](const auto& p) { return workload.rfind(p, 0) == 0; });
  }

  /// Adds a row to the table. `make()` makes a set of buffers and returns the call on it to be timed.
  template <class Make>
  void row(const std::string& workload, const std::string& params, const work& amount, const Make& make) {
    if (!wanted(workload)) return;
    std::string name = workload + ' ' + params;
    if (std::strcmp(amount.peer, "cudarray") != 0) name += std::string(" ") + amount.peer;
    entry& e = rows_[name];
    e.workload = workload, e.params = params, e.amount = amount;
    e.make = [make] { return std::function<void()>(make()); };
    auto* b = benchmark::RegisterBenchmark(name.c_str(), [this, &e](benchmark::State& s) { repetition(e, s); });
    b->UseManualTime()->Iterations(1)->Repetitions(repetitions)->Unit(benchmark::kMillisecond);
  }

  /// Times and prints all rows.
  int run() {
    if (rows_.empty()) return 0;
    try {
      bandwidth_ = copy_bandwidth();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
    std::printf("%s: the copy bandwidth is %.0f GB/s\n", machine().c_str(), bandwidth_ * 1e-9);
    char text[64];
    std::snprintf(text, sizeof text, ", \"copy_gbps\": %.1f", bandwidth_ * 1e-9);
    line("device", "cudarray", machine(), text);
    reporter shown(*this);
    benchmark::RunSpecifiedBenchmarks(&shown);
    return 0;
  }

 private:
  static constexpr int repetitions = 3;

  /// One repetition: the median of its samples is the one iteration that Google Benchmark sees.
  void repetition(entry& e, benchmark::State& state) {
    const work& w = e.amount;
    try {
      if (e.done == 0 && now_ms() - begin_ > budget_ * 1e3) e.error = "skipped: time budget";
      if (e.error.empty()) {
        if (e.done == 0) {
          const double bytes = w.footprint > 0 ? w.footprint : w.bytes > 0 ? w.bytes : 1e9;
          const int sets = w.chain ? 1 : std::clamp(int(300e6 / bytes) + 1, 2, 16);
          for (int i = 0; i < sets; ++i) e.sets.push_back(e.make());
          for (const auto& set : e.sets) set();
        }
        std::size_t next = 0;
        const auto call = [&] { e.sets[next++ % e.sets.size()](); };
        e.last = w.chain ? measure_chain(call) : measure(call, (quick_ ? 20. : 50.) / repetitions);
      }
    } catch (const std::exception& x) {
      e.error = x.what();
    }
    if (!e.error.empty()) {
      state.SkipWithError(e.error.c_str());
      if (e.done == 0) failed(e);
    } else {
      for (auto unused : state) {
        (void)unused;
        state.SetIterationTime(e.last.median * 1e-3);
      }
    }
    if (++e.done == repetitions || !e.error.empty()) e.sets.clear();
  }

  static std::string title(const entry& e) {
    std::string t = e.workload + ' ' + e.params;
    if (std::strcmp(e.amount.peer, "cudarray") != 0) t += std::string(" [") + e.amount.peer + ']';
    return t;
  }

  void failed(const entry& e) {
    std::printf("%-48s %s\n", title(e).c_str(), e.error.c_str());
    std::string text;
    for (char c : e.error.substr(0, 300)) {
      if (c == '"' || c == '\\') text += '\\';
      text += c < ' ' ? ' ' : c;
    }
    line(e.workload, e.amount.peer, e.params, ", \"error\": \"" + text + '"');
  }

  void finished(const entry& e, double ms) {
    const work& w = e.amount;
    ms /= w.steps;
    char shown[96], extra[96] = "", text[256];
    std::snprintf(shown, sizeof shown, "%10.4f ms", ms);
    if (w.bytes > 0) {
      const double rate = w.bytes / (ms * 1e-3);
      std::snprintf(shown, sizeof shown, "%10.4f ms %9.1f GB/s    %5.2f of the copy", ms, rate * 1e-9,
                    rate / bandwidth_);
      std::snprintf(extra, sizeof extra, ", \"gbps\": %.1f, \"of_limit\": %.3f", rate * 1e-9, rate / bandwidth_);
    } else if (w.flops > 0) {
      const double rate = w.flops / (ms * 1e-3);
      std::snprintf(shown, sizeof shown, "%10.4f ms %9.2f TFLOP/s", ms, rate * 1e-12);
      std::snprintf(extra, sizeof extra, ", \"tflops\": %.3f", rate * 1e-12);
      if (w.peak != nullptr) {
        const double part = rate / w.peak();
        std::snprintf(shown, sizeof shown, "%10.4f ms %9.2f TFLOP/s %5.2f of the peak", ms, rate * 1e-12, part);
        std::snprintf(extra, sizeof extra, ", \"tflops\": %.3f, \"of_limit\": %.3f", rate * 1e-12, part);
      }
    } else if (w.chain) {
      std::snprintf(shown, sizeof shown, "%10.5f ms, %8.5f of it the host's", ms, e.last.host);
      std::snprintf(extra, sizeof extra, ", \"us_per_iter\": %.3f, \"host_us_per_iter\": %.3f", ms * 1e3,
                    e.last.host * 1e3);
    }
    std::printf("%-48s %s\n", title(e).c_str(), shown);
    std::fflush(stdout);
    std::snprintf(text, sizeof text, ", \"ms_median\": %.6f%s, \"ms_min\": %.6f, \"reps\": %d, \"inner\": %d", ms,
                  extra, e.last.least / w.steps, e.last.samples * repetitions, e.last.calls);
    line(e.workload, w.peer, e.params, text);
  }

  void line(const std::string& workload, const std::string& peer, const std::string& params, const std::string& rest) {
    if (json_.empty()) return;
    std::FILE* f = std::fopen(json_.c_str(), "a");
    if (f == nullptr) return;
    std::fprintf(f, "{\"workload\": \"%s\", \"peer\": \"%s\", \"params\": \"%s\"%s}\n", workload.c_str(), peer.c_str(),
                 params.c_str(), rest.c_str());
    std::fclose(f);
  }

  /// One line per row, the median of its repetitions.
  class reporter : public benchmark::BenchmarkReporter {
   public:
    explicit reporter(suite& s) : s_(s) {}
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
      for (const Run& r : runs)
        if (r.run_type == Run::RT_Aggregate && r.aggregate_name == "median")
          s_.finished(s_.rows_.at(r.run_name.function_name), r.GetAdjustedRealTime());
    }

   private:
    suite& s_;
  };

  std::map<std::string, entry> rows_;
  std::vector<std::string> only_;
  std::string json_;
  bool quick_ = false;
  double budget_ = 1e9, begin_ = now_ms(), bandwidth_ = 1;
};

}  // namespace bench
