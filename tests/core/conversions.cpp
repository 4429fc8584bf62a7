// Conversions to half types round once: between each two neighbours, to the nearest and, from the middle, to even.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <limits>

#include "test.hpp"

namespace {

using ca::int64;
using ca::uint16;
using ca::uint64;

/// Numbers, and the bits of a half type that each must become.
template <class T>
struct cases {
  std::vector<T> from;
  std::vector<uint16> to;
  void add(T v, uint16 bits) {
    from.push_back(v);
    to.push_back(bits);
  }
};

template <class H>
double value_of(unsigned bits) {
  H h;
  h.bits = uint16(bits);
  return double(float(h));
}
/// Bits of the largest finite number. The next ones are those of infinity: what rounds up from here is infinite, and
/// the middle lies half a step above.
template <class H>
constexpr unsigned highest = std::is_same_v<H, ca::float16> ? 0x7bff : 0x7f7f;

/// The middle of numbers `bits` and the one above.
template <class H>
double middle(unsigned bits) {
  const double below = value_of<H>(bits);
  return bits == highest<H> ? below + (below - value_of<H>(bits - 1)) / 2 : (below + value_of<H>(bits + 1)) / 2;
}

template <class H>
cases<double> doubles_around() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  cases<double> c;
  for (unsigned b = 0; b <= highest<H>; ++b)
    for (const unsigned sign : {0u, 0x8000u}) {
      const double s = sign ? -1 : 1, m = middle<H>(b);
      c.add(s * value_of<H>(b), uint16(sign | b));
      c.add(s * std::nextafter(m, 0.), uint16(sign | b));
      c.add(s * m, uint16(sign | (b + (b & 1))));
      c.add(s * std::nextafter(m, inf), uint16(sign | (b + 1)));
    }
  for (const double large : {1e30, 1e39, 1e300, inf}) {
    const bool fits = std::is_same_v<H, ca::bfloat16> && large == 1e30;
    c.add(large, fits ? 0x714a : uint16(highest<H> + 1));  // 1e30 is 1.5777 * 2^99, and 0.5777 * 128 is 73.9
    c.add(-large, fits ? 0xf14a : uint16(0x8000 + highest<H> + 1));
  }
  c.add(std::numeric_limits<double>::denorm_min(), 0);
  return c;
}

/// The whole numbers among the middles, and those beside them.
template <class H, class T>
cases<T> integers_around() {
  using limits = std::numeric_limits<T>;
  cases<T> c;
  for (unsigned b = 0; b <= highest<H>; ++b)
    for (const unsigned sign : {0u, 0x8000u}) {
      if (sign && !limits::is_signed) continue;
      const double s = sign ? -1 : 1, m = s * middle<H>(b), n = s * value_of<H>(b);
      if (m != std::floor(m) || !(m > double(limits::lowest())) || !(m < double(limits::max()))) continue;
      const T outward = T(sign ? -1 : 1);
      c.add(T(n), uint16(sign | b));
      c.add(T(T(m) - outward), uint16(sign | b));
      c.add(T(m), uint16(sign | (b + (b & 1))));
      c.add(T(T(m) + outward), uint16(sign | (b + 1)));
    }
  return c;
}

template <class H, class T>
int wrong_bits(const cases<T>& c) {
  const auto x = ca::array(c.from);
  const ca::ndarray<H, ca::cpu> whole = ca::to<ca::cpu>(ca::astype<H>(x));
  int wrong = 0;
  for (std::size_t i = 0; i < c.from.size(); ++i) {
    wrong += whole.at(int64(i)).bits != c.to[i];
    wrong += H(c.from[i]).bits != c.to[i];  // the host's own
  }
  // short and strided ones: the ends of rows, and elements one by one
  for (const int n : {1, 2, 3, 5, 7, 9, 15, 17, 31, 33, 63, 65}) {
    if (std::size_t(2 * n) > c.from.size()) continue;
    const ca::ndarray<H, ca::cpu> few = ca::to<ca::cpu>(ca::astype<H>(x(ca::slice(0, n))));
    const ca::ndarray<H, ca::cpu> apart = ca::to<ca::cpu>(ca::astype<H>(x(ca::slice(0, 2 * n, 2))));
    for (int i = 0; i < n; ++i)
      wrong += (few.at(i).bits != c.to[std::size_t(i)]) + (apart.at(i).bits != c.to[std::size_t(2 * i)]);
  }
  return wrong;
}

template <class H>
void check_all() {
  CHECK(wrong_bits<H>(doubles_around<H>()) == 0);
  CHECK(wrong_bits<H>(integers_around<H, int64>()) == 0);
  CHECK(wrong_bits<H>(integers_around<H, uint64>()) == 0);
  CHECK(wrong_bits<H>(integers_around<H, int>()) == 0);
  CHECK(wrong_bits<H>(integers_around<H, unsigned>()) == 0);
  CHECK(wrong_bits<H>(integers_around<H, ca::int16>()) == 0);
}

}  // namespace

TEST_CASE("conversions: float64 and integers to float16 round once") {
  check_all<ca::float16>();
  // NumPy: np.array([1 + 2**-11 + 2**-40, 65519.999999, 2**-25 * (1 + 2**-30)]).astype(np.float16)
  const auto x = ca::array<double>({1 + 0x1p-11 + 0x1p-40, 65519.999999, 0x1p-25 + 0x1p-55, 65520});
  CHECK(test::equal(ca::astype<ca::float16>(x), {4},
                    std::vector<double>{1.0009765625, 65504, 5.9604644775390625e-08, HUGE_VAL}));
}
TEST_CASE("conversions: float64 and integers to bfloat16 round once") { check_all<ca::bfloat16>(); }

TEST_CASE("conversions: NaN, and other ways to a half type") {
  const auto x = ca::array<double>({std::nan(""), 1 + 0x1p-11 + 0x1p-40});
  const auto h = test::values(ca::astype<ca::float16>(x));
  CHECK(float(h[0]) != float(h[0]));
  ca::ndarray<ca::float16> a = ca::zeros<ca::float16>({2});
  a(ca::_) = x;
  CHECK(float(test::values(a)[1]) == 1.0009765625f);
  a.fill(1 + 0x1p-11 + 0x1p-40);
  CHECK(float(test::values(a)[1]) == 1.0009765625f);
  CHECK(float(test::values(ca::full<ca::float16>({1}, 1 + 0x1p-11 + 0x1p-40))[0]) == 1.0009765625f);
  CHECK(float(test::values(a * 0 + (1 + 0x1p-11 + 0x1p-40))[0]) == 1.0009765625f);
  // the mean of float16 is taken in float32 and rounded once more: not here, but of integers to float64 and then
  // float16
  CHECK(float(test::values(ca::astype<ca::float16>(ca::mean(ca::array<int>({2049, 2050}))))[0]) == 2050.f);
}
