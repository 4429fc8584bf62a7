// NumPy's .npz files: several arrays in one file, each by its name.
// SPDX-License-Identifier: MIT
#pragma once

#include "names.hpp"
#include "zip.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A member's name without `.npy`.
inline ::std::string name_of_member(const ::std::string& member) {
  const bool npy = member.size() >= 4 && member.compare(member.size() - 4, 4, ".npy") == 0;
  return npy ? member.substr(0, member.size() - 4) : member;
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An open .npz file, stored or compressed, whose arrays are read one by one. The constructor throws io_error for a
/// missing, truncated or damaged file. For one thread at a time.
///     ca::npz_file f("model.npz");
///     auto w = f.load<float>("w");
class npz_file {
 public:
  explicit npz_file(const ::std::string& path) : f_(path, "rbe"), directory_(f_) {}

  /// The arrays' names, in the order of the file.
  ::std::vector<::std::string> names() const {
    ::std::vector<::std::string> r;
    for (const detail::zip_member& m : directory_.members) r.push_back(detail::name_of_member(m.name));
    return r;
  }
  /// Whether there is an array of that name, with or without `.npy`.
  bool contains(const ::std::string& name) const { return found(name) != nullptr; }
  /// Of the array of that name, dtype by our name. Throw io_error where there is none, dtype_error for objects and the
  /// like.
  cudarray::shape shape(const ::std::string& name) { return header(name).dims; }
  const char* dtype(const ::std::string& name) { return detail::name_of(header(name).type); }

  /// The array of that name. Throws dtype_error for another dtype; io_error where there is none, or it is damaged.
  template <cudarray::dtype T, device_tag Device = default_device, class Host = cpu>
  const ndarray<T, Device> load(const ::std::string& name, Device device = {}) {
    detail::zip_member_reader m(f_, member(name));
    return detail::load_npy<T, Host>(m, device);
  }
  /// The same, of whatever dtype.
  template <device_tag Device = default_device, class Host = cpu>
  array_variant<Device> load_any(const ::std::string& name, Device device = {}) {
    detail::zip_member_reader m(f_, member(name));
    return detail::read_any_npy<Device, Host>(m, device);
  }

 private:
  /// Of members of one name the last counts, as in Python.
  const detail::zip_member* found(const ::std::string& name) const {
    const auto& all = directory_.members;
    for (auto m = all.rbegin(); m != all.rend(); ++m)
      if (m->name == name || detail::name_of_member(m->name) == name) return &*m;
    return nullptr;
  }
  const detail::zip_member& member(const ::std::string& name) const {
    const detail::zip_member* const m = found(name);
    if (m == nullptr) detail::fail_name(f_.path(), name, names());
    return *m;
  }
  detail::npy_header header(const ::std::string& name) {
    detail::zip_member_reader m(f_, member(name));
    return detail::read_npy_header(m, {}, "");
  }

  detail::file f_;
  detail::zip_directory<detail::file> directory_;
};

/// Writes a .npz file, array by array; it is whole once `close` returned. Throws io_error; value_error for a name that
/// is there already, or is no UTF-8.
///     ca::npz_writer f("model.npz");
///     for (const auto& [name, w] : weights) f.add(name, w);
///     f.close();
class npz_writer {
 public:
  explicit npz_writer(const ::std::string& path, bool compressed = false) : f_(path, compressed) {}
  template <array_expression X>
  void add(const ::std::string& name, const X& x) {
    using T = value_type_t<X>;
    names_.add("npz_writer", name);
    const ndarray<T, cpu> a = to<cpu>(detail::array_of(x));
    f_.add(name + ".npy", detail::npy_start(detail::npy_descr<T>(), a.shape()), a.data(), ::std::size_t(a.nbytes()));
  }
  template <class D>
  void add(const ::std::string& name, const array_variant<D>& x) {
    ::std::visit(
        [&]<class T>(const ndarray<T, D>& a) {
          if constexpr (::std::is_same_v<T, bfloat16>)
            detail::fail<value_error>("npz_writer: NumPy has no bfloat16: save ca::astype<float>(x)");
          else add(name, a);
        },
        x);
  }
  /// The second time it does nothing.
  void close() { f_.close(); }

 private:
  detail::zip_writer f_;
  detail::new_names names_;
};

/// Writes arrays, each behind its name, as a .npz file. Throws io_error, value_error.
///     ca::savez("model.npz", "w", w, "b", b);
template <class... A>
void savez(const ::std::string& path, const A&... names_and_arrays) {
  constexpr bool named = detail::are_named<A...>;
  static_assert(named, "cudarray: each array stands behind its name: savez(path, \"w\", w, \"b\", ca::array(v))");
  if constexpr (named) {
    npz_writer f(path);
    detail::add_named(f, names_and_arrays...);
    f.close();
  }
}
/// The same, deflated.
template <class... A>
void savez_compressed(const ::std::string& path, const A&... names_and_arrays) {
  constexpr bool named = detail::are_named<A...>;
  static_assert(named, "cudarray: each array stands behind its name: savez_compressed(path, \"w\", w)");
  if constexpr (named) {
    npz_writer f(path, true);
    detail::add_named(f, names_and_arrays...);
    f.close();
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
