// What stands before the elements of a .npy file: the dictionary that names dtype, order and shape.
// SPDX-License-Identifier: MIT
#pragma once

#include "literal.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A dtype as files name it: NumPy's letter of the kind and the size in bytes; letter 0 for what is none of ours.
struct npy_type {
  char letter = 0;
  int size = 0;
  bool swapped = false;  ///< the most significant byte comes first
};

template <class T>
inline constexpr char npy_letter = ::std::is_same_v<T, bool>       ? 'b'
                                   : kind_of<T> == kind::unsigned_ ? 'u'
                                   : kind_of<T> == kind::signed_   ? 'i'
                                   : ::std::is_same_v<T, bfloat16> ? 'V'  // NumPy does not have it
                                   : is_floating<T>                ? 'f'
                                                                   : 'c';

/// NumPy's type string: `<f4`. bfloat16, which NumPy does not have, is not written.
template <class T>
::std::string npy_descr() {
  static_assert(!::std::is_same_v<T, bfloat16>, "cudarray: NumPy has no bfloat16: save ca::astype<float>(x)");
  static_assert(!is_dual<T>, "cudarray: dual numbers are not saved: ca::jvp returns arrays that are");
  return cat(sizeof(T) == 1 ? '|' : '<', npy_letter<T>, sizeof(T));
}

struct named_type {
  const char* name;
  npy_type type;
};
/// NumPy's names of dtypes, ours before others of the same.
inline constexpr named_type type_names[] = {
    {"bool", {'b', 1}},      {"int8", {'i', 1}},        {"int16", {'i', 2}},    {"int32", {'i', 4}},
    {"int64", {'i', 8}},     {"uint8", {'u', 1}},       {"uint16", {'u', 2}},   {"uint32", {'u', 4}},
    {"uint64", {'u', 8}},    {"float16", {'f', 2}},     {"float32", {'f', 4}},  {"float64", {'f', 8}},
    {"complex64", {'c', 8}}, {"complex128", {'c', 16}}, {"bool_", {'b', 1}},    {"byte", {'i', 1}},
    {"ubyte", {'u', 1}},     {"short", {'i', 2}},       {"ushort", {'u', 2}},   {"intc", {'i', 4}},
    {"uintc", {'u', 4}},     {"int", {'i', 8}},         {"int_", {'i', 8}},     {"uint", {'u', 8}},
    {"long", {'i', 8}},      {"ulong", {'u', 8}},       {"longlong", {'i', 8}}, {"ulonglong", {'u', 8}},
    {"intp", {'i', 8}},      {"uintp", {'u', 8}},       {"half", {'f', 2}},     {"single", {'f', 4}},
    {"double", {'f', 8}},    {"float", {'f', 8}},       {"csingle", {'c', 8}},  {"cdouble", {'c', 16}},
    {"complex", {'c', 16}}};
/// Our name of a type; empty for none of ours.
inline const char* name_of(npy_type t) {
  for (const named_type& n : type_names)
    if (n.type.letter == t.letter && n.type.size == t.size) return n.name;
  return "";
}

/// The dtype that `np.dtype(descr)` is: an order of bytes before a letter and a size, or one of NumPy's letters or
/// names, in which C's types are those of 64-bit Linux.
CUDARRAY_COLD inline npy_type type_of_descr(const ::std::string& descr) {
  static constexpr named_type letters[] = {{"?", {'b', 1}}, {"b", {'i', 1}}, {"B", {'u', 1}}, {"h", {'i', 2}},
                                           {"H", {'u', 2}}, {"i", {'i', 4}}, {"I", {'u', 4}}, {"l", {'i', 8}},
                                           {"L", {'u', 8}}, {"q", {'i', 8}}, {"Q", {'u', 8}}, {"p", {'i', 8}},
                                           {"P", {'u', 8}}, {"n", {'i', 8}}, {"N", {'u', 8}}, {"e", {'f', 2}},
                                           {"f", {'f', 4}}, {"d", {'f', 8}}, {"F", {'c', 8}}, {"D", {'c', 16}}};
  for (const named_type& n : type_names)
    if (descr == n.name) return n.type;
  const bool ordered = !descr.empty() && ::std::strchr("<>=|", descr[0]) != nullptr;
  const ::std::string rest = descr.substr(ordered ? 1 : 0);
  npy_type t;
  for (const named_type& n : letters)
    if (rest == n.name) t = n.type;
  for (const named_type& n : type_names)  // `f4` is there as float32
    if (rest.size() > 1 && rest == cat(n.type.letter, n.type.size)) t = n.type;
  t.swapped = ordered && descr[0] == '>' && t.size > 1;
  return t;
}

/// The three values of a header.
struct npy_fields {
  literal descr, fortran_order, shape;
};

/// Throws io_error for what is not a dictionary with NumPy's keys. Where one is there twice the last one counts, as in
/// Python.
CUDARRAY_COLD inline npy_fields fields_of_header(const ::std::string& path, const ::std::string& text) {
  constexpr const char* expected = "; a dictionary of 'descr', 'fortran_order' and 'shape' is read";
  npy_fields r;
  const auto entry = [&](const literal& key, const literal& value) {
    const bool is_string = key.is == literal::form::string;
    if (is_string && key.text == "descr") r.descr = value;
    else if (is_string && key.text == "fortran_order") r.fortran_order = value;
    else if (is_string && key.text == "shape") r.shape = value;
    else fail<io_error>(path, ": a malformed header: it has the key ", key.shown(), expected);
  };
  const literal whole = literal_parser<decltype(entry)>(path, text, entry).parse();
  const char* const lacking = r.descr.begin == nullptr           ? "it lacks 'descr'"
                              : r.fortran_order.begin == nullptr ? "it lacks 'fortran_order'"
                              : r.shape.begin == nullptr         ? "it lacks 'shape'"
                                                                 : "";
  if (whole.is != literal::form::dictionary || *lacking)
    fail<io_error>(path, ": a malformed header: ", lacking, *lacking ? ": " : "", whole.shown(), expected);
  return r;
}

/// Throws dtype_error where the file's dtype is not the one asked for, which has that name; with letter 0 all that are
/// ours are.
CUDARRAY_COLD inline npy_type checked_type(const ::std::string& path, const literal& descr, npy_type asked,
                                           const char* asked_name) {
  const bool is_string = descr.is == literal::form::string;
  const npy_type t = is_string ? type_of_descr(descr.text) : npy_type();
  if (asked.letter == 0 ? t.letter != 0 : t.letter == asked.letter && t.size == asked.size) return t;
  const char* why = "";
  if (!is_string) why = *descr.begin == '[' ? " (a structured dtype: records are not read)" : " (no dtype's name)";
  for (const char* object : {"O", "|O", "|O8", "object"})
    if (is_string && descr.text == object) why = " (objects of Python's: pickles are not read)";
  const ::std::string held = is_string ? shown(descr.text.data(), descr.text.size()) : descr.shown();
  if (asked.letter == 0) fail<dtype_error>(path, ": the file holds ", held, why, ", no dtype that is read");
  fail<dtype_error>(path, ": the file holds ", held, why, ", not ", asked.size == 1 ? '|' : '<', asked.letter,
                    asked.size, " (", asked_name, ")");
}

/// Throws io_error for what is not True or False.
CUDARRAY_COLD inline bool checked_order(const ::std::string& path, const literal& order) {
  if (order.is != literal::form::truth)
    fail<io_error>(path, ": a malformed header: 'fortran_order' is ", order.shown(), "; True or False is read");
  return order.value != 0;
}

/// Throws io_error for what is no shape of an array of ours.
CUDARRAY_COLD inline shape checked_shape(const ::std::string& path, const literal& extents) {
  const auto refuse = [&](const char* wanted) {
    fail<io_error>(path, ": a malformed shape: ", extents.shown(), "; ", wanted);
  };
  if (extents.is != literal::form::tuple || !extents.integers) refuse("a tuple of integers is read");
  if (extents.count > max_rank)
    fail<io_error>(path, ": ", extents.count, " axes, ", extents.shown(), "; at most ", max_rank, " are read");
  shape s;
  int64 n = 1;
  for (int i = 0; i < int(extents.count); ++i) {
    const int64 d = extents.items[i];
    if (d < 0) refuse("extents of at least 0 are read");
    if (d > 0 && (__builtin_mul_overflow(n, d, &n) || n >= (int64(1) << 55)))
      refuse("less than 2^55 elements are read");
    s.push_back(d);
  }
  return s;
}

/// The text of the dictionary, whose place depends on the version of the format. Throws io_error.
template <class Reader>
::std::string npy_header_text(Reader& f) {
  constexpr ::std::size_t most = ::std::size_t(1) << 20;
  unsigned char start[8], length[4] = {};
  read_all(f, start, sizeof start, "magic and version");
  const char* const magic = reinterpret_cast<const char*>(start);
  if (::std::memcmp(magic, "\x93NUMPY", 6) != 0)
    fail<io_error>(f.path(), ": not a .npy file: it begins with \"", shown(magic, 6), "\", where \"",
                   shown("\x93NUMPY", 6), "\" is read",
                   ::std::memcmp(magic, "PK", 2) == 0 ? "; ca::npz_file reads .npz files" : "");
  const int major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    fail<io_error>(f.path(), ": a .npy file of version ", major, ".", minor, "; 1.0, 2.0 and 3.0 are read");
  read_all(f, length, major == 1 ? 2 : 4, "the header's length");
  const ::std::size_t n =
      length[0] | ::std::size_t(length[1]) << 8 | ::std::size_t(length[2]) << 16 | ::std::size_t(length[3]) << 24;
  if (n > most) fail<io_error>(f.path(), ": a header of ", n, " bytes; at most ", most, " (1 MiB) are read");
  ::std::string header(n, ' ');
  read_all(f, header.data(), n, "the header");
  return header;
}

/// What a header says, checked.
struct npy_header {
  npy_type type;
  bool fortran_order;
  shape dims;
};
template <class Reader>
npy_header read_npy_header(Reader& f, npy_type asked, const char* asked_name) {
  const ::std::string text = npy_header_text(f);
  const npy_fields fields = fields_of_header(f.path(), text);
  const npy_type type = checked_type(f.path(), fields.descr, asked, asked_name);
  const bool fortran_order = checked_order(f.path(), fields.fortran_order);
  return {type, fortran_order, checked_shape(f.path(), fields.shape)};
}

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
