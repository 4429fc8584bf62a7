// Files: a table is written and read, arrays are saved and loaded, a memory-mapped one is summed.
// SPDX-License-Identifier: MIT
#include <cudarray/cudarray.hpp>
#include <filesystem>
#include <iostream>
namespace ca = cudarray;

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const ca::ndarray<float> x = ca::reshape(ca::sin(ca::arange<float>(n * 4)), {n, 4});
  char folder[] = "/tmp/cudarray_XXXXXX";
  std::filesystem::current_path(mkdtemp(folder));
  ca::savetxt("x.csv", x, {.fmt = "%.4f", .delimiter = ",", .header = "a,b,c,d"});
  const ca::ndarray<float> table = ca::loadtxt("x.csv", {.delimiter = ",", .usecols = {0, 2}});
  const auto same = ca::max(ca::abs(table - ca::take(x, ca::array<int>({0, 2}), 1))) < 1e-4f;
  std::cout << ca::mean(table, 0) << ' ' << same << '\n';
  ca::savez_compressed("x.npz", "x", x, "signs", x > 0);
  ca::npz_file f("x.npz");
  std::cout << ca::sum(f.load<bool>("signs")) << ' ' << ca::all(f.load<float>("x") == x) << '\n';
  ca::save("x.npy", x);
  std::cout << ca::sum(ca::open_memmap<float>("x.npy")(ca::slice(ca::none, ca::none, 3))) << '\n';
  std::filesystem::remove_all(folder);
}
