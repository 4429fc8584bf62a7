// Arrays shared with other libraries: DLPack both ways, mdspan, span.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <thread>

#include "test.hpp"

namespace dl = ca::dlpack;
using ca::_;
using ca::int64;
using ca::slice;
using test::thrown;
using D = ca::default_device;

namespace {
template <class M>
void done(M* m) {
  m->deleter(m);
}
template <class T>
std::array<int, 2> type_of() {
  auto* const m = ca::to_dlpack(ca::zeros<T>({1}));
  const std::array<int, 2> r{m->dl_tensor.dtype.code, m->dl_tensor.dtype.bits};
  CHECK(m->dl_tensor.dtype.lanes == 1);
  done(m);
  return r;
}

/// What another library would hand over: elements of its own, and how often it was told that they are not used.
template <class Managed, class T>
struct foreign {
  ca::ndarray<T> memory;  // on the device
  std::vector<int64> extents, strides;
  int released = 0;
  Managed managed{};
  foreign(const ca::ndarray<T>& a, bool with_strides) : memory(a) {
    for (int d = 0; d < a.ndim(); ++d) extents.push_back(a.shape(d)), strides.push_back(a.where().stride[d]);
    auto& t = managed.dl_tensor;
    t.data = a.data();
    t.device = {D::host_accessible ? 1 : 2, 0};
    t.ndim = a.ndim();
    const auto type = ca::detail::dlpack_type<T>();
    t.dtype = type;
    t.shape = extents.data();
    t.strides = with_strides ? strides.data() : nullptr;
    managed.manager_ctx = this;
    managed.deleter = [](Managed* m) { ++static_cast<foreign*>(m->manager_ctx)->released; };
    if constexpr (requires { managed.version; }) managed.version = {1, 0};
  }
};

/// As std::mdspan is declared, which g++ 12 does not have: extents of two axes, and two layouts.
template <std::size_t A, std::size_t B>
struct extents2 {
  using index_type = int;
  std::array<int, 2> of;
  explicit extents2(const std::array<int, 2>& e) : of(e) {}
  static constexpr std::size_t rank() { return 2; }
  static constexpr std::size_t static_extent(std::size_t d) { return d == 0 ? A : B; }
};
constexpr std::size_t open_extent = static_cast<std::size_t>(-1);
template <class E>
struct right_mapping {
  E e;
  explicit right_mapping(const E& of) : e(of) {}
  int stride(std::size_t d) const { return d == 0 ? e.of[1] : 1; }
};
template <class E>
struct strided_mapping {
  E e;
  std::array<int, 2> strides;
  strided_mapping(const E& of, const std::array<int, 2>& s) : e(of), strides(s) {}
  int stride(std::size_t d) const { return strides[d]; }
};
template <class T, class E, class M>
struct span2 {
  using element_type = T;
  using reference = T&;
  using data_handle_type = T*;
  using extents_type = E;
  using mapping_type = M;
  T* p;
  M m;
  span2(T* at, const M& map) : p(at), m(map) {}
  static constexpr std::size_t rank() { return 2; }
  T* data_handle() const { return p; }
  int extent(std::size_t d) const { return m.e.of[d]; }
  int stride(std::size_t d) const { return m.stride(d); }
};
using dynamic = extents2<open_extent, open_extent>;
template <class T>
using strided = span2<T, dynamic, strided_mapping<dynamic>>;
template <class T>
using right = span2<T, dynamic, right_mapping<dynamic>>;
}  // namespace

TEST_CASE("dlpack: what is handed over") {
  const ca::ndarray<float> x = ca::reshape(ca::arange(12.f), {3, 4});
  const auto before = x.storage()->references;
  auto* const m = ca::to_dlpack(x(_, slice(3, ca::none, -2)));
  CHECK((m->version.major == 1 && m->flags == 0));
  const auto& t = m->dl_tensor;
  CHECK((t.device.device_type == (D::host_accessible ? 1 : 2) && t.device.device_id == 0 && t.ndim == 2));
  CHECK((t.shape[0] == 3 && t.shape[1] == 2 && t.strides[0] == 4 && t.strides[1] == -2 && t.byte_offset == 0));
  CHECK(t.data == x.data() + 3);
  CHECK(x.storage()->references > before);  // it is kept alive
  done(m);
  CHECK(x.storage()->references == before);
  auto* const old = ca::to_dlpack<dl::managed_tensor>(x + 1);  // an expression: its value
  CHECK((old->dl_tensor.ndim == 2 && old->dl_tensor.strides[1] == 1));
  done(old);
  auto* const none = ca::to_dlpack(ca::zeros({0, 3}));
  auto* const scalar = ca::to_dlpack(ca::zeros({}));
  CHECK((none->dl_tensor.shape[0] == 0 && none->dl_tensor.data == nullptr && scalar->dl_tensor.ndim == 0));
  const auto formula = x + 1;  // the consumer may have written: it goes stale with the deleter
  auto* const written = ca::to_dlpack(x);
  done(written);
  CHECK(thrown<ca::stale_error>([&] { ca::eval(formula); }) != "nothing was thrown");
  done(none), done(scalar);
}

TEST_CASE("dlpack: dtypes") {
  CHECK(type_of<bool>() == std::array{6, 8});
  CHECK(type_of<ca::int8>() == std::array{0, 8});
  CHECK(type_of<int64>() == std::array{0, 64});
  CHECK(type_of<ca::uint16>() == std::array{1, 16});
  CHECK(type_of<ca::float16>() == std::array{2, 16});
  CHECK(type_of<ca::bfloat16>() == std::array{4, 16});
  CHECK(type_of<double>() == std::array{2, 64});
  CHECK(type_of<ca::complex64>() == std::array{5, 64});
  CHECK(type_of<ca::complex128>() == std::array{5, 128});
}

TEST_CASE("dlpack: read-only arrays") {
  const ca::ndarray<float> one = ca::ones({1, 3}), x = ca::broadcast_to(one, {2, 3});
  auto* const m = ca::to_dlpack(x);
  CHECK((m->flags == 1 && m->dl_tensor.strides[0] == 0));
  CHECK(thrown<ca::value_error>([&] { ca::to_dlpack<dl::managed_tensor>(x); }) ==
        "to_dlpack: the array is read-only, which only a versioned structure says");
  ca::ndarray<float> y = ca::from_dlpack<float>(m);
  CHECK(test::equal(y, {2, 3}, std::vector<int>{1, 1, 1, 1, 1, 1}));
  CHECK(thrown<ca::value_error>([&] { y(0) = 2; }) != "nothing was thrown");
}

TEST_CASE("dlpack: what is taken") {
  const ca::ndarray<float> x = ca::reshape(ca::arange(6.f), {2, 3}), turned = ca::copy(x).t();
  foreign<dl::managed_tensor_versioned, float> with(turned, true);
  foreign<dl::managed_tensor, float> without(ca::copy(x), false);
  {
    const ca::ndarray<float> y = ca::from_dlpack<float>(&with.managed);
    CHECK(ca::array_equal(y, x.t()));
    CHECK((y.data() == turned.data() && y.where().stride[0] == 1));
    ca::ndarray<float> z = ca::from_dlpack<float>(&without.managed)(1);
    CHECK(test::equal(z, {3}, std::vector<int>{3, 4, 5}));
    z *= 2;  // both see it
    CHECK(test::equal(without.memory(1), {3}, std::vector<int>{6, 8, 10}));
    CHECK((with.released == 0 && without.released == 0));
  }
  CHECK((with.released == 1 && without.released == 1));
  // an offset in bytes
  foreign<dl::managed_tensor, float> later(ca::copy(x), false);
  later.managed.dl_tensor.byte_offset = 4, later.extents = {2, 2};
  CHECK(test::equal(ca::from_dlpack<float>(&later.managed), {2, 2}, std::vector<int>{1, 2, 3, 4}));
}

TEST_CASE("dlpack: deleters in other threads, absent ones, odd strides") {
  const ca::ndarray<float> x = ca::ones({1000});
  auto* const m = ca::to_dlpack(x);
  const auto shared = x.storage()->references;
  std::thread([m] { done(m); }).join();
  CHECK(x.storage()->references == shared - 1);
  foreign<dl::managed_tensor, float> f(ca::arange(6.f), true), empty(ca::zeros({0, 3}), true);
  f.managed.deleter = nullptr;
  f.managed.dl_tensor.data = f.memory.data() + 5, f.strides[0] = -1;
  CHECK(test::equal(ca::from_dlpack<float>(&f.managed), {6}, std::vector<int>{5, 4, 3, 2, 1, 0}));
  empty.managed.dl_tensor.data = nullptr, empty.strides = {INT64_MAX, INT64_MAX};
  CHECK(ca::from_dlpack<float>(&empty.managed).shape() == ca::shape{0, 3});
  CHECK(empty.released == 1);
}

TEST_CASE("dlpack: what was handed over comes back as the same memory") {
  const ca::ndarray<ca::bfloat16> x = ca::astype<ca::bfloat16>(ca::reshape(ca::arange(24), {2, 3, 4}));
  const ca::ndarray<ca::bfloat16> y = ca::from_dlpack<ca::bfloat16>(ca::to_dlpack(ca::transpose(x, {2, 0, 1})));
  CHECK(y.data() == x.data());
  CHECK(ca::array_equal(y, ca::transpose(x, {2, 0, 1})));
  const ca::ndarray<bool> b = ca::from_dlpack<bool>(ca::to_dlpack(x > 5));
  CHECK(ca::count_nonzero(b).item() == 18);
}

TEST_CASE("dlpack: what does not fit is refused, and stays the caller's") {
  foreign<dl::managed_tensor_versioned, float> f(ca::zeros({2, 3}), true);
  auto* const m = &f.managed;
  CHECK(thrown<ca::dtype_error>([&] { ca::from_dlpack<double>(m); }) ==
        "from_dlpack: elements of float32, not float64");
  CHECK(thrown<ca::dtype_error>([&] { ca::from_dlpack<ca::int32>(m); }) ==
        "from_dlpack: elements of float32, not int32");
  m->dl_tensor.dtype.lanes = 2;
  CHECK(thrown<ca::dtype_error>([&] { ca::from_dlpack<float>(m); }) ==
        "from_dlpack: elements of 2 lanes of float32, not float32");
  CHECK(thrown<ca::value_error>([&] { ca::from_dlpack<float>(static_cast<dl::managed_tensor*>(nullptr)); }) ==
        "from_dlpack: a null pointer: a capsule of another name?");
  m->dl_tensor.dtype.lanes = 1, m->dl_tensor.device.device_type = 10;
  CHECK(thrown<ca::device_error>([&] { ca::from_dlpack<float>(m); }) ==
        std::string("from_dlpack: memory of device type 10, not of ") + D::name);
  m->dl_tensor.device.device_type = D::host_accessible ? 1 : 2;
  m->dl_tensor.ndim = 9;
  CHECK(thrown<ca::shape_error>([&] { ca::from_dlpack<float>(m); }) == "from_dlpack: 9 axes; at most 8 are taken");
  m->dl_tensor.ndim = 2, m->dl_tensor.byte_offset = 2;
  CHECK(thrown<ca::value_error>([&] { ca::from_dlpack<float>(m); }).find("from_pointer: float32 needs an address") ==
        0);
  m->dl_tensor.byte_offset = 0, m->version.major = 2;
  CHECK(thrown<ca::value_error>([&] { ca::from_dlpack<float>(m); }) == "from_dlpack: version 2; 1 is taken");
  f.extents[0] = -1, m->version.major = 1;
  CHECK(thrown<ca::shape_error>([&] { ca::from_dlpack<float>(m); }) != "nothing was thrown");
  CHECK(f.released == 0);
}

TEST_CASE("mdspan: out and in") {
  const ca::ndarray<float> x = ca::reshape(ca::arange(12.f), {3, 4});
  const auto s = ca::to_mdspan<strided<float>>(x(_, slice(0, 4, 2)));
  CHECK((s.data_handle() == x.data() && s.extent(0) == 3 && s.extent(1) == 2 && s.stride(0) == 4 && s.stride(1) == 2));
  const auto r = ca::to_mdspan<right<const float>>(x);
  CHECK((r.extent(1) == 4 && r.stride(0) == 4));
  const ca::ndarray<float> back = ca::from_mdspan<D>(s);
  CHECK(ca::array_equal(back, x(_, slice(0, 4, 2))));
  ca::ndarray<float> constant = ca::from_mdspan<D>(r);
  CHECK(thrown<ca::value_error>([&] { constant(0) = 1; }) ==
        "assignment: the array borrows const memory, so it is read-only");
  CHECK(thrown<ca::value_error>([&] { ca::to_mdspan<right<float>>(x.t()); }) ==
        "to_mdspan: an array of shape (4, 3) does not lie as the mdspan's layout: axis 0 has stride 1");
  CHECK(thrown<ca::shape_error>([&] { ca::to_mdspan<right<float>>(x(0)); }) ==
        "to_mdspan: an array of shape (4,) for an mdspan of 2 axes");
  CHECK(thrown<ca::value_error>([&] { ca::to_mdspan<strided<float>>(ca::flip(x, 1)); }) ==
        "to_mdspan: the stride -1 of axis 1 is negative, or the mdspan's index does not hold it");
  using fixed = span2<float, extents2<open_extent, 3>, right_mapping<extents2<open_extent, 3>>>;
  CHECK(thrown<ca::shape_error>([&] { ca::to_mdspan<fixed>(x); }) ==
        "to_mdspan: an array of shape (3, 4), whose axis 1 the mdspan fixes as 3");
  const ca::ndarray<float> all = ca::broadcast_to(x(0), {2, 4});
  CHECK(thrown<ca::value_error>([&] { ca::to_mdspan<strided<float>>(all); }) ==
        "to_mdspan: the array is read-only: ask for const elements");
  CHECK(ca::to_mdspan<strided<const float>>(all).stride(0) == 0);
}

TEST_CASE("span: in") {
  std::vector<float> v{1, 2, 3};
  const std::span<const float> c(v);
  ca::ndarray<float, ca::cpu> x = ca::from_span(std::span(v)), y = ca::from_span(c);
  x(0) = 7;
  CHECK((v == std::vector<float>{7, 2, 3} && y.data() == v.data()));
  CHECK(thrown<ca::value_error>([&] { y(0) = 1; }) != "nothing was thrown");
}
