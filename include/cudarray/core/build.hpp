// What a translation unit is built with, as the name of the namespace in which its functions lie.
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

// The file's instruction set, and a letter for each of: fused multiply-add, cblas, oneDNN, Highway, cuDNN.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define CUDARRAY_ISA avx512
#define CUDARRAY_VECTOR_BYTES 64
#elif defined(__AVX512F__)
#define CUDARRAY_ISA avx512f
#define CUDARRAY_VECTOR_BYTES 32
#elif defined(__AVX2__)
#define CUDARRAY_ISA avx2
#define CUDARRAY_VECTOR_BYTES 32
#elif defined(__AVX__)
#define CUDARRAY_ISA avx
#define CUDARRAY_VECTOR_BYTES 16
#else
#define CUDARRAY_ISA base
#define CUDARRAY_VECTOR_BYTES 16
#endif
#if defined(__FMA__) || defined(__aarch64__)
#define CUDARRAY_FMA true
#define CUDARRAY_FMA_LETTER f
#else
#define CUDARRAY_FMA false
#define CUDARRAY_FMA_LETTER
#endif
#if defined(CUDARRAY_HAS_CBLAS)
#define CUDARRAY_CBLAS true
#define CUDARRAY_CBLAS_LETTER b
#else
#define CUDARRAY_CBLAS false
#define CUDARRAY_CBLAS_LETTER
#endif
#if defined(CUDARRAY_HAS_ONEDNN)
#define CUDARRAY_ONEDNN true
#define CUDARRAY_ONEDNN_LETTER o
#else
#define CUDARRAY_ONEDNN false
#define CUDARRAY_ONEDNN_LETTER
#endif
#if defined(CUDARRAY_HAS_HIGHWAY)
#define CUDARRAY_HIGHWAY true
#define CUDARRAY_HIGHWAY_LETTER h
#else
#define CUDARRAY_HIGHWAY false
#define CUDARRAY_HIGHWAY_LETTER
#endif
#if defined(CUDARRAY_HAS_CUDNN)
#define CUDARRAY_CUDNN true
#define CUDARRAY_CUDNN_LETTER c
#else
#define CUDARRAY_CUDNN false
#define CUDARRAY_CUDNN_LETTER
#endif
#define CUDARRAY_JOIN_BUILD(isa, f, b, o, h, c, arithmetic) isa##_##f##b##o##h##c##_##arithmetic
#define CUDARRAY_JOIN_BUILD_VALUES(isa, f, b, o, h, c, arithmetic) CUDARRAY_JOIN_BUILD(isa, f, b, o, h, c, arithmetic)
/// The name of the inline namespace in which this file's copy of the library's functions lies.
#define CUDARRAY_BUILD                                                                                         \
  CUDARRAY_JOIN_BUILD_VALUES(CUDARRAY_ISA, CUDARRAY_FMA_LETTER, CUDARRAY_CBLAS_LETTER, CUDARRAY_ONEDNN_LETTER, \
                             CUDARRAY_HIGHWAY_LETTER, CUDARRAY_CUDNN_LETTER, CUDARRAY_ARITHMETIC)
/// For members of the classes that all files share: the symbol tells the build.
#define CUDARRAY_PER_BUILD __attribute__((abi_tag(CUDARRAY_TEXT_OF_VALUE(CUDARRAY_BUILD))))

namespace cudarray::inline v0::detail::inline CUDARRAY_ARITHMETIC {
struct arithmetic {
  static constexpr bool finite_math = CUDARRAY_FINITE_MATH;
};
}  // namespace cudarray::inline v0::detail::inline CUDARRAY_ARITHMETIC

namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// What of the machine and of optional libraries this file's code may use, and how it may compute. Files built with
/// different flags link in any order and each runs its own code: functions, and the types they compute with, lie in
/// this inline namespace; types that files hand to each other (arrays, shapes, storage) do not.
struct this_build {
  static constexpr int vector_bytes = CUDARRAY_VECTOR_BYTES;
  static constexpr bool fma = CUDARRAY_FMA;
  static constexpr bool cblas = CUDARRAY_CBLAS;
  static constexpr bool onednn = CUDARRAY_ONEDNN;
  static constexpr bool highway = CUDARRAY_HIGHWAY;
  static constexpr bool cudnn = CUDARRAY_CUDNN;
  static constexpr bool finite_math = CUDARRAY_FINITE_MATH;  ///< NaN and infinity are taken for numbers
};

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD

#undef CUDARRAY_VECTOR_BYTES
#undef CUDARRAY_FMA
#undef CUDARRAY_CBLAS
#undef CUDARRAY_ONEDNN
#undef CUDARRAY_HIGHWAY
#undef CUDARRAY_CUDNN
