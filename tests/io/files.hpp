// The files of files_golden.py, and damaging files.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>

#include "temporary_file.hpp"
#include "test.hpp"

namespace test {

struct golden_file {
  const char *name, *hex;
};
inline const golden_file golden_files[] = {
#define CUDARRAY_FILE(name, hex) {name, hex},
#include "files.inc"
#undef CUDARRAY_FILE
};
inline std::string golden_bytes(const std::string& name) {
  for (const golden_file& f : golden_files) {
    if (name != f.name) continue;
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string r;
    for (const char* p = f.hex; *p != 0; p += 2) r.push_back(char(digit(p[0]) << 4 | digit(p[1])));
    return r;
  }
  throw std::runtime_error(name);
}

/// What a reader makes of bytes: a text of all that it read, or the refusal of an io_error or a dtype_error.
using reading = std::function<std::string(const std::string& path)>;
inline std::string outcome(const reading& read, const std::string& bytes) {
  const temporary_file f(bytes);
  try {
    return read(f.path());
  } catch (const ca::io_error& e) {
    return std::string(e.what()).find(f.path()) == 0 ? "refused" : std::string("without its path: ") + e.what();
  } catch (const ca::dtype_error& e) {
    return std::string(e.what()).find(f.path()) == 0 ? "refused" : std::string("without its path: ") + e.what();
  }
}
/// Every beginning of a file, and the file with one bit turned, each of its first `bits` bytes: refused, or read as the
/// whole file is. Returns what is neither.
inline std::string damage(const reading& read, const std::string& bytes, std::size_t bits) {
  const std::string whole = outcome(read, bytes);
  if (whole == "refused") return "the whole file is refused";
  const auto wrong = [&](const std::string& changed) {
    const std::string is = outcome(read, changed);
    return is != "refused" && is != whole;
  };
  for (std::size_t n = 0; n < bytes.size(); ++n)
    if (wrong(bytes.substr(0, n))) return "the first " + std::to_string(n) + " bytes";
  for (std::size_t i = 0; i < bits && i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = char(changed[i] ^ 1 << bit);
      if (wrong(changed)) return "bit " + std::to_string(bit) + " of byte " + std::to_string(i);
    }
  return "";
}

/// All arrays of a file, by name.
template <class File>
std::string all_arrays(File&& f) {
  std::string r;
  for (const std::string& name : f.names())
    std::visit(
        [&](const auto& a) {
          r += name + ' ' + ca::dtype_name<typename std::decay_t<decltype(a)>::value_type> + ' ' +
               ca::to_string(a.shape()) + ' ' + ca::to_string(a) + '\n';
        },
        f.load_any(name));
  return r;
}

}  // namespace test
