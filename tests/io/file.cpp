// Reading what is no plain file, and what is left behind when reading fails.
// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "temporary_file.hpp"
#include "test.hpp"

namespace {

using test::temporary_file;

/// A named pipe into which another process writes bytes.
class pipe_of {
 public:
  explicit pipe_of(const std::string& bytes) : path_("/tmp/cudarray_pipe_" + std::to_string(::getpid())) {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::signal(SIGPIPE, SIG_IGN);
      const int fd = ::open(path_.c_str(), O_WRONLY);
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
        if (n <= 0) break;
        at += std::size_t(n);
      }
      ::_exit(0);
    }
  }
  ~pipe_of() {
    ::waitpid(child_, nullptr, 0);
    std::remove(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  ::pid_t child_;
};

std::string npy(const std::string& descr, const std::string& shape, const std::string& elements) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}\n";
  return std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header + elements;
}

/// 5 MB: more than what is allocated before anything of a pipe is read.
std::string many() {
  std::string s(5'000'000, '\0');
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = char(i % 251);
  return s;
}

int open_files() {
  int n = 0;
  DIR* const d = ::opendir("/proc/self/fd");
  while (::readdir(d) != nullptr) ++n;
  ::closedir(d);
  return n;
}

}  // namespace

TEST_CASE("file: pipes are read as files are") {
  const std::string elements = many();
  {
    const pipe_of p(npy("|u1", "(5000, 1000)", elements));
    const ca::ndarray<ca::uint8, ca::cpu> a = ca::load<ca::uint8, ca::cpu>(p.path());
    CHECK(a.shape() == ca::shape{5000, 1000});
    CHECK(std::string(reinterpret_cast<const char*>(a.data()), 5'000'000) == elements);
  }
  {
    const pipe_of p(std::string("\0\0\x08\x01\0\x4c\x4b\x40", 8) + elements);
    const ca::ndarray<ca::uint8, ca::cpu> a = ca::load_idx(p.path(), 1);
    CHECK(a.shape() == ca::shape{5'000'000});
    CHECK(std::string(reinterpret_cast<const char*>(a.data()), 5'000'000) == elements);
  }
}

TEST_CASE("file: what a pipe lacks is not allocated") {
  const ca::int64 peak = ca::memory_stats<ca::cpu>().peak;
  const pipe_of p(npy("|u1", "(1000000, 1000000, 1000)", many()));
  CHECK(test::thrown<ca::io_error>([&] { ca::load<ca::uint8>(p.path()); }) ==
        p.path() +
            ": the file ends too early: 5000000 of the 1000000000000000 bytes of shape (1000000, 1000000, "
            "1000) of uint8");
  CHECK(ca::memory_stats<ca::cpu>().peak <= peak + 32'000'000);
}

TEST_CASE("file: failures leave nothing behind") {
  const temporary_file short_npy(npy("|u1", "(3,)", "ab")), other_dtype(npy("<f4", "(1,)", "abcd")),
      bad_header(npy("|u1", "(3", "abc")), short_idx(std::string("\0\0\x08\x01\0\0\0\x03", 8) + "ab"),
      foreign("neither");
  const auto fails = [&] {
    for (const temporary_file* f : {&short_npy, &other_dtype, &bad_header, &short_idx, &foreign}) {
      CHECK_THROWS_AS((ca::load<ca::uint8>(f->path())), ca::error);
      CHECK_THROWS_AS(ca::load_idx(f->path(), 1), ca::io_error);
    }
    CHECK_THROWS_AS((ca::load<ca::uint8>("/tmp")), ca::io_error);
    CHECK_THROWS_AS(ca::load_idx("/tmp", 1), ca::io_error);
    CHECK_THROWS_AS(ca::save("/dev/full", ca::zeros({2})), ca::io_error);
  };
  fails();  // what is allocated once
  const int files = open_files();
  const ca::int64 host = ca::memory_stats<ca::cpu>().used, device = ca::memory_stats().used;
  fails();
  CHECK(open_files() == files);
  CHECK(ca::memory_stats<ca::cpu>().used == host);
  CHECK(ca::memory_stats().used == device);
}
