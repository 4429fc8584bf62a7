// Fusion, seen by the allocator: the global allocation functions are replaced by ones that count. CPU only.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstdlib>
#include <new>

#include "test.hpp"

// the deletes below are inlined, and g++ sees `free` of what `operator new` returned
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {

// What has been asked of the allocation functions. Atomic, because compilers may take `operator new` for a function
// that leaves plain variables alone.
std::atomic<std::size_t> calls, total, most;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  ++calls;
  total += bytes;
  if (bytes > most) most = bytes;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
  if (void* p = allocate(bytes, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

using std::align_val_t;
using std::nothrow_t;
using std::size_t;

void* operator new(size_t n) { return allocate_or_throw(n); }
void* operator new[](size_t n) { return allocate_or_throw(n); }
void* operator new(size_t n, align_val_t a) { return allocate_or_throw(n, size_t(a)); }
void* operator new[](size_t n, align_val_t a) { return allocate_or_throw(n, size_t(a)); }
void* operator new(size_t n, const nothrow_t&) noexcept { return allocate(n, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new[](size_t n, const nothrow_t&) noexcept { return allocate(n, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(size_t n, align_val_t a, const nothrow_t&) noexcept { return allocate(n, size_t(a)); }
void* operator new[](size_t n, align_val_t a, const nothrow_t&) noexcept { return allocate(n, size_t(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, align_val_t, const nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, align_val_t, const nothrow_t&) noexcept { std::free(p); }

namespace {

using array = ca::ndarray<float, ca::cpu>;
using ca::_;

constexpr ca::int64 rows = 300, columns = 200;
constexpr size_t full = rows * columns * sizeof(float);
constexpr size_t row_sums = rows * sizeof(float), column_sums = columns * sizeof(float);
constexpr size_t scratch = 160 << 10;  // more than what a thread needs for tiles and partial sums, less than an array

/// Arrays made during a call, and the memory that was asked for while the library had none left from before.
struct requests {
  size_t count, bytes, largest;
};
template <class F>
requests during(const F& f) {
  ca::set_num_threads(1);
  ca::free_cached(ca::cpu{});
  const auto before = ca::stats();
  calls = total = most = 0;
  f();
  const size_t bytes = total, largest = most;
  return {size_t((ca::stats() - before).allocations), bytes, largest};
}

/// Blocks are up to an eighth larger than what they are needed for.
bool about(size_t bytes, size_t elements) { return bytes >= elements && bytes <= elements * 9 / 8 + 256 + scratch; }

array make(float first) {
  return ca::reshape(ca::arange<float, ca::cpu>(float(rows * columns)) + first, {rows, columns});
}

}  // namespace

TEST_CASE("allocations: every form of new is counted") {
  struct alignas(64) wide {
    char c[64];
  };
  const auto one = [](auto make_and_delete) {
    calls = 0;
    const requests r = during(make_and_delete);
    return calls == 1 && r.bytes == 64 && r.largest == 64;
  };
  // by name: the compiler may leave out a new expression and its delete
  CHECK(one([] { ::operator delete(::operator new(64)); }));
  CHECK(one([] { ::operator delete[](::operator new[](64)); }));
  CHECK(one([] { ::operator delete(::operator new(64, std::nothrow)); }));
  CHECK(one([] { ::operator delete[](::operator new[](64, std::nothrow)); }));
  CHECK(one([] { ::operator delete(::operator new(64, align_val_t(64)), align_val_t(64)); }));
  CHECK(one([] { ::operator delete[](::operator new[](64, align_val_t(64)), align_val_t(64)); }));
  CHECK(one([] { ::operator delete(::operator new(64, align_val_t(64), std::nothrow), align_val_t(64)); }));
  CHECK(one([] { ::operator delete[](::operator new[](64, align_val_t(64), std::nothrow), align_val_t(64)); }));
  CHECK(one([] { std::vector<wide> v(1); }));
}

TEST_CASE("allocations: a new array is all that an expression allocates") {
  const array a = make(0), b = make(1), c = make(2);
  array d;
  const requests r = during([&] { d = a + b * c; });
  CHECK(r.count == 1);
  CHECK(about(r.bytes, full));
  CHECK(d.at(1, 1) == 201 + 202 * 203);
  // the counters see a temporary where there is one
  const requests two = during([&] { d = array(a + ca::eval(b * c)); });
  CHECK(two.count == 2);
  CHECK(about(two.bytes - two.largest, full));
}

TEST_CASE("allocations: writing through an index makes none") {
  const array a = make(0), b = make(1), c = make(2);
  array d = make(3);
  CHECK(during([&] { d(_) = a + b * c; }).count == 0);
  CHECK(d.at(1, 1) == 201 + 202 * 203);
  CHECK(during([&] { d(_, ca::slice(1, 5)) = ca::exp(a(_, ca::slice(0, 4))); }).count == 0);
  CHECK(during([&] { d += a * b - 1; }).count == 0);
  CHECK(during([&] { ca::add(a, d, ca::out(d)); }).count == 0);
  CHECK(during([&] { d(_) = 3; }).count == 0);
  CHECK(d.at(299, 199) == 3);
  CHECK(during([&] { d(_) = a + b * c; }).bytes <= scratch);
}

TEST_CASE("allocations: what is done again and again asks the system for nothing") {
  const array a = make(0), b = make(1), wide = ca::reshape(a, {columns, rows});
  array c, s;
  ca::ndarray<ca::int64, ca::cpu> where;
  const auto step = [&] {
    c = array(ca::exp(a * 0.001f) + b) * wide.t();
    s = ca::sum((c - b) * 2.f, 0);
    where = ca::argmax(c, 0);
    c = ca::cumsum(ca::sort(c, 1), 0);
  };
  ca::set_num_threads(2);
  step();
  step();
  calls = 0;
  step();
  CHECK(calls == 0);
}

TEST_CASE("allocations: a name that owns a fitting array alone keeps its storage") {
  const array a = make(0), b = make(1);
  array c = make(2);
  const float* const elements = c.data();
  CHECK(during([&] { c = a + b; }).count == 0);
  CHECK(c.data() == elements);
  CHECK(during([&] { c = c * 2 + a; }).count == 0);
  CHECK(c.data() == elements);
  CHECK(c.at(0, 1) == 7);
  // shared: the other name keeps the old elements
  const array shared = c;
  const requests r = during([&] { c = a + b; });
  CHECK(r.count == 1);
  CHECK(about(r.bytes, full));
  CHECK(shared.at(0, 1) == 7);
}

TEST_CASE("allocations: a reduction reads its operand as an expression") {
  const array a = make(1), b = make(0);
  array s;
  requests r = during([&] { s = ca::sum((a - b) * (a - b), 1); });
  CHECK(r.count == 1);
  CHECK(about(r.bytes, row_sums));
  CHECK(s.at(7) == columns);
  r = during([&] { s = ca::sum((a - b) * (a - b), 0); });
  CHECK(r.count == 1);
  CHECK(about(r.bytes, column_sums));
  CHECK(s.at(7) == rows);
  CHECK(during([&] { ca::max(a - b, 0, ca::out(s)); }).count == 0);
}

TEST_CASE("allocations: a reduction inside an expression costs its own result") {
  array y = ca::ones<float, ca::cpu>({rows, columns});
  const float* const elements = y.data();
  requests r = during([&] { y = y / ca::sum(y); });
  CHECK(r.count == 1);
  CHECK(about(r.bytes, sizeof(float)));
  CHECK(y.data() == elements);
  CHECK(y.at(5, 5) == 1.f / (rows * columns));
  const array x = make(1);
  array z;
  r = during([&] { z = x / ca::sum(x, 0, ca::keepdims); });
  CHECK(r.count == 2);
  CHECK(about(r.largest, full));
  CHECK(about(r.bytes - r.largest, column_sums));
  array w;
  r = during([&] { w = x / ca::sum(x, 1, ca::keepdims); });  // a row at a time
  CHECK(r.count == 1);
  CHECK(about(r.bytes, full));
}

TEST_CASE("allocations: a real overlap costs one temporary") {
  const array a = ca::reshape(ca::arange<float, ca::cpu>(250000.f), {500, 500});
  const requests r = during([&] { a(_) = a.t() + a; });
  CHECK(r.count == 1);
  CHECK(about(r.bytes, 250000 * sizeof(float)));
  CHECK(a.at(1, 0) == 501);
  CHECK(a.at(0, 1) == 501);
}

TEST_CASE("allocations: lists in braces ask for the array's memory only") {
  const requests r = during([] { const array a = ca::array<float, ca::cpu>({{1, 2, 3}, {4, 5, 6}}); });
  CHECK(calls == 1);
  CHECK(r.count == 1);
}
