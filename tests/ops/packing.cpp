// Eight truth values in a byte, and windows; expected values from NumPy.
// SPDX-License-Identifier: MIT
#include "samples.hpp"

using namespace samples;
using octets = std::vector<ca::uint8>;

TEST_CASE("packing: bits to bytes") {
  const auto b = ca::array<int>({{1, 0, 1, 1, 0, 0, 1, 0, 1}, {0, 3, 0, 0, 0, 0, 0, -1, 0}});
  CHECK(test::equal(ca::packbits(b), {3}, octets{178, 160, 128}));
  CHECK(test::equal(ca::packbits(b, {.axis = 1}), {2, 2}, octets{178, 128, 65, 0}));
  CHECK(test::equal(ca::packbits(b, {.axis = 0}), {1, 9}, octets{128, 64, 128, 128, 0, 0, 128, 64, 128}));
  CHECK(test::equal(ca::packbits(b, {.axis = -1, .order = ca::bit_order::little}), {2, 2}, octets{77, 1, 130, 0}));
  CHECK(test::equal(ca::packbits(b > 0), {3}, octets{178, 160, 0}));
  CHECK(ca::packbits(ca::zeros<bool>({0})).shape() == ca::shape{0});
  CHECK(ca::packbits(ca::zeros<bool>({2, 0}), {.axis = 1}).shape() == ca::shape{2, 0});
  static_assert(is<decltype(ca::packbits(b)), ca::uint8>);
  const auto eight = ca::ones<int>({1, 1, 1, 1, 1, 1, 1, 2});
  CHECK(ca::packbits(eight, {.axis = 7}).shape() == ca::shape{1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(test::values(ca::packbits(eight, {.axis = ca::int8(7)})) == octets{192});
  CHECK(ca::unpackbits(ca::packbits(eight, {.axis = 7}), {.axis = 7, .count = 2u}).shape() == eight.shape());
  CHECK(test::thrown<ca::index_error>([&] { ca::packbits(b, {.axis = 2}); }) ==
        "packbits: axis 2 is out of bounds for an array of 2 axes");
}

TEST_CASE("packing: bytes to bits") {
  const auto u = ca::array<ca::uint8>({{2}, {7}, {23}});
  CHECK(test::equal(ca::unpackbits(u, {.axis = 1}), {3, 8},
                    octets{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1}));
  CHECK(test::equal(ca::unpackbits(u, {.axis = 1, .count = -3}), {3, 5},
                    octets{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}));
  CHECK(test::equal(ca::unpackbits(u, {.count = 20}), {20},
                    octets{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1}));
  CHECK(test::equal(ca::unpackbits(u, {.axis = 0, .order = ca::bit_order::little}), {24, 1},
                    octets{0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0}));
  CHECK(test::equal(ca::unpackbits(u, {.axis = 1, .count = 10})(ca::_, ca::slice(6, ca::none)), {3, 4},
                    octets{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0}));
  CHECK(ca::unpackbits(u, {.axis = 1, .count = 0}).shape() == ca::shape{3, 0});
  const ca::ndarray<bool> mask = ca::arange(100) % 3 == 0;
  for (const auto order : {ca::bit_order::big, ca::bit_order::little})
    CHECK(ca::all(ca::unpackbits(ca::packbits(mask, {.order = order}), {.order = order, .count = 100}) == mask).item());
  CHECK(test::thrown<ca::value_error>([&] { ca::unpackbits(u, {.axis = 1, .count = -9}); }) ==
        "unpackbits: a count of -9 for 8 bits");
}

TEST_CASE("windows") {
  CHECK(test::close(ca::bartlett<double>(6), {6}, {0, 0.4, 0.8, 0.8, 0.4, 0}, 1e-15));
  CHECK(test::close(ca::blackman<double>(6) + 1, {6},
                    {1, 1.2007701432625305, 1.8492298567374694, 1.8492298567374694, 1.2007701432625305, 1}, 1e-15));
  CHECK(test::close(ca::hamming<double>(5), {5}, {0.08000000000000002, 0.54, 1, 0.54, 0.08000000000000002}, 1e-14));
  CHECK(test::close(ca::hanning<double>(6), {6},
                    {0, 0.34549150281252633, 0.9045084971874737, 0.9045084971874737, 0.34549150281252633, 0}, 1e-14));
  CHECK(test::close(ca::kaiser<double>(6, 8.6), {6},
                    {0.0013325139979024198, 0.20105486954533092, 0.8494161890910448, 0.8494161890910448,
                     0.20105486954533092, 0.0013325139979024198},
                    1e-14));
  CHECK(test::equal(ca::kaiser(5, 0), {5}, ints{1, 1, 1, 1, 1}));
  CHECK(test::equal(ca::hanning(1), {1}, ints{1}));
  CHECK(ca::hamming(0).shape() == ca::shape{0});
  static_assert(is<decltype(ca::bartlett(3)), float>);
  CHECK(test::thrown<ca::value_error>([&] { ca::blackman(-1); }) == "blackman: -1 values");
  CHECK(test::thrown<ca::value_error>([&] { ca::kaiser(-2, 1); }) == "kaiser: -2 values");
}
