// Functions of functions: gradients of what a function computes of its arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "manipulation.hpp"
#include "returned.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// While a function is differentiated, it is recorded, and variables from before are constants. Throws value_error
/// inside of another.
class differentiation {
  uint64 before_ = ::std::exchange(constants_to(), tape_node::newest());
  bool recorded_ = ::std::exchange(recording(), true);

 public:
  explicit differentiation(const char* function) {
    if (before_ == 0) return;
    constants_to() = before_;
    recording() = recorded_;
    fail<value_error>(function,
                      ": gradients of gradients are not recorded: it was called while another function is "
                      "differentiated");
  }
  differentiation(const differentiation&) = delete;
  differentiation& operator=(const differentiation&) = delete;
  ~differentiation() {
    constants_to() = before_;
    recording() = recorded_;
  }
};

/// The arguments that a function is differentiated by: those in `Positions`; if none is given, those that hold
/// variables.
template <class Positions, class... X>
struct differentiated;
template <int... P, class... X>
struct differentiated<::std::integer_sequence<int, P...>, X...> {
  static constexpr bool is(int position) {
    if (sizeof...(P) > 0) return ((P == position) || ...);
    constexpr bool holds[] = {holds_variables<X>()..., false};
    return holds[position];
  }
  /// How many of them are before this one.
  static constexpr int before(int position) {
    int n = 0;
    for (int i = 0; i < position; ++i) n += is(i);
    return n;
  }
  static constexpr int count = before(int(sizeof...(X)));
};

/// An expression's value; other arguments of functions are as they are.
template <class X>
decltype(auto) argument_of(const X& x) {
  if constexpr (variable_expression<X> && !is_variable<X>) return variable<value_type_t<X>, device_type_t<X>>(x);
  else if constexpr (array_expression<X> && !has_variable<X>) return ndarray<value_type_t<X>, device_type_t<X>>(x);
  else return (x);
}

/// A variable of its own with the value of another, if a gradient of that is wanted.
template <class T, class D>
variable<T, D> new_variable(const variable<T, D>& v) {
  return v.requires_grad() ? variable<T, D>(v.value()) : variable<T, D>(v.value(), tape_ref());
}
/// An argument whose variables are new ones; arrays that are not in a tree are variables then.
template <class X>
auto with_new_variables(const X& x) {
  if constexpr (array_expression<X> && !is_variable<X>) {
    constexpr bool real = is_differentiable<value_type_t<X>>;
    static_assert(real, "cudarray: this argument's dtype has no gradients: float16, bfloat16, float and double do");
    return variable<value_type_t<X>, device_type_t<X>>(array_of(x));
  } else {
    X r = x;
    walk_trees([]<class V>(V& v) { v = new_variable(v); }, r);
    return r;
  }
}
/// The gradient of a variable, which it has no more: 0 where what was gone back from is no function of it.
template <class T, class D>
ndarray<T, D> take_gradient(const variable<T, D>& v) {
  const auto n = v.node();
  auto* const node = static_cast<gradient_node<T, D>*>(n.tape.get());
  if (node == nullptr || !node->filled) return zeros<T, D>(v.shape(), v.device());
  node->filled = false;
  return ::std::move(node->gradient);
}
/// A gradient that is added to is the variable's until that gives it back.
template <class T, class D>
void give_gradient(const variable<T, D>& v, ndarray<T, D>& g) {
  const auto n = v.node();
  auto* const node = static_cast<gradient_node<T, D>*>(n.tape.get());
  if (g.shape() == shape{0}) return;  // as it is made without arguments
  if (g.shape() != v.shape())
    fail<shape_error>("into: an array of shape ", g.shape(), " for the gradient of a variable of shape ", v.shape());
  if (node == nullptr) return;
  node->gradient = ::std::exchange(g, {});
  node->filled = true;
}
template <class T, class D>
void take_back(const variable<T, D>& v, ndarray<T, D>& g) {
  const auto n = v.node();
  auto* const node = static_cast<gradient_node<T, D>*>(n.tape.get());
  if (node != nullptr && node->filled) g = take_gradient(v);
}

/// An argument as it is; or one that the function is differentiated by, with new variables.
template <bool Differentiated, class X>
struct call_argument {
  const X& value;
  explicit call_argument(const X& x) : value(x) {}
  ::std::tuple<> take() const { return {}; }
  void forget() const {}
};
template <class X>
struct call_argument<true, X> {
  decltype(with_new_variables(::std::declval<const X&>())) value;
  explicit call_argument(const X& x) : value(with_new_variables(x)) {}
  /// The gradients, as what the argument is: a tree whose variables they are, or an array.
  ::std::tuple<X> take() const {
    if constexpr (array_expression<X> && !is_variable<X>) {
      return take_gradient(value);
    } else {
      X r = value;
      walk_trees([]<class V>(V& to, const V& from) { to = V(take_gradient(from), tape_ref()); }, r, value);
      return r;
    }
  }
  /// Forgets what a backward pass that threw has left.
  void forget() const {
    const auto drop = [](const auto& v) { v.zero_grad(); };
    if constexpr (is_variable<decltype(value)>) drop(value);
    else walk_trees(drop, value);
  }
  void give(X& g) const {
    each([](const auto& v, auto& to) { give_gradient(v, to); }, g);
  }
  void take_back(X& g) const noexcept {
    try {
      each([](const auto& v, auto& to) { detail::take_back(v, to); }, g);
    } catch (const shape_error&) {  // as did `give`, at the same place
    }
  }
  /// Of what was given no gradient, and got none.
  void complete(X& g) const {
    each(
        [](const auto& v, auto& to) {
          if (to.shape() != v.shape()) to = take_gradient(v);
        },
        g);
  }

 private:
  template <class Op>
  void each(const Op& op, X& g) const {
    if constexpr (array_expression<X> && !is_variable<X>) op(value, g);
    else walk_trees([&op](const auto& v, auto& to) { op(v, to.value()); }, value, g);
  }
};

/// One gradient as it is, several as a tuple.
template <class G>
auto one_or_several(::std::tuple<G>&& g) {
  return ::std::get<0>(::std::move(g));
}
template <class... G>
auto one_or_several(::std::tuple<G...>&& g) {
  return ::std::move(g);
}

/// What a function is given for an argument.
template <bool Differentiated, class X>
using given_argument_t =
    ::std::remove_cvref_t<decltype(call_argument<Differentiated, ::std::remove_cvref_t<decltype(argument_of(
                                                                     ::std::declval<const X&>()))>>::value)>;
/// What it returns.
template <class Positions, class F, class... X>
constexpr auto returned_by() {
  return []<int... I>(::std::integer_sequence<int, I...>) {
    using chosen = differentiated<Positions, X...>;
    using Y = decltype(::std::declval<const F&>()(::std::declval<const given_argument_t<chosen::is(I), X>&>()...));
    return returned<::std::remove_cvref_t<Y>>();
  }
  (::std::make_integer_sequence<int, int(sizeof...(X))>{});
}
/// Whether a function can be differentiated by arguments X; one sentence says why not.
template <class Positions, class F, class... X>
constexpr bool check_arguments() {
  using chosen = differentiated<Positions, X...>;
  if constexpr ((check_tree<X>() && ...)) {
    constexpr bool some = chosen::count > 0;
    static_assert(some,
                  "cudarray: no argument of the function holds variables: name those that gradients are wanted of, as "
                  "in ca::grad<0>(f)");
    constexpr bool hold = []<int... I>(::std::integer_sequence<int, I...>) {
      return ((!chosen::is(I) || array_expression<X> || holds_variables<X>()) && ...);
    }
    (::std::make_integer_sequence<int, int(sizeof...(X))>{});
    static_assert(hold, "cudarray: an argument that gradients are wanted of holds no variables, and is no array");
    if constexpr (some && hold && (check_copied_tree<X>() && ...)) {
      using result = decltype(returned_by<Positions, F, X...>());
      constexpr bool is_function = variable_expression<typename result::value_type>, known = result::known;
      static_assert(is_function,
                    "cudarray: the value of the function that is differentiated is no floating-point array that was "
                    "computed of variables");
      static_assert(known,
                    "cudarray: a result beside the value is not taken apart into variables, or refers to some: make it "
                    "an aggregate of values, or give it auto members() { return std::tie(...); }");
      return is_function && known;
    }
  }
  return false;
}

/// What a function was called with, its value, and (`Others`) the results beside it.
template <class Positions, bool Others, class F, class... X>
class differentiated_call {
  using chosen = differentiated<Positions, X...>;
  template <class Indices>
  struct list;
  template <int... I>
  struct list<::std::integer_sequence<int, I...>> {
    using type = ::std::tuple<call_argument<chosen::is(I), X>...>;
  };
  using arguments = typename list<::std::make_integer_sequence<int, int(sizeof...(X))>>::type;
  static auto call(const F& f, const arguments& a) {
    const auto results_of = []<class Y>(Y y) {
      using V = typename returned<Y>::value_type;
      variable<value_type_t<V>, device_type_t<V>> value(returned<Y>::value(y));
      if constexpr (Others) return ::std::make_pair(::std::move(value), returned<Y>::others(::std::move(y)));
      else return ::std::make_pair(::std::move(value), ::std::tuple<>());
    };
    return ::std::apply([&](const auto&... x) { return results_of(f(x.value...)); }, a);
  }
  arguments arguments_;
  decltype(call(::std::declval<const F&>(), ::std::declval<const arguments&>())) results_;
  bool is_function_;  ///< of the variables

 public:
  using value_type = typename decltype(results_)::first_type;
  using array_type = ndarray<typename value_type::value_type, typename value_type::device_type>;

  differentiated_call(const char* name, const F& f, const X&... x)
      : differentiated_call(differentiation(name), f, x...) {}
  const array_type& value() const { return results_.first.value(); }
  /// What the function returned beside it, a tuple; once.
  auto take_others() { return ::std::move(results_.second); }
  /// The gradients of each argument from that of the value.
  auto gradients(const array_type& g, bool retain_graph) const {
    if (g.shape() != value().shape())
      fail<shape_error>("vjp: a gradient of shape ", g.shape(), " for a value of shape ", value().shape());
    ::std::apply([](const auto&... a) { (a.forget(), ...); }, arguments_);
    if (is_function_) results_.first.backward(g, {.retain_graph = retain_graph});
    return take();
  }
  auto gradients(const char* name) const {
    check_one(name);
    if (is_function_) results_.first.backward();
    return take();
  }
  /// Adds the gradients to those in `to`; the variables hold these meanwhile, so that they may be written.
  template <class... G>
  void add_gradients(const char* name, G&... to) const {
    struct owners {
      const differentiated_call& call;
      ::std::tuple<G&...> to;
      ~owners() {
        call.each_pair([](const auto& a, auto& g) { a.take_back(g); }, to);
      }
    } held{*this, {to...}};
    each_pair([](const auto& a, auto& g) { a.give(g); }, held.to);
    check_one(name);
    if (is_function_) results_.first.backward();
    each_pair([](const auto& a, auto& g) { a.complete(g); }, held.to);
  }

 private:
  differentiated_call(const differentiation&, const F& f, const X&... x)
      : arguments_(x...), results_(call(f, arguments_)), is_function_(is_wanted(results_.first.node().tape)) {}
  void check_one(const char* name) const {
    if (value().size() != 1)
      fail<shape_error>(name, ": the function's value has shape ", value().shape(),
                        " and is not one element: use ca::vjp");
  }
  /// `f(argument, g)` of each argument that the function is differentiated by.
  template <class Op, class... G>
  void each_pair(const Op& op, const ::std::tuple<G&...>& to) const {
    const auto one = [&]<int I>() {
      constexpr int before = chosen::before(I);
      if constexpr (chosen::is(I)) op(::std::get<I>(arguments_), ::std::get<before>(to));
    };
    [&]<int... I>(::std::integer_sequence<int, I...>) { (one.template operator()<I>(), ...); }
    (::std::make_integer_sequence<int, int(sizeof...(X))>{});
  }
  auto take() const {
    return ::std::apply([](const auto&... a) { return ::std::tuple_cat(a.take()...); }, arguments_);
  }
};

/// Calls f, of which gradients are wanted.
template <class Positions, bool Others = true, class F, class... X>
auto differentiate(const char* name, const F& f, const X&... x) {
  return [&]<class... A>(const A&... a) {
    return differentiated_call<Positions, Others, F, A...>(name, f, a...);
  }(argument_of(x)...);
}
/// The gradients of f alone; `Others`: and what it returns beside its value.
template <class Positions, bool Others, class F, class... X>
auto gradients_at(const F& f, const X&... x) {
  auto call = differentiate<Positions, Others>("grad", f, x...);
  auto g = call.gradients("grad");
  return one_or_several(::std::tuple_cat(::std::move(g), call.take_others()));
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// What `ca::value_and_grad` returns.
template <class F, int... Positions>
class value_and_grad_function {
  F f_;
  static constexpr const char* name_ = "value_and_grad";
  using positions = ::std::integer_sequence<int, Positions...>;

 public:
  explicit value_and_grad_function(F f) : f_(::std::move(f)) {}
  /// The value, what the function returned beside it, and the gradients.
  template <class... X>
  auto operator()(const X&... x) const {
    if constexpr (detail::check_arguments<positions, F, X...>()) {
      auto call = detail::differentiate<positions>(name_, f_, x...);
      auto g = call.gradients(name_);
      return ::std::tuple_cat(::std::make_tuple(call.value()), call.take_others(), ::std::move(g));
    } else {
      return ::std::tuple<>();
    }
  }
  /// A function that returns the value, and what f returns beside it, and adds the gradients to those in `g`: in place
  /// where nobody else holds their memory; to variables and arrays made without arguments they are assigned. Throws
  /// shape_error where shapes differ.
  template <class... G>
  auto into(G&... g) const {
    return [f = f_, to = ::std::tuple<G&...>(g...)]<class... X>(const X&... x) {
      if constexpr (detail::check_arguments<positions, F, X...>()) {
        auto call = detail::differentiate<positions>(name_, f, x...);
        ::std::apply([&](auto&... one) { call.add_gradients(name_, one...); }, to);
        return detail::one_or_several(::std::tuple_cat(::std::make_tuple(call.value()), call.take_others()));
      } else {
        return ::std::tuple<>();
      }
    };
  }
};

/// The function `(x...) -> (value, gradient...)` of a function whose value is one element; as jax.value_and_grad.
///
/// It is differentiated by those arguments that hold variables (`ca::tree_for_each` says what is looked into), or by
/// those at the positions that are named, which may be arrays. There is one gradient for each: a tree of the same type
/// whose variables hold the gradients, or an array. They are 0 where the value is no function of a variable, or
/// `requires_grad()` is false. Nothing is added to `grad()`, and variables that are no arguments are constants.
///     auto [loss, g] = ca::value_and_grad(f)(x, y, params);
///     auto [value, dx] = ca::value_and_grad<0>([](const auto& x) { return ca::sum(x * x); })(array);
/// A function may return a tuple: its value, and results beside it, which no gradient goes through. They are returned
/// behind the value; expressions are evaluated. (jax: has_aux.)
///     auto [loss, right, g] = ca::value_and_grad([&](const net& n) { ... return std::tuple(loss, right); })(params);
/// Throws shape_error where the value is not one element, value_error inside of another.
template <int... Positions, class F>
auto value_and_grad(F f) {
  return value_and_grad_function<F, Positions...>(::std::move(f));
}
/// The gradient alone, or a tuple of several, in the order of the arguments; behind them what the function returns
/// beside its value.
template <int... Positions, class F>
auto grad(F f) {
  return [f = ::std::move(f)]<class... X>(const X&... x) {
    using positions = ::std::integer_sequence<int, Positions...>;
    if constexpr (detail::check_arguments<positions, F, X...>()) return detail::gradients_at<positions, true>(f, x...);
    else return ::std::tuple<>();
  };
}
/// The value of `f(x...)`, and the function that makes the gradients of the arguments from that of the value; as
/// jax.vjp. Arguments and gradients are as those of `ca::value_and_grad`. It may be called more than once.
///     auto [y, pull] = ca::vjp(f, params);
///     auto g = pull(ca::ones(y.shape()));
/// What f returns beside its value follows the function.
template <int... Positions, class F, class... X>
auto vjp(const F& f, const X&... x) {
  using positions = ::std::integer_sequence<int, Positions...>;
  if constexpr (detail::check_arguments<positions, F, X...>()) {
    using call_type = decltype(detail::differentiate<positions>("vjp", f, x...));
    const ::std::shared_ptr<call_type> call(new call_type(detail::differentiate<positions>("vjp", f, x...)));
    const auto pull = [call](const typename call_type::array_type& g) {
      return detail::one_or_several(call->gradients(g, true));
    };
    return ::std::tuple_cat(::std::make_tuple(call->value(), pull), call->take_others());
  } else {
    return ::std::tuple<>();
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
