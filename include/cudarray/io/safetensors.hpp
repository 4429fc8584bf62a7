// Files of the safetensors format, in which weights of networks are exchanged (github.com/huggingface/safetensors).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>

#include "json.hpp"
#include "names.hpp"
#include "zip.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// What a header says of an array.
struct tensor_entry {
  ::std::string name;
  const char* dtype = "";  ///< our name of it
  ::std::size_t itemsize = 0;
  shape dims;
  ::std::string problem;      ///< why no array of ours holds it
  uint64 begin = 0, end = 0;  ///< behind the header
};

struct tensor_dtype {
  const char *theirs, *ours;
  int itemsize;
};
inline constexpr tensor_dtype tensor_dtypes[] = {{"BOOL", "bool", 1},     {"U8", "uint8", 1},     {"I8", "int8", 1},
                                                 {"U16", "uint16", 2},    {"I16", "int16", 2},    {"F16", "float16", 2},
                                                 {"BF16", "bfloat16", 2}, {"U32", "uint32", 4},   {"I32", "int32", 4},
                                                 {"F32", "float32", 4},   {"U64", "uint64", 8},   {"I64", "int64", 8},
                                                 {"F64", "float64", 8},   {"C64", "complex64", 8}};

/// The header of a file, checked: the arrays lie one behind the other and fill the file. Throws io_error.
template <class Reader>
class tensor_header {
 public:
  explicit tensor_header(Reader& f) : path_(f.path()) {
    unsigned char length[8];
    f.seek(0);
    const int64 size = f.remaining();
    read_all(f, length, sizeof length, "the header's length");
    const uint64 n = little_endian(length, 8);
    if (n > 100000000) refuse("a header of ", n, " bytes; at most 10^8 are read");
    if (size < 0 || n > uint64(size) - 8) refuse("the file ends too early: before the end of its header");
    ::std::string text(::std::size_t(n), ' ');
    read_all(f, text.data(), text.size(), "the header");
    read_entries(text);
    begin = 8 + n;
    check_places(uint64(size) - begin);
  }

  ::std::vector<tensor_entry> entries;  ///< in the order of the header
  ::std::map<::std::string, ::std::string> metadata;
  uint64 begin = 0;  ///< of the elements

 private:
  template <class... A>
  [[noreturn]] CUDARRAY_COLD void refuse(const A&... why) const {
    fail<io_error>(path_, ": not a safetensors file that is read: ", why...);
  }
  CUDARRAY_COLD void read_entries(const ::std::string& text) {
    json_reader r(path_, text);
    r.object([&](const ::std::string& name) {
      if (name == "__metadata__") r.object([&](const ::std::string& key) { metadata[key] = r.string(); });
      else entries.push_back(read_entry(r, name));
    });
    r.end();
  }
  CUDARRAY_COLD tensor_entry read_entry(json_reader& r, const ::std::string& name) {
    tensor_entry e;
    e.name = name;
    ::std::string theirs;
    ::std::vector<uint64> extents, places;
    int parts = 0;
    r.object([&](const ::std::string& key) {
      if (key == "dtype") parts |= 1, theirs = r.string();
      else if (key == "shape") parts |= 2, extents.clear(), r.array([&] { extents.push_back(r.count()); });
      else if (key == "data_offsets") parts |= 4, places.clear(), r.array([&] { places.push_back(r.count()); });
      else r.skip();
    });
    const ::std::string is = cat("array \"", shown(name.data(), name.size()), "\" ");
    if (parts != 7 || places.size() != 2) refuse(is, "lacks dtype, shape or two data_offsets");
    for (const tensor_dtype& t : tensor_dtypes)
      if (theirs == t.theirs) e.dtype = t.ours, e.itemsize = ::std::size_t(t.itemsize);
    if (e.itemsize == 0) e.problem = cat("holds ", shown(theirs.data(), theirs.size()), ", no dtype of arrays");
    if (extents.size() > max_rank) e.problem = cat("has ", extents.size(), " axes; at most ", max_rank, " are read");
    uint64 n = 1;
    for (::std::size_t d = 0; d < extents.size() && e.problem.empty(); ++d) {
      const uint64 here = extents[d];
      if (here >= uint64(1) << 55 || __builtin_mul_overflow(n, here > 0 ? here : 1, &n) || n >= uint64(1) << 55)
        e.problem = "has 2^55 elements or more";
      else e.dims.push_back(int64(here));
    }
    e.begin = places[0], e.end = places[1];
    if (e.end < e.begin || (e.problem.empty() && e.end - e.begin != uint64(e.dims.elements()) * e.itemsize))
      refuse(is, "of shape ", e.dims, " of ", e.dtype, " has the data_offsets ", e.begin, " and ", e.end);
    return e;
  }
  CUDARRAY_COLD void check_places(uint64 bytes) {
    ::std::vector<const tensor_entry*> by_place, by_name;
    for (const tensor_entry& e : entries) by_place.push_back(&e), by_name.push_back(&e);
    ::std::sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    for (::std::size_t i = 1; i < by_name.size(); ++i)
      if (by_name[i]->name == by_name[i - 1]->name)
        refuse("array \"", shown(by_name[i]->name.data(), by_name[i]->name.size()), "\" is there twice");
    ::std::sort(by_place.begin(), by_place.end(), [](const auto* a, const auto* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
    });
    uint64 at = 0;
    for (const tensor_entry* const e : by_place) {
      if (e->begin != at)
        refuse("array \"", shown(e->name.data(), e->name.size()), "\" begins at ", e->begin, ", not at ", at,
               " where the one before ends");
      at = e->end;
    }
    if (at != bytes) refuse("its arrays end at ", at, ", the file holds ", bytes, " bytes of them");
  }

  const ::std::string& path_;
};

/// The format's name of a dtype.
template <class T>
const char* tensor_dtype_of() {
  constexpr bool is_there = !is_dual<T> && !::std::is_same_v<T, complex128>;
  static_assert(is_there, "cudarray: the safetensors format has no such dtype");
  for (const tensor_dtype& t : tensor_dtypes)
    if (::std::strcmp(t.ours, dtype_name<T>) == 0) return t.theirs;
  return "";
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
namespace cudarray::inline v0::inline CUDARRAY_BUILD {

/// An open safetensors file whose arrays are read one by one, bfloat16 among them. The constructor reads the header,
/// and throws io_error for a missing, truncated or malformed file. What no array holds (float8, more than 8 axes) is
/// refused where it is asked for. For one thread at a time.
///     ca::safetensors_file f("model.safetensors");
///     auto w = f.load<ca::bfloat16>("layers.0.weight");
class safetensors_file {
 public:
  explicit safetensors_file(const ::std::string& path) : f_(path, "rbe"), header_(f_) {}

  /// The arrays' names, in the order of the header.
  ::std::vector<::std::string> names() const {
    ::std::vector<::std::string> r;
    for (const detail::tensor_entry& e : header_.entries) r.push_back(e.name);
    return r;
  }
  bool contains(const ::std::string& name) const { return found(name) != nullptr; }
  /// Of the array of that name. Throws io_error where there is none.
  cudarray::shape shape(const ::std::string& name) const { return entry(name).dims; }
  const char* dtype(const ::std::string& name) const { return entry(name).dtype; }
  const ::std::map<::std::string, ::std::string>& metadata() const { return header_.metadata; }

  /// The array of that name. Throws dtype_error for another dtype; io_error where there is none.
  template <cudarray::dtype T, device_tag Device = default_device, class Host = cpu>
  const ndarray<T, Device> load(const ::std::string& name, Device device = {}) {
    const detail::tensor_entry& e = entry(name);
    if (::std::strcmp(e.dtype, dtype_name<T>) != 0)
      detail::fail<dtype_error>(f_.path(), ": array \"", detail::shown(name.data(), name.size()), "\" holds ", e.dtype,
                                ", not ", dtype_name<T>);
    return read<T, Device, Host>(e, device);
  }
  /// The same, of whatever dtype.
  template <device_tag Device = default_device, class Host = cpu>
  array_variant<Device> load_any(const ::std::string& name, Device device = {}) {
    const detail::tensor_entry& e = entry(name);
    return detail::of_dtype<Device>(e.dtype, [&]<class T>(T) { return read<T, Device, Host>(e, device); });
  }

 private:
  const detail::tensor_entry* found(const ::std::string& name) const {
    for (const detail::tensor_entry& e : header_.entries)
      if (e.name == name) return &e;
    return nullptr;
  }
  const detail::tensor_entry& entry(const ::std::string& name) const {
    const detail::tensor_entry* const e = found(name);
    if (e == nullptr) detail::fail_name(f_.path(), name, names());
    if (!e->problem.empty())
      detail::fail<dtype_error>(f_.path(), ": array \"", detail::shown(name.data(), name.size()), "\" ", e->problem);
    return *e;
  }
  template <class T, class Device, class Host>
  ndarray<T, Device> read(const detail::tensor_entry& e, Device device) {
    f_.seek(int64(header_.begin + e.begin));
    if constexpr (::std::is_same_v<T, bool>) {
      const ndarray<T, Host> a = detail::read_elements<T, Host>(f_, e.dims);
      detail::normalise_bool(a.data(), ::std::size_t(a.size()));
      return detail::placed_on(a, device);
    } else {
      return detail::read_placed<T, Host>(f_, e.dims, device);
    }
  }

  detail::file f_;
  detail::tensor_header<detail::file> header_;
};

/// Writes a safetensors file: arrays are copied to the host by `add`, and written by `close`. Throws io_error;
/// value_error for a name that is there already.
class safetensors_writer {
 public:
  explicit safetensors_writer(const ::std::string& path) : path_(path) {}
  /// Texts that stand beside the arrays.
  ::std::map<::std::string, ::std::string> metadata;

  template <array_expression X>
  void add(const ::std::string& name, const X& x) {
    using T = value_type_t<X>;
    if (name == "__metadata__") detail::fail<value_error>("safetensors_writer: __metadata__ is no array's name");
    names_.add("safetensors_writer", name);
    const ndarray<T, cpu> a = to<cpu>(detail::array_of(x));
    parts_.push_back({name, detail::tensor_dtype_of<T>(), a.shape(), ::std::size_t(a.nbytes()), a.node().store});
  }
  template <class D>
  void add(const ::std::string& name, const array_variant<D>& x) {
    ::std::visit(
        [&]<class T>(const ndarray<T, D>& a) {
          if constexpr (::std::is_same_v<T, complex128>)
            detail::fail<value_error>("safetensors_writer: the format has no complex128");
          else add(name, a);
        },
        x);
  }
  CUDARRAY_COLD void close() {
    // larger elements first, so that all are aligned
    ::std::stable_sort(parts_.begin(), parts_.end(),
                       [](const part& a, const part& b) { return a.itemsize() > b.itemsize(); });
    const ::std::string text = header();
    if (text.size() > 100000000)
      detail::fail<value_error>(path_, ": a header of ", text.size(), " bytes; 10^8 are read");
    ::std::string start;
    detail::add_little_endian(start, text.size(), 8);
    detail::file f(path_, "wbe");
    f.write(start.data(), start.size());
    f.write(text.data(), text.size());
    for (const part& p : parts_)
      if (p.bytes > 0) f.write(p.block->data, p.bytes);
    f.close();
  }

 private:
  struct part {
    ::std::string name;
    const char* dtype;
    cudarray::shape dims;
    ::std::size_t bytes;
    detail::storage_ref block;
    ::std::size_t itemsize() const {
      for (const detail::tensor_dtype& t : detail::tensor_dtypes)
        if (t.theirs == dtype) return ::std::size_t(t.itemsize);
      return 0;
    }
  };
  CUDARRAY_COLD ::std::string header() const {
    ::std::string r = "{";
    if (!metadata.empty()) {
      r += "\"__metadata__\":{";
      for (const auto& [key, value] : metadata)
        r += (r.back() == '{' ? "" : ",") + detail::json_string(key) + ':' + detail::json_string(value);
      r += '}';
    }
    ::std::size_t at = 0;
    for (const part& p : parts_) {
      r += (r.size() == 1 ? "" : ",") + detail::json_string(p.name) + ":{\"dtype\":\"" + p.dtype + "\",\"shape\":[";
      for (int d = 0; d < p.dims.ndim(); ++d) r += detail::cat(d > 0 ? "," : "", p.dims[d]);
      r += detail::cat("],\"data_offsets\":[", at, ",", at + p.bytes, "]}");
      at += p.bytes;
    }
    r += '}';
    r.append((8 - r.size() % 8) % 8, ' ');
    return r;
  }

  ::std::string path_;
  detail::new_names names_;
  ::std::vector<part> parts_;
};

/// Writes arrays, each behind its name, as a safetensors file. Throws io_error, value_error.
///     ca::save_safetensors("model.safetensors", "w", w, "b", b);
template <class... A>
void save_safetensors(const ::std::string& path, const A&... names_and_arrays) {
  constexpr bool named = detail::are_named<A...>;
  static_assert(named, "cudarray: each array stands behind its name: save_safetensors(path, \"w\", w)");
  if constexpr (named) {
    safetensors_writer f(path);
    detail::add_named(f, names_and_arrays...);
    f.close();
  }
}

}  // namespace cudarray::inline v0::inline CUDARRAY_BUILD
