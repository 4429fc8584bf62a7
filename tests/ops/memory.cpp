// Memory statistics, limits, the pool, poison.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

namespace {

using array = ca::ndarray<float>;

struct limit {
  explicit limit(ca::int64 bytes) { ca::set_memory_limit(bytes); }
  ~limit() { ca::set_memory_limit(0); }
};

}  // namespace

TEST_CASE("memory: used and peak follow the arrays") {
  const auto before = ca::memory_stats();
  {
    const array a = ca::zeros({256, 1024});
    CHECK(ca::memory_stats().used == before.used + (1 << 20));
    const array b = a + 1.f;
    CHECK(ca::memory_stats().used == before.used + (2 << 20));
    const array view = b(0);
    CHECK(ca::memory_stats().used == before.used + (2 << 20));
  }
  const auto after = ca::memory_stats();
  CHECK(after.used == before.used);
  CHECK(after.peak >= before.used + (2 << 20));
  CHECK(after.limit == 0);
}

TEST_CASE("memory: what exceeds the limit throws, and everything stays usable") {
  const array a = ca::ones({1000});
  const ca::int64 used = ca::memory_stats().used;
  {
    const limit most(used + 5000);
    CHECK(ca::memory_stats().limit == used + 5000);
    const array b = a * 2.f;
    CHECK(test::thrown<ca::out_of_memory>([&] { array c = a + b; }) ==
          std::string(ca::default_device::name) + ": 4000 bytes beside the " + std::to_string(used + 4000) +
              " in use would exceed the limit of " + std::to_string(used + 5000));
    CHECK(ca::memory_stats().used == used + 4000);
    b(ca::_) = a + b;
    CHECK(ca::sum(b).item() == 3000.f);
  }
  const array c = a + a;
  CHECK(ca::sum(c).item() == 2000.f);
  CHECK(test::thrown<ca::value_error>([] { ca::set_memory_limit(-1); }) == "set_memory_limit: -1 bytes");
}

TEST_CASE("memory: more than the machine has is out_of_memory, and nothing is counted") {
  const ca::int64 used = ca::memory_stats().used;
  CHECK(test::thrown<ca::out_of_memory>([] { ca::empty({ca::int64(1) << 54}); }) != "nothing was thrown");
  CHECK(ca::memory_stats().used == used);
  CHECK(ca::sum(ca::ones({10})).item() == 10.f);
}

TEST_CASE("memory: free_cached leaves nothing in the pool that no array uses") {
  { const array a = ca::zeros({1 << 22}); }
  ca::synchronize();
  ca::free_cached();
  CHECK(ca::memory_stats().cached < (64 << 20));
  CHECK(ca::sum(ca::ones({10})).item() == 10.f);
}

TEST_CASE("memory: with released memory poisoned, as in all tests, what owns its operands is right") {
  CHECK(test::poisoned);
  const auto log_softmax = [](const array& x) {
    const array shifted = x - ca::max(x);
    return shifted - ca::log(ca::sum(ca::exp(shifted)));
  };
  const auto e = log_softmax(ca::array<float>({0, 0, 0, 0}));
  CHECK(test::close(e, {4}, {-1.3862943611, -1.3862943611, -1.3862943611, -1.3862943611}));
  const array row = array(ca::arange<float>(12))(ca::slice(4, 8));
  CHECK(test::equal(row, {4}, std::vector<float>{4, 5, 6, 7}));
  array y = ca::array<float>({1, 3});
  y = y / ca::sum(y);
  CHECK(test::equal(y, {2}, std::vector<float>{0.25f, 0.75f}));
  const array a = ca::array<float>({{1, 2}, {3, 4}});
  a(ca::_) = ca::transpose(a) + a;
  CHECK(test::equal(a, {2, 2}, std::vector<float>{2, 5, 5, 8}));
}
