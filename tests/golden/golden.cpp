// The golden suite: runs the cases of a file that generate.py wrote and compares the results with NumPy's.
// SPDX-License-Identifier: MIT
#include "golden.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace golden {
namespace {

/// A suite of this many cases has to call every function with every dtype it is tested with.
constexpr std::size_t complete = 1700;

/// Reads what `Case.write` of generate.py wrote.
class reader {
 public:
  explicit reader(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    if (bytes_.size() < 8 || std::memcmp(take(8), "golden 1", 8) != 0)
      throw std::runtime_error(file + ": not a file of golden cases");
  }

  std::vector<test_case> cases() {
    std::vector<test_case> all(std::size_t(scalar<ca::int64>()));
    for (test_case& c : all) {
      c.op = text();
      c.given = scalar<bool>();
      c.keepdims = scalar<bool>();
      c.relative = scalar<double>();
      c.absolute = scalar<double>();
      c.integers = list<ca::int64>(sizeof(ca::int64));
      c.in.resize(std::size_t(scalar<ca::int64>()));
      for (operand& o : c.in) {
        o.dtype = text();
        o.where.dims = shape();
        std::ranges::copy(list<ca::int64>(sizeof(ca::int64)), o.where.stride);
        o.where.offset = scalar<ca::int64>();
        o.base = list<unsigned char>(1);
      }
      c.expected = {text(), shape(), list<unsigned char>(1)};
    }
    return all;
  }

 private:
  const char* take(std::size_t n) {
    if (n > bytes_.size() - at_) throw std::runtime_error("the file of golden cases is cut off");
    at_ += n;
    return bytes_.data() + (at_ - n);
  }
  template <class T>
  T scalar() {
    T v;
    std::memcpy(&v, take(sizeof(T)), sizeof(T));
    return v;
  }
  template <class T>
  std::vector<T> list(std::size_t size) {
    std::vector<T> v(std::size_t(scalar<ca::int64>()));
    const char* from = take(v.size() * size);
    if (!v.empty()) std::memcpy(v.data(), from, v.size() * size);
    return v;
  }
  std::string text() {
    const auto v = list<char>(1);
    return {v.begin(), v.end()};
  }
  ca::shape shape() {
    const auto v = list<ca::int64>(sizeof(ca::int64));
    return {v.data(), int(v.size())};
  }

  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

template <class T>
T element(const std::vector<unsigned char>& bytes, std::size_t i) {
  T v;
  std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
  return v;
}

/// NaN equals NaN, and -0 equals 0.
bool close(double got, double expected, const test_case& c) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (got == expected) return true;
  return std::fabs(got - expected) <= std::max(c.relative * std::fabs(expected), c.absolute) && std::isfinite(expected);
}

template <class T>
std::string number(T v) {
  if constexpr (std::is_integral_v<T>) return std::to_string(v);
  char s[32];
  std::snprintf(s, sizeof(s), "%.*g", sizeof(T) == 8 ? 17 : 9, double(v));
  return s;
}

/// The first difference of elements of type T, or nothing.
template <class T>
std::string difference_of(const value& got, const test_case& c) {
  for (std::size_t i = 0; i < got.bytes.size() / sizeof(T); ++i) {
    const T a = element<T>(got.bytes, i), b = element<T>(c.expected.bytes, i);
    bool same;
    if constexpr (std::is_integral_v<T>) same = a == b;
    else same = close(double(a), double(b), c);
    if (!same) return "element " + std::to_string(i) + ": got " + number(a) + ", expected " + number(b);
  }
  return {};
}

/// The first difference of complex numbers of parts T: an error is measured against the whole number.
template <class T>
std::string difference_of_complex(const value& got, const test_case& c) {
  for (std::size_t i = 0; i < got.bytes.size() / sizeof(T); i += 2) {
    const T a[] = {element<T>(got.bytes, i), element<T>(got.bytes, i + 1)};
    const T b[] = {element<T>(c.expected.bytes, i), element<T>(c.expected.bytes, i + 1)};
    test_case of = c;
    of.absolute = std::max(c.absolute, c.relative * std::hypot(double(b[0]), double(b[1])));
    if (!close(double(a[0]), double(b[0]), of) || !close(double(a[1]), double(b[1]), of))
      return "element " + std::to_string(i / 2) + ": got (" + number(a[0]) + ", " + number(a[1]) + "), expected (" +
             number(b[0]) + ", " + number(b[1]) + ")";
  }
  return {};
}

/// What is wrong with a result, or nothing.
std::string difference(const value& got, const test_case& c) {
  const value& expected = c.expected;
  if (got.dtype != expected.dtype) return "got " + got.dtype + ", expected " + expected.dtype;
  if (got.shape != expected.shape) return "got shape " + got.shape.str() + ", expected " + expected.shape.str();
  if (got.bytes.size() != expected.bytes.size()) return "got " + std::to_string(got.bytes.size()) + " bytes";
  if (got.dtype == "int32") return difference_of<ca::int32>(got, c);
  if (got.dtype == "int64") return difference_of<ca::int64>(got, c);
  if (got.dtype == "uint64") return difference_of<ca::uint64>(got, c);
  if (got.dtype == "int8") return difference_of<ca::int8>(got, c);
  if (got.dtype == "float16") return difference_of<ca::float16>(got, c);
  if (got.dtype == "bfloat16") return difference_of<ca::bfloat16>(got, c);
  if (got.dtype == "complex64") return difference_of_complex<float>(got, c);
  if (got.dtype == "complex128") return difference_of_complex<double>(got, c);
  if (got.dtype == "float32") return difference_of<float>(got, c);
  if (got.dtype == "float64") return difference_of<double>(got, c);
  return difference_of<ca::uint8>(got, c);
}

/// The call as a failure shows it: add(int32 (3, 1), float32 (4,)).
std::string call(const test_case& c) {
  std::string s = c.op + "(";
  for (const operand& o : c.in) {
    s += (&o == c.in.data() ? "" : ", ") + o.dtype + " " + o.where.dims.str();
    if (o.where != ca::detail::c_layout(o.where.dims)) s += " strided";
  }
  for (std::size_t i = 0; i < c.integers.size(); ++i) s += (i ? " " : "; ") + std::to_string(c.integers[i]);
  return s + (c.keepdims ? "; keepdims)" : ")");
}

std::string run(const table& t, const test_case& c, std::set<std::string>& used) {
  std::string name = c.op;
  for (std::size_t i = 0; i < c.in.size() && i < 2; ++i) name += " " + c.in[i].dtype;
  const auto found = t.find(name);
  if (found == t.end()) return "'" + name + "' is not part of the suite";
  used.insert(name);
  try {
    return difference(found->second(c), c);
  } catch (const std::exception& e) {
    return std::string("threw: ") + e.what();
  }
}

int run_file(const std::string& file) {
  table t;
  for (auto add :
       {add_unary, add_special, add_arithmetic, add_mixed, add_logic, add_selection, add_reductions, add_sorting,
        add_indexing, add_manipulation, add_linalg, add_half, add_complex, add_rows, add_surface})
    add(t);
  const auto cases = reader(file).cases();
  std::set<std::string> used;
  int failed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string wrong = run(t, cases[i], used);
    if (wrong.empty()) continue;
    ++failed;
    std::printf("case %zu: %s: %s\n", i, call(cases[i]).c_str(), wrong.c_str());
  }
  bool all_used = true;
  for (const auto& [name, unused] : t) {
    if (cases.size() < complete || used.contains(name)) continue;
    all_used = false;
    std::printf("no case for '%s'\n", name.c_str());
  }
  std::printf("golden: %zu cases, %d failed\n", cases.size(), failed);
  return failed == 0 && all_used ? 0 : 1;
}

}  // namespace
}  // namespace golden

int main(int argc, char** argv) {
  const char* file = argc > 1 ? argv[1] : std::getenv("GOLDEN_FILE");
  if (!file) {
    std::fprintf(stderr, "usage: %s FILE (or GOLDEN_FILE=FILE): cases written by generate.py\n", argv[0]);
    return 2;
  }
  try {
    return golden::run_file(file);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
