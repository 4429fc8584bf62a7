// What reads files, given any bytes, and what is done with the arrays: for libFuzzer, see scripts/fuzz.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cudarray/cudarray.hpp>
#include <cudarray/png.hpp>
#include <string>
#include <vector>

namespace ca = cudarray;
using bytes = std::vector<unsigned char>;

namespace {

#define REQUIRE(condition)                                                       \
  if (!(condition)) {                                                            \
    std::fprintf(stderr, "%s:%d: not so: " #condition "\n", __FILE__, __LINE__); \
    std::abort();                                                                \
  }

/// A file that lies in memory, and how far it was read.
class memory_file {
 public:
  memory_file(const unsigned char* p, std::size_t n, bool is_pipe) : p_(p), n_(n), is_pipe_(is_pipe) {}
  const std::string& path() const { return path_; }
  std::size_t read(void* to, std::size_t n) {
    n = std::min(n, n_ - at_);
    if (n > 0) std::memcpy(to, p_ + at_, n);
    at_ += n;
    return n;
  }
  void seek(ca::int64 at) {
    REQUIRE(at >= 0);
    at_ = std::min(n_, std::size_t(at));
  }
  ca::int64 remaining() const { return is_pipe_ ? -1 : ca::int64(n_ - at_); }
  void finish() { finished_ = true; }
  bool finished() const { return finished_; }
  const unsigned char* last(std::size_t n) const { return p_ + at_ - n; }

 private:
  const std::string path_ = "memory";
  const unsigned char* p_;
  std::size_t n_, at_ = 0;
  bool is_pipe_, finished_ = false;
};

/// Elements in C order that lie as the layout says.
template <class E>
std::vector<E> in_order(const ca::layout& l, const E* memory) {
  std::vector<E> r;
  ca::int64 at[ca::max_rank] = {};
  for (ca::int64 i = 0; i < l.dims.elements(); ++i) {
    ca::int64 from = 0;
    for (int k = 0; k < l.dims.ndim(); ++k) from += at[k] * l.stride[k];
    r.push_back(memory[from]);
    for (int k = l.dims.ndim() - 1; k >= 0 && ++at[k] == l.dims[k]; --k) at[k] = 0;
  }
  return r;
}

/// The largest of whole numbers stands where argmax says, their sum is what adding gives.
template <class T>
void use_numbers(const ca::ndarray<T>& a, const std::vector<T>& v) {
  ca::uint64 sum = 0;
  for (const T x : v) sum += ca::uint64(x);
  REQUIRE(ca::uint64(ca::sum(a).item()) == sum);
  if (!v.empty()) REQUIRE(ca::argmax(a).item() == std::max_element(v.begin(), v.end()) - v.begin());
}

void use_booleans(const ca::ndarray<bool>& a, const bytes& v) {
  const auto n = ca::int64(v.size());
  std::vector<ca::int64> where;
  for (ca::int64 i = 0; i < n; ++i)
    if (v[std::size_t(i)] != 0) where.push_back(i);
  const auto count = ca::int64(where.size());
  REQUIRE(ca::sum(a).item() == count);
  REQUIRE(ca::sum(~a).item() == n - count);
  REQUIRE(ca::sum(a == true).item() == count);
  REQUIRE(ca::sum(a == ca::eval(~a)).item() == 0);
  REQUIRE(ca::sum(ca::astype<ca::uint8>(a)).item() == ca::uint64(count));
  REQUIRE(ca::sum(ca::astype<float>(a)).item() == float(count));
  if (n > 0) REQUIRE(ca::argmax(a).item() == (count == 0 ? 0 : where[0]));
  const ca::ndarray<ca::int64> found = ca::flatnonzero(a);
  REQUIRE(found.size() == count);
  for (ca::int64 i = 0; i < count; ++i) REQUIRE(found.data()[i] == where[std::size_t(i)]);
  const ca::ndarray<bool> flat = ca::ravel(a), picked = flat(flat);
  const ca::ndarray<ca::int64> numbers = ca::arange(n), chosen = numbers(flat);
  REQUIRE(picked.size() == count && chosen.size() == count);
  for (ca::int64 i = 0; i < count; ++i) REQUIRE(picked.data()[i] && chosen.data()[i] == where[std::size_t(i)]);
}

/// `read` is what stands in the file: the array has it in memory, with its bytes turned around or not.
template <class T>
void use(const ca::ndarray<T>& a, const unsigned char* read) {
  const auto n = std::size_t(a.size());
  if constexpr (std::is_same_v<T, bool>) {
    use_booleans(a, in_order(a.where(), read));
  } else {
    std::vector<T> turned(n);
    if (n > 0) {
      std::memcpy(turned.data(), read, n * sizeof(T));
      ca::detail::swap_bytes<T>(turned.data(), n);
      REQUIRE(std::memcmp(a.data(), read, n * sizeof(T)) == 0 ||
              std::memcmp(a.data(), turned.data(), n * sizeof(T)) == 0);
    }
    const std::vector<T> v = in_order(a.where(), a.data());
    if (n > 0) REQUIRE(std::memcmp(ca::copy(a).data(), v.data(), n * sizeof(T)) == 0);
    if constexpr (ca::detail::is_integer<T>) use_numbers(a, v);
    else ca::sum(a).item();
    if constexpr (ca::detail::is_floating<T>)
      if (n > 0) ca::argmax(a).item();
  }
}

/// Only the exceptions of readers.
template <class F>
void guarded_member(const F& f) {
  try {
    f();
  } catch (const ca::io_error&) {
  } catch (const ca::dtype_error&) {
  }
}
/// What a reader must keep to: only its own exceptions, with the path and a reason, and no memory after them.
template <class F>
void guarded(const F& f) {
  try {
    f();
  } catch (const ca::io_error& e) {
    REQUIRE(std::strlen(e.what()) > 10 && std::strchr(e.what(), ':') != nullptr);
  } catch (const ca::dtype_error& e) {
    REQUIRE(std::strstr(e.what(), " holds ") != nullptr);
  }
  REQUIRE(ca::memory_stats<ca::cpu>().used == 0);
}

template <class T>
void npy(const unsigned char* p, std::size_t n, bool is_pipe) {
  guarded([&] {
    memory_file f(p, n, is_pipe);
    using namespace ca::detail;
    const npy_header h = read_npy_header(f, {npy_letter<T>, int(sizeof(T))}, ca::dtype_name<T>);
    const ca::ndarray<T> a = array_of_contents<T, ca::cpu>(read_contents<ca::cpu>(f, h));
    REQUIRE(f.finished());
    use<T>(a, f.last(std::size_t(a.nbytes())));
  });
}

void idx(const unsigned char* p, std::size_t n, bool is_pipe) {
  guarded([&] {
    memory_file f(p, n, is_pipe);
    const ca::ndarray<ca::uint8> a = ca::detail::read_idx<ca::cpu>(f, n > 3 ? p[3] % 9 : 3);
    use<ca::uint8>(a, f.last(std::size_t(a.nbytes())));
  });
}

/// All members of an archive, each read as whatever it says it is.
void npz(const unsigned char* p, std::size_t n) {
  guarded([&] {
    memory_file f(p, n, false);
    const ca::detail::zip_directory<memory_file> all(f);
    for (const ca::detail::zip_member& m : all.members) {
      guarded_member([&] {
        ca::detail::zip_member_reader r(f, m);
        std::visit([](const auto& a) { ca::sum(a).item(); }, ca::detail::read_any_npy<ca::cpu, ca::cpu>(r, ca::cpu{}));
      });
    }
  });
}
void safetensors(const unsigned char* p, std::size_t n) {
  guarded([&] {
    memory_file f(p, n, false);
    const ca::detail::tensor_header<memory_file> h(f);
    for (const ca::detail::tensor_entry& e : h.entries) {
      REQUIRE(h.begin + e.end <= n);
      if (!e.problem.empty()) continue;
      f.seek(ca::int64(h.begin + e.begin));
      const auto a = ca::detail::read_elements<ca::uint8, ca::cpu>(f, e.dims.elements() * ca::int64(e.itemsize));
      REQUIRE(e.begin == e.end || std::memcmp(a.data(), p + h.begin + e.begin, std::size_t(e.end - e.begin)) == 0);
    }
  });
}
template <class T>
void table(const unsigned char* p, std::size_t n, bool commas) {
  guarded([&] {
    memory_file f(p, n, true);
    ca::loadtxt_options o;
    if (commas) o.delimiter = ',', o.usecols = {0, -1};
    const auto t = ca::detail::read_table<T>(f, o);
    REQUIRE(f.finished() && ca::int64(t.numbers.size()) == t.rows * t.columns && t.numbers.size() <= 2 * n);
  });
}
void png(const unsigned char* p, std::size_t n, int channels) {
  guarded([&] {
    memory_file f(p, n, true);
    const auto a = ca::detail::read_png<ca::cpu>(f, channels);
    ca::sum(a).item();
  });
}

/// The same through files, as users read them.
void through_file(const unsigned char* p, std::size_t n, bool is_npy) {
  static const std::string path = "/dev/shm/cudarray_fuzz_" + std::to_string(::getpid());
  std::FILE* const f = std::fopen(path.c_str(), "wb");
  REQUIRE(f != nullptr && std::fwrite(p, 1, n, f) == n && std::fclose(f) == 0);
  guarded([&] {
    if (is_npy) ca::sum(ca::load<bool>(path)).item();
    else ca::sum(ca::load_idx(path, n > 3 && p[3] < 9 ? p[3] : 1)).item();
  });
  std::remove(path.c_str());
}

void archive_or_table(int how, const unsigned char* p, std::size_t n, bool other) {
  if (how < 2) npz(p, n);
  else if (how < 4) safetensors(p, n);
  else if (how == 4) table<double>(p, n, other);
  else if (how == 5) table<ca::int8>(p, n, other);
  else png(p, n, other ? 3 : 0);
}

}  // namespace

// One reader alone: these bits of the first byte are as given.
#if defined(READER_npy)
constexpr int kept = 0x7f, given = 0;
#elif defined(READER_npz)
constexpr int kept = 0x09, given = 0x80;
#elif defined(READER_safetensors)
constexpr int kept = 0x09, given = 0x82;
#elif defined(READER_text)
constexpr int kept = 0x09, given = 0x84;
#elif defined(READER_png)
constexpr int kept = 0x09, given = 0x86;
#else
constexpr int kept = 0xff, given = 0;
#endif

/// The first byte says what reads the rest.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* p, std::size_t n) {
  if (n == 0) return 0;
  static const bool one_thread = (ca::set_num_threads(1), true);
  const int first = (*p & kept) | given, how = first & 7;
  const bool is_pipe = one_thread && (first & 8) != 0;
  ++p, --n;
  if ((first & 0xf0) == 0xf0) through_file(p, n, how < 4);
  else if (first >= 0x80) archive_or_table(how, p, n, is_pipe);
  else if (how == 0) idx(p, n, is_pipe);
  else if (how == 1) npy<ca::uint8>(p, n, is_pipe);
  else if (how == 2) npy<ca::int64>(p, n, is_pipe);
  else if (how == 3) npy<float>(p, n, is_pipe);
  else if (how == 4) npy<ca::complex64>(p, n, is_pipe);
  else npy<bool>(p, n, is_pipe);
  return 0;
}
