// Indices out of range among many, negative powers among many: the first in C order is reported, and nothing else
// changes. SPDX-License-Identifier: MIT
#include "test.hpp"

namespace {

using device = ca::default_device;
using array = ca::ndarray<float>;
template <class T>
using indices = ca::ndarray<T>;

/// n indices in range but for those at the given places, which are their own place + 1000.
template <class T>
indices<T> wrong_at(ca::int64 n, std::initializer_list<ca::int64> places) {
  std::vector<T> k(std::size_t(n), T(1));
  for (const ca::int64 p : places) k[std::size_t(p)] = T(p + 1000);
  return ca::array<T>(k);
}

/// What `f` throws, at once or when the device is waited for.
template <class F>
std::string reported(const F& f) {
  return test::thrown<ca::index_error>([&] {
    f();
    ca::synchronize();
  });
}
std::string text(const char* function, ca::int64 place, ca::int64 size, int axis = 0) {
  return std::string(function) + ": index " + std::to_string(place + 1000) + " is out of bounds for axis " +
         std::to_string(axis) + " with size " + std::to_string(size);
}

template <class T>
void check_order() {
  for (const ca::int64 n : {5, 300, 70000, 1000003}) {
    INFO("n = " << n);
    const ca::int64 first = n / 3 + 1;
    const auto i = wrong_at<T>(n, {n - 1, first, n / 2 + 1, first + 1});
    const array table = ca::zeros({8}), rows = ca::zeros({8, 3}), wide = ca::zeros({8, 64});
    array y = ca::zeros({n});
    CHECK(reported([&] { y = ca::take(table, i); }) == text("take", first, 8));
    CHECK(reported([&] { y = ca::take(table, i) * 2.f + 1.f; }) == text("take", first, 8));
    CHECK(reported([&] { y = ca::sum(ca::take(rows, i), 1); }) == text("take", first, 8));
    CHECK(reported([&] { (void)ca::sum(ca::take(table, i)).item(); }) == text("take", first, 8));
    CHECK(reported([&] { const array z = ca::take(rows, i); }) == text("take", first, 8));
    if (n < 100000) {
      CHECK(reported([&] { const array z = ca::take(wide, i); }) == text("take", first, 8));
      CHECK(reported([&] { const array z = ca::take(wide.t(), i, 1); }) == text("take", first, 8, 1));
      const auto square = ca::reshape(i(ca::slice(0, n / 5 * 5)), {5, -1});
      if (first < n / 5 * 5)
        CHECK(reported([&] { const array z = ca::take(table, square); }) == text("take", first, 8));
    }
    CHECK(reported([&] { table(i) = 1; }) == text("index", first, 8));
    CHECK(reported([&] { rows(i) = ca::ones({n, 3}); }) == text("index", first, 8));
    CHECK(reported([&] { ca::scatter_add(table, i, 1); }) == text("scatter_add", first, 8));
    CHECK(reported([&] { ca::scatter_add(rows, i, ca::ones({n, 3})); }) == text("scatter_add", first, 8));
    CHECK(reported([&] { (void)ca::nnet::one_hot_encode(i, 8); }) == text("nnet::one_hot_encode", first, 8));
    // every second index, where the wrong ones have other places
    const auto second = i(ca::slice(first % 2, ca::none, 2));
    CHECK(reported([&] { y = ca::take(table, second); }) == text("take", first, 8));
    CHECK(reported([&] { (void)ca::sum(ca::take(table, second)).item(); }) == text("take", first, 8));
    CHECK(reported([&] { table(second) = 1; }) == text("index", first, 8));
    ca::synchronize();  // nothing is left
  }
}

}  // namespace

TEST_CASE("faults: the first index out of range is reported") {
  check_order<ca::int64>();
  check_order<int>();
}

TEST_CASE("faults: all indices wrong") {
  const ca::int64 n = 1 << 20;
  const array table = ca::zeros({8});
  const auto i = ca::eval(ca::arange(n) + 1000);
  CHECK(reported([&] { const array y = ca::take(table, i); }) == text("take", 0, 8));
  CHECK(reported([&] { table(i) = 1; }) == text("index", 0, 8));
  CHECK(reported([&] { ca::scatter_add(table, i, 1); }) == text("scatter_add", 0, 8));
  CHECK(reported([&] { const array y = ca::take(table, -i); }) ==
        "take: index -1000 is out of bounds for axis 0 with size 8");
}

TEST_CASE("faults: of several statements the first is reported") {
  const array table = ca::zeros({8});
  const auto first = wrong_at<ca::int64>(100, {90}), second = wrong_at<ca::int64>(100, {2});
  CHECK(reported([&] {
          const array y = ca::take(table, first);
          const array z = ca::take(table, second);
        }) == text("take", 90, 8));
  ca::synchronize();
}

TEST_CASE("faults: the least of the negative exponents is reported") {
  const ca::ndarray<int> x = ca::full<int>({1000}, 2);
  std::vector<int> exponents(1000, 3);
  exponents[400] = -2;
  exponents[700] = -5;
  const ca::ndarray<int> y = ca::array<int>(exponents);
  CHECK(test::thrown<ca::value_error>([&] {
          const ca::ndarray<int> z = ca::power(x, y);
          ca::synchronize();
        }) == "power: an integer to the negative power -5");
  CHECK(test::thrown<ca::value_error>([&] {
          (void)ca::sum(ca::power(x, y)).item();
          ca::synchronize();
        }) == "power: an integer to the negative power -5");
  ca::synchronize();
}
