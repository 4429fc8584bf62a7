// ndarray: a handle on shared storage with a shape, strides and an offset.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

// these two first: compile-time errors come from them, and list the includes on the way
#include "expr/report.hpp"

#include "expr/elementwise.hpp"

#include "eval/evaluate.hpp"
#include "expr/operator_table.hpp"

/// As a range an array has as many rows as its first extent says; `size()` counts elements.
template <class T, class Device>
inline constexpr bool ::std::ranges::disable_sized_range<cudarray::ndarray<T, Device>> = true;

namespace cudarray::inline v0 {
namespace detail {

/// What a default-constructed array stands on: no memory, no device.
inline storage_ref no_storage() {
  auto* s = new storage;
  s->release = [](storage* p) noexcept { delete p; };
  return storage_ref(s);
}

inline namespace CUDARRAY_BUILD {
/// A node converted to T where it is not T already.
template <class T, class N>
decltype(auto) cast_node(N&& n) {
  if constexpr (::std::is_same_v<node_value_t<::std::remove_cvref_t<N>>, T>) return static_cast<N&&>(n);
  else return elementwise("astype", op::astype_op<T>{}, static_cast<N&&>(n));
}

template <class T, class Device>
inline constexpr bool may_be_number<ndarray<T, Device>> = true;

/// Whether a value may be written into an array without losing a gradient.
template <class X>
inline constexpr bool loses_no_gradient = true;
template <array_expression X>
inline constexpr bool loses_no_gradient<X> = !has_variable<X> || kind_of<value_type_t<X>> < kind::floating;

}  // namespace CUDARRAY_BUILD

/// Walks over the views along the first axis of an array, while that lives.
template <class A>
class row_iterator {
 public:
  using value_type = A;
  using difference_type = int64;
  row_iterator() = default;
  row_iterator(const A& of, int64 at) : of_(&of), at_(at) {
    if (of.ndim() == 0) fail<shape_error>("an array of 0 axes has no rows to walk over");
  }
  A operator*() const { return (*of_)(at_); }
  row_iterator& operator++() {
    ++at_;
    return *this;
  }
  row_iterator operator++(int) { return {*of_, at_++}; }
  friend bool operator==(const row_iterator& x, const row_iterator& y) { return x.at_ == y.at_; }

 private:
  const A* of_ = nullptr;
  int64 at_ = 0;
};

/// Unchecked access to host elements by N indices, like mdspan.
template <class T, int N>
struct accessor {
  T* p;
  int64 stride[::std::size_t(N)];
  template <class... Ix>
  requires(sizeof...(Ix) == N) T& operator()(Ix... i) const {
    int64 at = 0;
    int k = 0;
    ((at += int64(i) * stride[k++]), ...);
    return p[at];
  }
};

}  // namespace detail

/// An n-dimensional array of dtype T on a device.
///
/// Copying the handle shares the elements, as in NumPy; indexing makes a view; `copy()` makes a new array; `const` is
/// shallow. Assignment to a name rebinds it; assignment to an indexing result writes through.
///     ca::ndarray<float> a = ca::array<float>({{1, 2, 3}, {4, 5, 6}});
///     auto row = a(0);        // a view
///     a(ca::_, 0) = 7.0f;     // writes into a
///     row = a(1);             // rebinds the name `row`
template <class T, class Device>
class ndarray : public detail::no_number<ndarray<T, Device>> {
  static_assert(detail::is_dtype<T>,
                "cudarray: not a dtype: bool, (u)int8-64, float16, bfloat16, float, double, complex64, complex128");

 public:
  using value_type = T;
  using device_type = Device;

  /// An empty array of shape (0,).
  CUDARRAY_PER_BUILD ndarray() { layout_.dims.push_back(0); }
  CUDARRAY_PER_BUILD ndarray(const ndarray&) = default;
  /// What is moved from is the empty array.
  CUDARRAY_PER_BUILD ndarray(ndarray&& o) noexcept : store_(::std::move(o.store_)), layout_(o.layout_) { o.clear(); }
  /// A view: shares the leaf's storage.
  explicit ndarray(detail::leaf<T, Device> n) : store_(::std::move(n.store)), layout_(n.where) {}

  /// Evaluates an expression into a new array, converting within NumPy's `same_kind`. Throws stale_error.
  template <array_expression E, class Build = this_build>
  ndarray(const E& e) : ndarray(value_of<Build>(e)) {
    constexpr bool kinds = detail::same_kind<value_type_t<E>, T>, here = detail::on_device<E, Device>;
    static_assert(kinds, "cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)");
    static_assert(here,
                  "cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    constexpr bool gradient = detail::loses_no_gradient<E>;
    static_assert(gradient,
                  "cudarray: a function of variables would lose its gradient here: write ca::variable y = x, or use "
                  "ca::stop_gradient(x)");
  }

  CUDARRAY_PER_BUILD ndarray& operator=(const ndarray&) & = default;
  CUDARRAY_PER_BUILD ndarray& operator=(ndarray&& o) & noexcept {
    if (this == &o) return *this;
    store_ = ::std::move(o.store_);
    layout_ = o.layout_;
    o.clear();
    return *this;
  }

  /// Makes this name stand for the value of an expression. The storage is used again where this handle alone owns it
  /// and dtype, shape and order fit.
  template <array_expression E, class Build = this_build>
  requires(!::std::is_same_v<::std::remove_cvref_t<E>, ndarray>) ndarray& operator=(E&& e) & {
    if constexpr (::std::is_same_v<value_type_t<E>, T> && ::std::is_same_v<device_type_t<E>, Device> &&
                  detail::loses_no_gradient<::std::remove_cvref_t<E>> &&
                  !::std::is_same_v<::std::remove_cvref_t<E>, selection<T, Device>>) {
      const auto& n = detail::as_operand<T>("", e);
      if (owns_alone<::std::is_lvalue_reference_v<E>>(n)) {
        detail::compute<T, Device>(store_, layout_, n, store_->ordinal);
        detail::count_write(*store_);
        return *this;
      }
    }
    return *this = ndarray(e);
  }

  /// `name = scalar` does not compile.
  template <scalar_value S>
  ndarray& operator=(const S&) & {
    detail::report_scalar_assignment<!scalar_value<S>>();
    return *this;
  }

  /// Writes into the elements (`a(0) = x`): `x` broadcasts and is converted to T. Throws shape_error, value_error
  /// (read-only), stale_error.
  template <class V, class Build = this_build>
  requires(array_expression<V> || scalar_value<V>) const ndarray operator=(const V& v) && {
    write<Build>(v);
    return *this;
  }

  /// In place: the right side broadcasts to this array's shape and is converted within a kind.
  template <class V, class Build = this_build>
  ndarray& operator+=(const V& v) {
    return update<Build>("+=", detail::elementwise("+=", op::add_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator-=(const V& v) {
    return update<Build>("-=", detail::elementwise("-=", op::subtract_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator*=(const V& v) {
    return update<Build>("*=", detail::elementwise("*=", op::multiply_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator/=(const V& v) {
    return update<Build>("/=", detail::elementwise("/=", op::divide_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator%=(const V& v) {
    return update<Build>("%=", detail::elementwise("%=", op::remainder_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator&=(const V& v) {
    return update<Build>("&=", detail::elementwise("&=", op::bitwise_and_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator|=(const V& v) {
    return update<Build>("|=", detail::elementwise("|=", op::bitwise_or_op{}, *this, v));
  }
  template <class V, class Build = this_build>
  ndarray& operator^=(const V& v) {
    return update<Build>("^=", detail::elementwise("^=", op::bitwise_xor_op{}, *this, v));
  }

  /// Integers, slices, `_`, newaxis and ellipsis make a view. Throws index_error; slices out of range clip.
  template <basic_index... Ix, class Build = this_build>
  ndarray operator()(const Ix&... i) const {
    const index_item items[sizeof...(Ix) + 1] = {index_item(i)..., index_item(0)};
    return view(items, int(sizeof...(Ix)));
  }
  /// Masks and arrays of integers, alone or beside basic indices, as in NumPy: a selection, which reads by gathering
  /// and can be assigned. Reading a mask synchronises.
  template <class... Ix, class Build = this_build>
  requires detail::advanced_indices<Ix...> selection<T, Device>
  operator()(const Ix&... i) const { return selection<T, Device>(*this, i...); }
  /// Neither.
  template <class... Ix>
  requires(!detail::known_indices<Ix...>) detail::poison operator()(const Ix&...) const {
    return detail::report_index<(detail::is_poison<Ix> || ...)>();
  }

  /// The views along the first axis: `for (const auto& row : a)`. Throws shape_error for an array of no axes.
  detail::row_iterator<ndarray> begin() const { return {*this, 0}; }
  detail::row_iterator<ndarray> end() const { return {*this, ndim() > 0 ? layout_.dims[0] : 0}; }

  const cudarray::shape& shape() const { return layout_.dims; }
  int64 shape(detail::any_integer axis) const { return layout_.dims[detail::normal_axis("shape", axis, ndim())]; }
  int ndim() const { return layout_.ndim(); }
  int64 size() const { return layout_.elements(); }
  int64 itemsize() const { return int64(sizeof(T)); }
  int64 nbytes() const { return size() * itemsize(); }
  /// The step along an axis, in elements.
  int64 stride(detail::any_integer axis) const { return layout_.stride[detail::normal_axis("stride", axis, ndim())]; }
  bool is_contiguous() const { return detail::is_c_contiguous(layout_); }
  Device device() const { return {store_.get() ? store_->ordinal : 0}; }

  /// The address of the first element, in the device's memory. What is written through it no expression notices.
  T* data() const { return store_.get() ? static_cast<T*>(store_->data) + layout_.offset : nullptr; }
  /// The elements of a contiguous host array. Throws value_error if it is not contiguous.
  CUDARRAY_PER_BUILD ::std::span<T> span() const requires(Device::host_accessible) {
    if (!is_contiguous())
      detail::fail<value_error>("span: the array of shape ", shape(), " is not contiguous: use .copy()");
    return {data(), ::std::size_t(size())};
  }
  /// Unchecked access by N indices. Throws shape_error if the array does not have N axes.
  template <int N, class Build = this_build>
  detail::accessor<T, N> access() const requires(Device::host_accessible) {
    if (ndim() != N) detail::fail<shape_error>("access: ", N, " indices for an array of shape ", shape());
    detail::accessor<T, N> a{data(), {}};
    for (int i = 0; i < N; ++i) a.stride[i] = layout_.stride[i];
    return a;
  }
  /// One element of a host array. Throws index_error.
  template <::std::integral... Ix, class Build = this_build>
  T& at(Ix... i) const requires(Device::host_accessible) {
    if (int(sizeof...(Ix)) != ndim())
      detail::fail<index_error>("at: ", sizeof...(Ix), " indices for an array of shape ", shape());
    const index_item items[sizeof...(Ix) + 1] = {index_item(i)..., index_item(0)};
    const int64 offset = detail::index_layout(layout_, items, int(sizeof...(Ix))).offset;
    return static_cast<T*>(store_->data)[offset];
  }

  /// The value of an array of one element. Waits for the device. Throws value_error for any other size.
  CUDARRAY_PER_BUILD T item() const {
    if (size() != 1)
      detail::fail<value_error>("item: an array of shape ", shape(), " has ", size(), " elements, not one");
    T v{};
    copy_to_host(device(), &v, *store_, ::std::size_t(layout_.offset) * sizeof(T), sizeof(T));
    return detail::read_element(&v);
  }
  /// The array itself: what expressions have too.
  const ndarray eval() const { return *this; }
  /// A new C-contiguous array with the same elements.
  template <class Build = this_build>
  const ndarray copy() const {
    return ndarray(detail::materialise(node()));
  }
  /// Sets every element.
  template <scalar_value S, class Build = this_build>
  void fill(S v) {
    write<Build>(v);
  }
  /// The axes reversed: a view.
  CUDARRAY_PER_BUILD ndarray t() const {
    int perm[max_rank] = {};
    for (int i = 0; i < ndim(); ++i) perm[i] = ndim() - 1 - i;
    return ndarray(store_, [&] { return detail::permute_layout(layout_, perm); });
  }

  /// This array as an operand of an expression.
  CUDARRAY_PER_BUILD detail::leaf<T, Device> node() const {
    if (!store_.get()) return {detail::no_storage(), layout_};
    return {store_, layout_, detail::write_count(*store_)};
  }
  const detail::storage_ref& storage() const { return store_; }
  const layout& where() const { return layout_; }

 private:
  void clear() {
    layout_.dims.resize(0);
    layout_.stride[0] = 1;
    layout_.offset = 0;
    layout_.read_only = false;
  }
  CUDARRAY_PER_BUILD ndarray view(const index_item* items, int n) const {
    return ndarray(store_, [&] { return detail::index_layout(layout_, items, n); });
  }
  /// A view of what `make()` lays out, which is made in place.
  template <class Make>
  ndarray(const detail::storage_ref& s, const Make& make) : store_(s), layout_(make()) {}

  template <class Build, class E>
  static detail::leaf<T, Device> value_of(const E& e) {
    // what a selection reads as is a new array already
    if constexpr (::std::is_same_v<E, selection<T, Device>>) return e.node();
    else if constexpr (detail::same_kind<value_type_t<E>, T> && detail::on_device<E, Device> &&
                       detail::loses_no_gradient<E>)
      return detail::evaluate(detail::cast_node<T>(detail::as_operand<T>("", e)));
    else return {detail::no_storage(), layout{}};  // reported by who asks
  }

  template <class Build, class V>
  void write(const V& v) {
    if (!store_.get()) store_ = detail::no_storage();
    constexpr bool here = detail::on_device<V, Device>;
    static_assert(here,
                  "cudarray: the array is on another device: copy it with ca::to<ca::cuda>(x) or ca::to<ca::cpu>(x)");
    constexpr bool gradient = detail::loses_no_gradient<V>;
    static_assert(gradient,
                  "cudarray: a function of variables would lose its gradient here: write ca::variable y = x, or use "
                  "ca::stop_gradient(x)");
    constexpr bool whole = detail::holds_scalar<T, V>;
    static_assert(whole, "cudarray: a complex number for a real dtype: write its real part");
    if constexpr (here && gradient && whole)
      detail::assign<T, Device>(store_, layout_, detail::as_operand<T>("assignment", v));
  }

  template <class Build, class N>
  ndarray& update(const char* function, const N& n) {
    if constexpr (!detail::is_poison<N>) {
      constexpr bool kinds = detail::same_kind<detail::node_value_t<N>, T>;
      static_assert(kinds, "cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)");
      if constexpr (kinds) {
        if (n.dims() != shape())
          detail::fail<shape_error>(function, ": the result's shape ", n.dims(), " is not the array's, ", shape());
        write<Build>(n);
      }
    }
    return *this;
  }

  /// True if nobody but this handle and, in an expression that is about to end, its own leaves would notice a write.
  template <bool Lasting, class N>
  bool owns_alone(const N& n) const {
    const detail::leaf_list<N> leaves(n);
    layout wanted = detail::result_layout(n, leaves);
    wanted.offset = layout_.offset;
    return layout_ == wanted &&
           owns_alone(leaves.of, N::leaves, Lasting, !detail::has_gather<N> && !detail::ends_in_reduce<N>);
  }
  bool owns_alone(const detail::leaf_use* of, int count, bool lasting, bool same_place_is_safe) const {
    if (!store_.get() || store_->borrowed || layout_.read_only) return false;
    int64 own = 1;
    for (int k = 0; k < count && !lasting; ++k) own += of[k].store == store_.get();
    return store_.references() == own && store_->ordinal == detail::check_leaves(of, count) &&
           !detail::overlaps(store_.get(), layout_, of, count, same_place_is_safe);
  }

  detail::storage_ref store_;
  layout layout_;
};

namespace detail::inline CUDARRAY_BUILD {

/// The array that an expression makes; of variables, too, where it is what no gradient goes through.
template <class E>
auto array_of(const E& e) {
  using T = value_type_t<E>;
  using A = ndarray<T, device_type_t<E>>;
  if constexpr (has_variable<E>) return A(evaluate(as_operand<T>("", e)));
  else return A(e);
}

/// The value of an expression: an array, or, of variables, a variable (`variable_of_expression` is in
/// autograd/variable.hpp). Names that users have as well would be ambiguous here.
template <class E>
decltype(auto) value_of_expression(const E& e) {
  if constexpr (has_variable<E>) return variable_of_expression(e);
  else return static_cast<const ndarray<value_type_t<E>, device_type_t<E>>>(array_of(e));
}
/// The same in new memory in C order.
template <class E>
decltype(auto) copy_of_expression(const E& e) {
  if constexpr (has_variable<E>) return variable_copied(e);
  else
    return static_cast<const ndarray<value_type_t<E>, device_type_t<E>>>(
        ndarray<value_type_t<E>, device_type_t<E>>(materialise(as_operand<float>("copy", e))));
}

}  // namespace detail::inline CUDARRAY_BUILD

template <class N>
auto lazy<N>::item() const {
  return detail::array_of(self()).item();
}
template <class N>
decltype(auto) lazy<N>::eval() const {
  return detail::value_of_expression(self());
}
template <class N>
decltype(auto) lazy<N>::copy() const {
  return detail::copy_of_expression(self());
}
template <class N>
decltype(auto) lazy<N>::t() const {
  return detail::value_of_expression(detail::value_of_expression(self()).t());
}
template <class N>
template <class... Ix>
requires detail::known_indices<Ix...>
decltype(auto) lazy<N>::operator()(const Ix&... i) const {
  return detail::value_of_expression(detail::value_of_expression(self())(i...));
}

}  // namespace cudarray::inline v0
