// Matrix products against what the BLAS underneath can do at its best size.
// SPDX-License-Identifier: MIT
#include <cudarray/linalg.hpp>
#include <cudarray/nnet.hpp>

#include "bench.hpp"

#if defined(CUDARRAY_HAS_CUDA)
#include <cublas_v2.h>
#elif defined(CUDARRAY_HAS_CBLAS)
#include <cblas.h>
#endif

using namespace bench;

namespace {

template <class T>
ca::ndarray<T> of(const ca::shape& s) {
  return ca::astype<T>(normal(s));
}

/// Operations per second of the BLAS' own product of two large square matrices of T.
template <class T>
double measure_peak() {
  constexpr bool wide = std::is_same_v<T, float>;
  const int64 k = !gpu ? 1024 : wide ? 4096 : 8192;
  const ca::ndarray<T> x = of<T>({k, k}), y = of<T>({k, k}), z = ca::empty<T>({k, k});
  const auto rate = [&](const auto& call) {
    call();  // handles and workspaces are made here
    return 2. * double(k) * double(k) * double(k) / (measure(call, 30).median * 1e-3);
  };
#if defined(CUDARRAY_HAS_CUDA)
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 0;
  cublasSetStream(handle, ca::current_stream().get());
  constexpr auto type = wide ? CUDA_R_32F : CUDA_R_16BF;
  const float one = 1, zero = 0;
  const int m = int(k);
  const double r = rate([&] {
    cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, y.data(), type, m, x.data(), type, m, &zero, z.data(),
                 type, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  });
  cublasDestroy(handle);
  return r;
#elif defined(CUDARRAY_HAS_CBLAS)
  if constexpr (wide)
    return rate([&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(k), int(k), int(k), 1, x.data(), int(k), y.data(),
                  int(k), 0, z.data(), int(k));
    });
#endif
  return rate([&] { ca::matmul(x, y); });
}

template <class T>
double peak() {
  static const double once = measure_peak<T>();
  return once;
}

template <class T>
void products(suite& s, const std::string& precision, const std::vector<int64>& sizes, int64 batched) {
  for (const int64 n : sizes) {
    const double elements = double(n) * double(n);
    s.row("M1_gemm", precision + ' ' + count(n),
          {.flops = 2 * elements * double(n), .peak = peak<T>, .footprint = 3 * elements * sizeof(T)}, [n] {
            const ca::ndarray<T> a = of<T>({n, n}), b = of<T>({n, n});
            return [=, c = ca::ndarray<T>()]() mutable { c = ca::matmul(a, b); };
          });
  }
  const double cube = double(batched) * double(batched) * double(batched);
  s.row("M1_bgemm", precision + " 64x" + std::to_string(batched),
        {.flops = 128 * cube, .peak = peak<T>, .footprint = 1e8}, [batched] {
          const ca::ndarray<T> a = of<T>({64, batched, batched}), b = of<T>({64, batched, batched});
          return [=, c = ca::ndarray<T>()]() mutable { c = ca::matmul(a, b); };
        });
  const int64 n = sizes[0];
  s.row("M2_gemm_bias_relu", precision + ' ' + count(n),
        {.flops = 2 * double(n) * double(n) * double(n), .peak = peak<T>, .footprint = 1e8}, [n] {
          const ca::ndarray<T> x = of<T>({n, n}), w = of<T>({n, n}), b = of<T>(n);
          return [=, c = ca::ndarray<T>()]() mutable {
            c = ca::nnet::linear(x, w.t(), b, {.activation = ca::nnet::activation::relu});
          };
        });
}

}  // namespace

int main(int argc, char** argv) {
  suite s(argc, argv);
  if constexpr (gpu) {
    products<float>(s, "fp32", {4096, 1024, 256}, 512);
    for (const int64 n : {4096, 1024, 256}) {
      const double elements = double(n) * double(n);
      s.row("M1_gemm", "tf32 " + count(n), {.flops = 2 * elements * double(n), .footprint = 12 * elements}, [n] {
        const array a = normal({n, n}), b = normal({n, n});
        return [=, c = array()]() mutable {
          const ca::precision_scope fast(ca::precision::tf32);
          c = ca::matmul(a, b);
        };
      });
    }
    products<ca::bfloat16>(s, "bf16", {4096, 8192, 1024, 256}, 512);
  } else {
    products<float>(s, "fp32", {1024, 512, 256}, 64);
  }
  return s.run();
}
