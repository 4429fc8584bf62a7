// What finfo, iinfo, can_cast and isdtype say; expected values from NumPy and ml_dtypes.
// SPDX-License-Identifier: MIT
#include "../test.hpp"

#include <limits>

using f16 = ca::float16;
using bf16 = ca::bfloat16;
using limits = std::numeric_limits<float>;

static_assert(ca::finfo<float>::max == limits::max() && ca::finfo<float>::min == limits::lowest());
static_assert(ca::finfo<float>::eps == limits::epsilon() && ca::finfo<float>::bits == 32);
static_assert(ca::finfo<float>::smallest_normal == limits::min() && ca::finfo<float>::tiny == limits::min());
static_assert(ca::finfo<float>::smallest_subnormal == limits::denorm_min());
static_assert(ca::finfo<double>::max == std::numeric_limits<double>::max());
static_assert(ca::finfo<double>::smallest_subnormal == std::numeric_limits<double>::denorm_min());
static_assert(std::is_same_v<ca::finfo<ca::complex64>::dtype, float> && ca::finfo<ca::complex128>::bits == 64);
static_assert(float(ca::finfo<f16>::max) == 65504.f && float(ca::finfo<f16>::eps) == 0.0009765625f);
static_assert(float(ca::finfo<f16>::smallest_subnormal) == 5.9604644775390625e-08f);
static_assert(float(ca::finfo<bf16>::max) == 3.3895313892515355e+38f && float(ca::finfo<bf16>::eps) == 0.0078125f);
static_assert(float(ca::finfo<bf16>::min) == -3.3895313892515355e+38f && ca::finfo<bf16>::bits == 16);

static_assert(ca::iinfo<ca::int8>::min == -128 && ca::iinfo<ca::uint16>::max == 65535 && ca::iinfo<int>::bits == 32);

static_assert(ca::can_cast<bool, ca::int8> && ca::can_cast<ca::uint8, ca::int16> && ca::can_cast<float, double>);
static_assert(ca::can_cast<ca::int64, double> && ca::can_cast<float, ca::complex64> && ca::can_cast<int, int>);
static_assert(!ca::can_cast<ca::int8, bool> && !ca::can_cast<ca::uint8, ca::int8> && !ca::can_cast<double, float>);
static_assert(!ca::can_cast<int, float> && !ca::can_cast<ca::complex64, float> && !ca::can_cast<f16, bf16>);

static_assert(ca::isdtype<bool>("bool") && !ca::isdtype<bool>("numeric") && ca::isdtype<ca::int8>("signed integer"));
static_assert(ca::isdtype<ca::uint8>("unsigned integer") && ca::isdtype<ca::uint8>("integral"));
static_assert(ca::isdtype<f16>("real floating") && ca::isdtype<ca::complex64>("complex floating"));
static_assert(ca::isdtype<ca::complex64>("numeric") && !ca::isdtype<float>("integral"));

TEST_CASE("dtype_info: a kind that there is not") {
  CHECK(test::thrown<ca::value_error>([] { (void)ca::isdtype<float>("float"); }) ==
        "isdtype: float: not a kind of dtypes");
}
