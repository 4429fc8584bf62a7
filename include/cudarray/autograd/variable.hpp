// ca::variable: an array that gradients are computed of.
// SPDX-License-Identifier: MIT
#pragma once

#include "../ops/creation.hpp"
#include "../ops/manipulation.hpp"
#include "dual.hpp"
#include "statement.hpp"

namespace cudarray::inline v0 {

template <class T, class Device = default_device>
class variable;

}  // namespace cudarray::inline v0

template <class T, class Device>
inline constexpr bool ::std::ranges::disable_sized_range<cudarray::variable<T, Device>> = true;

namespace cudarray::inline v0 {

namespace detail::inline CUDARRAY_BUILD {

template <class T, class D>
struct expression_traits<variable<T, D>> : traits_of<T, D> {};
template <class T, class D>
inline constexpr bool has_variable<variable<T, D>> = true;
template <class T, class D>
inline constexpr bool may_be_number<variable<T, D>> = true;

template <bool Assigned>
constexpr void report_element_assignment() {
  static_assert(Assigned,
                "cudarray: a variable's elements cannot be assigned: use ca::where, or write into v.value() between "
                "steps; the name stands for another value by v = v + x");
}

/// Evaluates an expression of variables; what it was is recorded.
template <class N>
auto track(const N& n) -> variable<node_value_t<N>, device_type_t<N>>;
/// In autograd/indexing.hpp.
template <class T, class D>
variable<T, D> slice_of(const variable<T, D>& x, const index_item* items, int count);
template <class T, class D, class... Ix>
variable<T, D> picked_of(const variable<T, D>& x, const Ix&... index);

}  // namespace detail::inline CUDARRAY_BUILD

inline namespace CUDARRAY_BUILD {

/// A variable, or an expression of variables that has floating-point values.
template <class X>
concept variable_expression =
    array_expression<X> && detail::has_variable<::std::remove_cvref_t<X>> && detail::is_differentiable<value_type_t<X>>;

}  // namespace CUDARRAY_BUILD

/// How a backward pass is made.
struct backward_options {
  bool retain_graph = false;  ///< what it reads is kept, for another one
};

/// An array that gradients are computed of: one of the parameters, or what was computed of such.
///
/// It takes part in expressions like an array. An expression of variables that is evaluated, by `ca::variable y = ...`
/// or by an eager function, is recorded; `backward` computes the gradients of all that it was computed of. Copies share
/// elements and gradient. Its elements are not assigned; those of `value()` are, between steps.
///     ca::variable w = ca::random::normal({3, 4});
///     ca::variable loss = ca::mean(ca::square(ca::matmul(x, w) - y));
///     loss.backward();
///     w.value() -= 0.1f * w.grad();
template <class T, class Device>
class variable : public detail::no_number<variable<T, Device>> {
  static_assert(
      detail::is_differentiable<T>,
      "cudarray: a variable is of float16, bfloat16, float or double: there are no gradients of other dtypes");

 public:
  using value_type = T;
  using device_type = Device;
  using node_type = detail::gradient_node<T, Device>;

  /// An empty array.
  variable() = default;
  /// A parameter: a gradient of it is wanted. It shares the array's elements.
  variable(const ndarray<T, Device>& value) : value_(value), tape_(new node_type(value.shape())) {}
  /// Of variables: their function, which is recorded unless `ca::no_grad` is in force. Of arrays: a parameter.
  template <array_expression E, class Build = this_build>
  requires(!::std::is_same_v<::std::remove_cvref_t<E>, variable>) variable(const E& e) : variable(made_of<Build>(e)) {
    constexpr bool has_derivative = !detail::lacks_derivative<E>;
    static_assert(
        has_derivative,
        "cudarray: a function in ca::map of variables has no derivative: write its member derivative(x, r), or "
        "use ca::stop_gradient(x)");
    constexpr bool dual_numbers = detail::is_dual<value_type_t<E>> && detail::is_floating<T>;
    static_assert(!dual_numbers,
                  "cudarray: ca::jvp calls this function with dual numbers: write ca::variable r = x, without a dtype");
    constexpr bool kinds = dual_numbers || detail::same_kind<value_type_t<E>, T>;
    static_assert(kinds, "cudarray: this conversion of dtypes loses information: write ca::astype<T>(x)");
  }
  /// The value of a node of the tape.
  variable(const ndarray<T, Device>& value, detail::tape_ref node) : value_(value), tape_(::std::move(node)) {}

  variable(const variable&) = default;
  variable(variable&&) noexcept = default;
  variable& operator=(const variable&) & = default;
  variable& operator=(variable&&) & noexcept = default;

  /// Elements are not assigned.
  template <class V>
  void operator=(const V&) && {
    detail::report_element_assignment<::std::is_void_v<V>>();
  }
#define CUDARRAY_ASSIGNMENT(sign)                             \
  template <class V>                                          \
  void operator sign(const V&) const {                        \
    detail::report_element_assignment<::std::is_void_v<V>>(); \
  }
  CUDARRAY_ASSIGNMENT(+=)
  CUDARRAY_ASSIGNMENT(-=)
  CUDARRAY_ASSIGNMENT(*=)
  CUDARRAY_ASSIGNMENT(/=)
#undef CUDARRAY_ASSIGNMENT

  /// The array. What is written into it between a function and its backward pass makes that throw stale_error.
  ndarray<T, Device>& value() { return value_; }
  const ndarray<T, Device>& value() const { return value_; }
  /// The same, as what no gradient goes through.
  ndarray<T, Device> detach() const {
    if constexpr (detail::is_dual<T>) return detail::without_tangents(value_);
    else return value_;
  }
  /// The gradient of what `backward` was called on, summed over calls; of the value's shape. Throws value_error where
  /// there is none.
  CUDARRAY_PER_BUILD const ndarray<T, Device>& grad() const {
    if (!has_grad())
      detail::fail<value_error>("grad: the variable of shape ", shape(),
                                " has no gradient: call backward() on what was computed of it");
    return tape()->gradient;
  }
  bool has_grad() const { return tape_.get() != nullptr && tape()->filled; }
  /// Forgets the gradient; its memory is used for the next.
  void zero_grad() const {
    if (tape_.get() != nullptr) tape()->filled = false;
  }
  bool requires_grad() const { return tape_.get() != nullptr && tape_->wanted; }
  /// Whether a gradient of this parameter is wanted. Throws value_error for what was computed.
  CUDARRAY_PER_BUILD variable& requires_grad(bool wanted) {
    if (tape_.get() == nullptr) tape_ = detail::tape_ref(new node_type(shape()));
    if (!tape()->is_leaf())
      detail::fail<value_error>("requires_grad: the variable of shape ", shape(), " was computed: use detach()");
    tape_->wanted = wanted;
    return *this;
  }

  /// The variables along the first axis: `for (const auto& row : v)`. Throws shape_error for one of no axes.
  detail::row_iterator<variable> begin() const { return {*this, 0}; }
  detail::row_iterator<variable> end() const { return {*this, ndim() > 0 ? shape()[0] : 0}; }

  const cudarray::shape& shape() const { return value_.shape(); }
  int64 shape(detail::any_integer axis) const { return value_.shape(axis); }
  int ndim() const { return value_.ndim(); }
  int64 size() const { return value_.size(); }
  Device device() const { return value_.device(); }
  CUDARRAY_PER_BUILD T item() const { return value_.item(); }

  /// Adds to every parameter that this one element was computed of its gradient, and frees what was recorded. Throws
  /// value_error where it has more elements, was not computed, or was gone back from before; stale_error where an
  /// operand has been written since. No gradient has changed then.
  template <class Build = this_build>
  void backward(backward_options o = {}) const {
    if (size() != 1)
      detail::fail<value_error>("backward: the variable of shape ", shape(),
                                " is not one element: give backward a gradient of this shape");
    go_back(ones<T, Device>(shape(), device()), true, o);
  }
  /// The same of any shape, from a gradient of that shape. Throws shape_error for another.
  template <class Build = this_build>
  void backward(ndarray<T, Device> gradient, backward_options o = {}) const {
    if (gradient.shape() != shape())
      detail::fail<shape_error>("backward: a gradient of shape ", gradient.shape(), " for a variable of shape ",
                                shape());
    go_back(::std::move(gradient), false, o);
  }

  /// Integers, slices, `_`, newaxis and ellipsis: a variable of those elements. Throws index_error.
  template <basic_index... Ix, class Build = this_build>
  variable operator()(const Ix&... i) const {
    const index_item items[sizeof...(Ix) + 1] = {index_item(i)..., index_item(0)};
    return detail::slice_of(*this, items, int(sizeof...(Ix)));
  }
  /// What masks and arrays of integers pick, alone or beside basic indices: a variable. Reading a mask synchronises.
  template <class... Ix, class Build = this_build>
  requires detail::advanced_indices<Ix...> variable operator()(const Ix&... i) const {
    return detail::picked_of(*this, i...);
  }
  /// The variable itself: what expressions have too.
  variable eval() const { return *this; }
  /// A variable of the same elements in new memory in C order, which its gradient goes back to.
  template <class Build = this_build>
  variable copy() const {
    return detail::copy_of_expression(*this);
  }
  /// The axes reversed.
  template <class Build = this_build>
  variable t() const {
    return transpose(*this);
  }
  /// This variable as an operand of an expression.
  CUDARRAY_PER_BUILD detail::tracked_leaf<T, Device> node() const {
    if (tape_.get() != nullptr && tape()->dims != shape())
      detail::fail<shape_error>("variable: the value has shape ", shape(), ", the variable had ", tape()->dims,
                                ": make a new variable of it");
    return {value_.node(), tape_};
  }

 private:
  template <class Build = this_build>
  void go_back(ndarray<T, Device> gradient, bool is_one, backward_options o) const {
    if (!requires_grad())
      detail::fail<value_error>("backward: the variable of shape ", shape(),
                                " was computed of nothing that a gradient is wanted of");
    const detail::tape_ref root = tape_;
    detail::check_backward(tape());
    if (tape()->is_leaf()) gradient = gradient.copy();
    tape()->is_one = is_one && !tape()->is_leaf();
    detail::add_gradient(*tape(), gradient);
    gradient = {};  // a variable that it is the gradient of may keep it
    detail::run_backward(root, o.retain_graph);
  }
  template <class Build, class E>
  static variable made_of(const E& e) {
    if constexpr (detail::lacks_derivative<E>) return variable();
    else if constexpr (!detail::same_kind<value_type_t<E>, T>) return variable();
    else if constexpr (detail::has_variable<E>)
      return detail::track(detail::cast_node<T>(detail::as_operand<T>("variable", e)));
    else return variable(ndarray<T, Device>(e));
  }
  node_type* tape() const { return static_cast<node_type*>(tape_.get()); }
  ndarray<T, Device> value_;
  detail::tape_ref tape_;
};
template <array_expression E>
variable(const E&) -> variable<value_type_t<E>, device_type_t<E>>;
variable(detail::poison)->variable<float>;

}  // namespace cudarray::inline v0
namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// Whether a gradient of one of the variables is wanted.
template <class N>
bool wants_gradient(const N& n) {
  return [&]<int... I>(::std::integer_sequence<int, I...>) {
    const auto wanted = [&]<int K>([[maybe_unused]] const auto& variable) {
      constexpr uint64 variables = variables_of<N>;
      if constexpr ((variables >> K & 1) != 0) return is_wanted(variable.tape);
      else return false;
    };
    return recording() && (wanted.template operator()<I>(input<I>(n)) || ...);
  }
  (::std::make_integer_sequence<int, inputs_of<N>>{});
}

/// An expression in which reductions of variables are statements of their own, and others have their value.
template <class N>
auto without_reductions(const N& n);

/// Records that `value` is that of an expression, or (`Reduced`) of a sum or mean of it.
template <bool Reduced, class N, class T, class D>
variable<T, D> record(const N& n, unsigned over, int64 divisor, const leaf<T, D>& value) {
  const ndarray<T, D> y(value);
  if (!wants_gradient(n)) return {y, tape_ref()};
  return {y, tape_ref(new statement<N, Reduced, T, D>(n, over, divisor, value))};
}
template <class T, class D>
variable<T, D> track_node(const tracked_leaf<T, D>& n) {
  return {ndarray<T, D>(static_cast<const leaf<T, D>&>(n)), n.tape};
}
/// Of statements whose reductions meet their rows; in autograd/row_statement.hpp.
template <class N>
auto record_rows(const N& n);
template <class Op, class... K>
auto track_node(const map<Op, K...>& n) {
  if constexpr (has_row_gradients<map<Op, K...>>) return record_rows(n);
  else if constexpr (has_reduce<map<Op, K...>>) return track_node(without_reductions(n));
  else return record<false>(n, 0, 1, evaluate(n));
}
/// Of reductions whose gradient is no repeated one; in autograd/reductions.hpp.
template <class Op, class K, class F>
auto record_by_rule(const reduce<Op, K>& n, const F& value);
/// Records a reduction, in whose operand there is none; its value is `value(n)`.
template <class Op, class K, class F>
auto record_reduction(const reduce<Op, K>& n, const F& value) {
  if constexpr (::std::is_same_v<Op, op::sum_op> || ::std::is_same_v<Op, op::mean_op>) {
    const int64 results = n.extents.elements();
    const bool mean = ::std::is_same_v<Op, op::mean_op> && results > 0;
    return record<true>(n.kid, n.over, mean ? n.kid.dims().elements() / results : 1, value(n));
  } else {
    return record_by_rule(n, value);
  }
}
template <class Op, class K>
auto track_node(const reduce<Op, K>& n) {
  const auto kid = without_reductions(n.kid);
  const reduce<Op, ::std::remove_cv_t<decltype(kid)>> whole(
      n.over, [&] { return n.extents; }, [&] { return kid; });
  return record_reduction(whole, [](const auto& r) { return materialise(r); });
}

template <class N>
auto without_reductions(const N& n) {
  if constexpr (!has_reduce<N>) return n;
  else if constexpr (!is_tracked<N>) return materialise_reductions(n);
  else return without_reductions_of(n);
}
template <class Op, class K>
auto without_reductions_of(const reduce<Op, K>& n) {
  return track_node(n).node();
}
template <class Op, class... K>
auto without_reductions_of(const map<Op, K...>& n) {
  return [&]<int... J>(::std::integer_sequence<int, J...>) {
    return [&](auto... done) {
      return map<Op, decltype(done)...>(
          n.op, [&] { return n.extents; }, [&] { return slots<decltype(done)...>{{done}...}; });
    }(without_reductions(get<J>(n.kids))...);
  }
  (::std::make_integer_sequence<int, int(sizeof...(K))>{});
}

template <class N>
auto track(const N& n) -> variable<node_value_t<N>, device_type_t<N>> {
  using T = node_value_t<N>;
  using D = device_type_t<N>;
  constexpr bool has_derivative = !lacks_derivative<N>;
  static_assert(has_derivative,
                "cudarray: a function in ca::map of variables has no derivative: write its member derivative(x, r), or "
                "use ca::stop_gradient(x)");
  if constexpr (has_row_gradients<N> && has_derivative) {
    return record_rows(n);
  } else {
    if constexpr (is_tracked<N> && has_derivative)
      if (recording()) return track_node(n);
    return {ndarray<T, D>(evaluate(n)), tape_ref()};
  }
}

/// The value of an expression of variables.
template <class X>
auto variable_of_expression(const X& x) {
  return variable<value_type_t<X>, device_type_t<X>>(x);
}
/// The same in new memory in C order.
template <class X>
auto variable_copied(const X& x) {
  const auto v = variable_of_expression(x);
  return record<false>(+v, 0, 1, materialise(v.value().node()));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0 {

/// While one is in scope, what this thread computes of variables is not recorded.
struct no_grad {
  bool before = ::std::exchange(detail::recording(), false);
  no_grad() = default;
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;
  ~no_grad() { detail::recording() = before; }
};

inline namespace CUDARRAY_BUILD {

/// An expression of variables as a value, so that it is computed and recorded once.
template <variable_expression X>
auto eval(const X& x) {
  return detail::variable_of_expression(x);
}
/// A new C-contiguous array with the elements of a variable or an expression of variables, which its gradient goes back
/// to.
template <variable_expression X>
auto copy(const X& x) {
  return detail::variable_copied(x);
}
/// The value of an expression, as what no gradient goes through.
template <array_expression X>
auto stop_gradient(const X& x) {
  if constexpr (detail::is_dual<value_type_t<X>>) return detail::without_tangents(detail::array_of(x));
  else return detail::array_of(x);
}

}  // namespace CUDARRAY_BUILD
}  // namespace cudarray::inline v0
