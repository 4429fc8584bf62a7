// Minutes of threads that begin and end, streams, arrays handed around, graphs, faults: what they cost stays the same.
// By hand: SOAK_SECONDS=600 runtime_cuda "[soak]". CUDA only.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "test.hpp"

namespace {

using ca::_;
using array = ca::ndarray<float, ca::cuda>;
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// Arrays that threads hand to each other; every element of one is the value that comes with it.
class exchange {
 public:
  struct parcel {
    array of;
    float value = 0;
  };
  /// Leaves one and takes another, if there is one.
  parcel swap(parcel mine, std::size_t at) {
    const std::lock_guard<std::mutex> guard(lock_);
    std::swap(mine, places_[at % places_.size()]);
    return mine;
  }

 private:
  std::mutex lock_;
  std::vector<parcel> places_ = std::vector<parcel>(24);
};

/// A thread's life: streams of its own, statements, products, convolutions, faults, graphs. Returns what was wrong.
std::string live(exchange& parcels, unsigned number) {
  std::mt19937 random(number);
  const ca::stream mine, other;
  const ca::stream_scope scope(mine);
  const array table = ca::ones({64}), x = ca::ones({32, 32}), image = ca::ones({1, 2, 8, 8}),
              filter = ca::ones({2, 2, 3, 3});
  ca::ndarray<ca::int64, ca::cuda> wrong = ca::array<ca::int64>({3, 64 + ca::int64(number % 1000), 5});
  array count = ca::zeros({1000});
  const auto step = ca::graph::capture([&] { count += ca::sum(ca::matmul(x, x)) * 0.f + 1.f; });
  float launches = 0;
  for (int i = 0; i < 200; ++i) {
    exchange::parcel p =
        parcels.swap({ca::full<float>({ca::int64(1000 + random() % 50000)}, float(i)), float(i)}, random());
    if (p.of.size() > 0) {
      const ca::stream_scope there(random() % 2 ? mine : other);
      const array y = p.of * 2.f + 1.f;
      p.of += 1.f;
      if (random() % 8 == 0 && ca::max(ca::abs(y - (2 * p.value + 1))).item() != 0) return "an array's values";
      p.value += 1;
      (void)parcels.swap(std::move(p), random());
    }
    if (i % 10 == 0 && ca::sum(ca::matmul(x, x)).item() != 32.f * 32 * 32) return "a product";
    if (i % 20 == 0 && ca::max(ca::nnet::conv2d(image, filter)).item() != 18) return "a convolution";
    if (i % 25 == 0) {
      const array picked = ca::take(table, wrong);
      const std::string text = test::thrown<ca::index_error>([&] { mine.synchronize(); });
      if (text != "take: index " + std::to_string(64 + number % 1000) + " is out of bounds for axis 0 with size 64")
        return "a fault: " + text;
    }
    step.launch(), ++launches;
    if (i % 50 == 0) {
      const auto brief = ca::graph::capture([&] { count += 1.f; });
      brief.launch(), ++launches;
    }
  }
  if (ca::min(count).item() != launches || ca::max(count).item() != launches) return "a graph's launches";
  return "";
}

/// What everything costs, once nothing runs.
struct reading {
  double device_mib = 0, host_mib = 0, used_mib = 0, statement_us = 0;
};
reading read_costs() {
  ca::synchronize();
  reading r;
  std::size_t left = 0, all = 0;
  REQUIRE(cudaMemGetInfo(&left, &all) == cudaSuccess);
  r.device_mib = double(all - left) / (1 << 20);
  r.used_mib = double(ca::memory_stats<ca::cuda>().used) / (1 << 20);
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  r.host_mib = double(resident) * 4096 / (1 << 20);
  const array a = ca::ones({1000}), b = ca::ones({1000});
  array c = ca::zeros({1000});
  std::vector<double> times;
  for (int k = 0; k < 50; ++k) {
    const auto begin = clock::now();
    for (int i = 0; i < 100; ++i) c(_) = a * 2.f + b;
    times.push_back(seconds_since(begin) / 100 * 1e6);
    ca::synchronize();
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  r.statement_us = times[25];
  return r;
}

}  // namespace

TEST_CASE("soak: minutes of threads, streams, graphs and faults cost nothing that stays", "[.soak]") {
  const char* const wanted = std::getenv("SOAK_SECONDS");
  const double seconds = wanted != nullptr ? std::atof(wanted) : 60;
  constexpr int threads = 8;
  exchange parcels;
  std::vector<reading> readings;
  unsigned lives = 0;
  const auto begin = clock::now();
  while (seconds_since(begin) < seconds || readings.size() < 4) {
    std::string found[threads];
    std::vector<std::thread> all;
    const auto segment = clock::now();
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        for (unsigned k = 0; seconds_since(segment) < seconds / 30 && found[t].empty(); ++k) {
          std::thread life(
              [&] { found[t] = live(parcels, 1 + 7919 * unsigned(readings.size()) + 97 * k + unsigned(t)); });
          life.join();
          __atomic_add_fetch(&lives, 1u, __ATOMIC_RELAXED);
        }
      });
    for (auto& t : all) t.join();
    for (const std::string& wrong : found) CHECK(wrong == "");
    readings.push_back(read_costs());
    const reading& r = readings.back();
    std::printf("%6.0f s, %6u threads: device %.1f MiB, arrays %.2f MiB, host %.1f MiB, statement %.2f us\n",
                seconds_since(begin), lives, r.device_mib, r.used_mib, r.host_mib, r.statement_us);
    std::fflush(stdout);
  }
  const std::size_t quarter = readings.size() / 4;
  const reading &first = readings[quarter], &last = readings.back();
  CHECK(last.device_mib <= first.device_mib + 64);
  CHECK(last.host_mib <= first.host_mib * 1.05 + 8);
  CHECK(last.statement_us <= first.statement_us * 1.25);
}

TEST_CASE("soak: a statement costs the same after eight readers and 2,000 streams", "[.soak]") {
  array x = ca::ones({1000});
  const auto statement_us = [&] {
    std::vector<double> times;
    for (int k = 0; k < 50; ++k) {
      ca::synchronize();
      const auto begin = clock::now();
      for (int i = 0; i < 100; ++i) x += 1.f;
      times.push_back(seconds_since(begin) / 100 * 1e6);
    }
    std::nth_element(times.begin(), times.begin() + 25, times.end());
    return times[25];
  };
  (void)statement_us();
  const double before = statement_us();
  const auto g = ca::graph::capture([&] { x += 1.f; });
  std::vector<ca::stream> readers(8);
  for (const ca::stream& s : readers) {
    const ca::stream_scope scope(s);
    const array y = x + 1.f;
  }
  const double after_readers = statement_us();
  for (int i = 0; i < 2000; ++i) {
    const ca::stream s;
    const ca::stream_scope scope(s);
    g.launch();
  }
  const double after_streams = statement_us();
  const auto begin = clock::now();
  for (int i = 0; i < 100; ++i) g.launch();
  const double launch_us = seconds_since(begin) / 100 * 1e6;
  std::printf("a statement: %.2f us, after 8 readers %.2f, after 2000 streams %.2f; then a launch of a graph: %.2f\n",
              before, after_readers, after_streams, launch_us);
  CHECK(after_readers < 1.5 * before + 1);
  CHECK(after_streams < 1.5 * before + 1);
  CHECK(launch_us < 200);
}
