// The configuration a translation unit is built with, as a type: it tags every function whose body depends on it.
// SPDX-License-Identifier: MIT
#pragma once

// The file's arithmetic in a word: `ieee`, or `fast` and a letter for each way in which it may leave IEEE 754 that the
// compiler tells. (clang++ tells of -ffast-math, -ffinite-math-only and -fno-math-errno, g++ of each part of the first
// and of -frounding-math; none of -ffp-contract.)
#if __FINITE_MATH_ONLY__
#define CUDARRAY_FINITE_MATH true
#define CUDARRAY_ARITHMETIC_N n
#else
#define CUDARRAY_FINITE_MATH false
#define CUDARRAY_ARITHMETIC_N
#endif
#if defined(__FAST_MATH__)
#define CUDARRAY_ARITHMETIC_F f
#else
#define CUDARRAY_ARITHMETIC_F
#endif
#if defined(__ASSOCIATIVE_MATH__)
#define CUDARRAY_ARITHMETIC_A a
#else
#define CUDARRAY_ARITHMETIC_A
#endif
#if defined(__RECIPROCAL_MATH__)
#define CUDARRAY_ARITHMETIC_R r
#else
#define CUDARRAY_ARITHMETIC_R
#endif
#if defined(__NO_SIGNED_ZEROS__)
#define CUDARRAY_ARITHMETIC_Z z
#else
#define CUDARRAY_ARITHMETIC_Z
#endif
#if defined(__NO_MATH_ERRNO__) || defined(__NO_TRAPPING_MATH__)
#define CUDARRAY_ARITHMETIC_E e
#else
#define CUDARRAY_ARITHMETIC_E
#endif
#if defined(__ROUNDING_MATH__)
#define CUDARRAY_ARITHMETIC_D d
#else
#define CUDARRAY_ARITHMETIC_D
#endif
#define CUDARRAY_JOIN(n, f, a, r, z, e, d) fast##n##f##a##r##z##e##d
#define CUDARRAY_JOIN_VALUES(n, f, a, r, z, e, d) CUDARRAY_JOIN(n, f, a, r, z, e, d)
#if __FINITE_MATH_ONLY__ || defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__NO_MATH_ERRNO__) || defined(__NO_TRAPPING_MATH__) ||                     \
    defined(__ROUNDING_MATH__)
#define CUDARRAY_ARITHMETIC                                                                                        \
  CUDARRAY_JOIN_VALUES(CUDARRAY_ARITHMETIC_N, CUDARRAY_ARITHMETIC_F, CUDARRAY_ARITHMETIC_A, CUDARRAY_ARITHMETIC_R, \
                       CUDARRAY_ARITHMETIC_Z, CUDARRAY_ARITHMETIC_E, CUDARRAY_ARITHMETIC_D)
#else
#define CUDARRAY_ARITHMETIC ieee
#endif
#define CUDARRAY_TEXT(word) #word
#define CUDARRAY_TEXT_OF_VALUE(word) CUDARRAY_TEXT(word)

namespace cudarray::inline v0 {
namespace detail {

/// What computes with floating-point numbers, and is given no build, lies in an inline namespace of this name.
inline namespace CUDARRAY_ARITHMETIC {
struct arithmetic {
  static constexpr bool finite_math = CUDARRAY_FINITE_MATH;
};
}  // namespace CUDARRAY_ARITHMETIC

/// What of the machine and of optional libraries this file's code may use, and how it may compute. Functions that
/// depend on it take it as a template parameter, so that files built with different flags link in any order and each
/// runs its own code.
template <int VectorBytes, bool Fma, bool Cblas, bool Onednn, bool Highway, bool Cudnn, class Arithmetic>
struct build_config {
  static constexpr int vector_bytes = VectorBytes;
  static constexpr bool fma = Fma;
  static constexpr bool cblas = Cblas;
  static constexpr bool onednn = Onednn;
  static constexpr bool highway = Highway;
  static constexpr bool cudnn = Cudnn;
  static constexpr bool finite_math = Arithmetic::finite_math;  ///< NaN and infinity are taken for numbers
};

}  // namespace detail

#if defined(__AVX512F__)
#define CUDARRAY_ISA_TAG "avx512"
#elif defined(__AVX__)
#define CUDARRAY_ISA_TAG "avx"
#else
#define CUDARRAY_ISA_TAG "base"
#endif
#if defined(CUDARRAY_HAS_CBLAS)
#define CUDARRAY_CBLAS true
#define CUDARRAY_CBLAS_TAG "blas"
#else
#define CUDARRAY_CBLAS false
#define CUDARRAY_CBLAS_TAG "own"
#endif
#if defined(CUDARRAY_HAS_ONEDNN)
#define CUDARRAY_ONEDNN true
#define CUDARRAY_ONEDNN_TAG "onednn"
#else
#define CUDARRAY_ONEDNN false
#define CUDARRAY_ONEDNN_TAG "windows"
#endif
#if defined(CUDARRAY_HAS_HIGHWAY)
#define CUDARRAY_HIGHWAY true
#define CUDARRAY_HIGHWAY_TAG "highway"
#else
#define CUDARRAY_HIGHWAY false
#define CUDARRAY_HIGHWAY_TAG "radix"
#endif
#if defined(CUDARRAY_HAS_CUDNN)
#define CUDARRAY_CUDNN true
#define CUDARRAY_CUDNN_TAG "cudnn"
#else
#define CUDARRAY_CUDNN false
#define CUDARRAY_CUDNN_TAG "no"
#endif
/// For what cannot take the configuration as a template parameter, and for functions whose machine code may hold wide
/// moves (compilers copy shapes and layouts with them): the symbol differs from file to file as the configuration does.
#define CUDARRAY_PER_BUILD                                                                                \
  __attribute__((abi_tag(CUDARRAY_ISA_TAG, CUDARRAY_CBLAS_TAG, CUDARRAY_ONEDNN_TAG, CUDARRAY_HIGHWAY_TAG, \
                         CUDARRAY_CUDNN_TAG, CUDARRAY_TEXT_OF_VALUE(CUDARRAY_ARITHMETIC))))

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define CUDARRAY_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define CUDARRAY_VECTOR_BYTES 32
#else
#define CUDARRAY_VECTOR_BYTES 16
#endif
#if defined(__FMA__) || defined(__aarch64__)
#define CUDARRAY_FMA true
#else
#define CUDARRAY_FMA false
#endif
/// The configuration of the file being compiled.
using this_build = detail::build_config<CUDARRAY_VECTOR_BYTES, CUDARRAY_FMA, CUDARRAY_CBLAS, CUDARRAY_ONEDNN,
                                        CUDARRAY_HIGHWAY, CUDARRAY_CUDNN, detail::arithmetic>;

#undef CUDARRAY_VECTOR_BYTES
#undef CUDARRAY_FMA
#undef CUDARRAY_CBLAS
#undef CUDARRAY_ONEDNN
#undef CUDARRAY_HIGHWAY
#undef CUDARRAY_CUDNN

}  // namespace cudarray::inline v0
