// Archives in the ZIP format, as .npz files are: their directories, and members stored or deflated.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(CUDARRAY_HAS_ZLIB)
#include <zlib.h>
#endif

#include <vector>

#include "file.hpp"

namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD {

/// A number of so many bytes, the least significant first.
inline uint64 little_endian(const unsigned char* p, int bytes) {
  uint64 v = 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
  return v;
}
inline void add_little_endian(::std::string& to, uint64 v, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(v >> 8 * i & 255));
}

struct crc32_table {
  uint32 entry[256] = {};
  constexpr crc32_table() {
    for (uint32 i = 0; i < 256; ++i) {
      uint32 v = i;
      for (int bit = 0; bit < 8; ++bit) v = v >> 1 ^ (v & 1 ? 0xedb88320u : 0);
      entry[i] = v;
    }
  }
};
/// The checksum of ZIP files (CRC-32 of IEEE 802.3).
class crc32_sum {
 public:
  void add(const void* bytes, ::std::size_t n) {
    static constexpr crc32_table of;
    const auto* p = static_cast<const unsigned char*>(bytes);
    for (::std::size_t i = 0; i < n; ++i) rest_ = of.entry[(rest_ ^ p[i]) & 255] ^ rest_ >> 8;
  }
  uint32 value() const { return ~rest_; }

 private:
  uint32 rest_ = ~uint32(0);
};

/// What a ZIP directory says of a member.
struct zip_member {
  ::std::string name;
  int method = 0;  ///< 0: stored, 8: deflated
  bool encrypted = false;
  uint32 checksum = 0;  ///< of its contents
  uint64 packed = 0, size = 0;
  uint64 header = 0;  ///< where its own header begins
};

/// The sizes and the place beyond 32 bits that a ZIP64 record has, of those that are all ones.
CUDARRAY_COLD inline bool read_zip64(const unsigned char* p, ::std::size_t n, zip_member& m) {
  while (n >= 4) {
    const auto id = little_endian(p, 2);
    const ::std::size_t size = little_endian(p + 2, 2);
    if (size > n - 4) return false;
    if (id == 1) {
      const unsigned char *at = p + 4, *end = at + size;
      for (uint64* v : {&m.size, &m.packed, &m.header}) {
        if (*v != 0xffffffffu) continue;
        if (end - at < 8) return false;
        *v = little_endian(at, 8);
        at += 8;
      }
      return true;
    }
    p += 4 + size, n -= 4 + size;
  }
  return m.size != 0xffffffffu && m.packed != 0xffffffffu && m.header != 0xffffffffu;
}

/// The members of a ZIP file, in the order of its directory. Throws io_error for what is none.
template <class Reader>
class zip_directory {
 public:
  explicit zip_directory(Reader& f) : f_(f) {
    f.seek(0);
    size_ = f.remaining();
    if (size_ < 0) refuse("the size of the file is not known");
    find_end();
    if (count_ > size_ / 46) refuse("its directory has more members than room");
    read_members();
  }
  ::std::vector<zip_member> members;

 private:
  [[noreturn]] CUDARRAY_COLD void refuse(const char* why) const {
    fail<io_error>(f_.path(), ": not a ZIP file that is read: ", why);
  }
  void read_at(int64 at, void* to, ::std::size_t n, const char* what) {
    f_.seek(at);
    read_all(f_, to, n, what);
  }

  /// The record of the directory stands at the end, before a comment of at most 65535 bytes.
  CUDARRAY_COLD void find_end() {
    const int64 most = size_ < 65557 ? size_ : 65557;
    ::std::vector<unsigned char> tail(static_cast<::std::size_t>(most));
    read_at(size_ - most, tail.data(), tail.size(), "the end");
    int64 i = most - 22;
    for (; i >= 0; --i)
      if (::std::memcmp(&tail[::std::size_t(i)], "PK\5\6", 4) == 0 &&
          int64(little_endian(&tail[::std::size_t(i) + 20], 2)) <= most - 22 - i)
        break;
    if (i < 0) refuse("it has no directory at its end");
    const unsigned char* const end = &tail[::std::size_t(i)];
    count_ = int64(little_endian(end + 10, 2)), bytes_ = little_endian(end + 12, 4),
    begin_ = little_endian(end + 16, 4);
    if (count_ == 0xffff || bytes_ == 0xffffffffu || begin_ == 0xffffffffu) find_end_of_zip64(size_ - most + i - 20);
    if (begin_ > uint64(size_) || bytes_ > uint64(size_) - begin_) refuse("its directory lies behind its end");
  }
  CUDARRAY_COLD void find_end_of_zip64(int64 locator) {
    unsigned char l[20], r[56];
    if (locator < 0) refuse("it has no directory at its end");
    read_at(locator, l, sizeof l, "the place of the directory");
    const uint64 at = little_endian(l + 8, 8);
    if (::std::memcmp(l, "PK\6\7", 4) != 0) return;  // just as many as fit
    if (at > uint64(size_)) refuse("its directory lies behind its end");
    read_at(int64(at), r, sizeof r, "the place of the directory");
    if (::std::memcmp(r, "PK\6\6", 4) != 0) refuse("it has no directory at its end");
    const uint64 count = little_endian(r + 32, 8);
    count_ = count < (uint64(1) << 48) ? int64(count) : int64(1) << 48;
    bytes_ = little_endian(r + 40, 8), begin_ = little_endian(r + 48, 8);
  }

  CUDARRAY_COLD void read_members() {
    ::std::vector<unsigned char> all;
    all.resize(bytes_);
    read_at(int64(begin_), all.data(), all.size(), "the directory");
    ::std::size_t at = 0;
    for (int64 k = 0; k < count_; ++k) {
      if (all.size() - at < 46 || ::std::memcmp(&all[at], "PK\1\2", 4) != 0) refuse("its directory is damaged");
      const unsigned char* const p = &all[at];
      const ::std::size_t name = little_endian(p + 28, 2), extra = little_endian(p + 30, 2),
                          comment = little_endian(p + 32, 2);
      if (all.size() - at - 46 < name + extra + comment) refuse("its directory is damaged");
      zip_member m;
      m.name.assign(reinterpret_cast<const char*>(p) + 46, name);
      m.method = int(little_endian(p + 10, 2));
      m.checksum = uint32(little_endian(p + 16, 4));
      m.packed = little_endian(p + 20, 4), m.size = little_endian(p + 24, 4), m.header = little_endian(p + 42, 4);
      if (!read_zip64(p + 46 + name, extra, m)) refuse("its directory is damaged");
      m.encrypted = (little_endian(p + 8, 2) & 1) != 0;
      members.push_back(::std::move(m));
      at += 46 + name + extra + comment;
    }
  }

  Reader& f_;
  int64 size_ = 0, count_ = 0;
  uint64 bytes_ = 0, begin_ = 0;
};

/// Reads the contents of a member from its beginning on, as `file` reads. Throws io_error for a damaged one.
template <class Reader>
class zip_member_reader {
 public:
  zip_member_reader(Reader& f, const zip_member& m) : f_(f), member_(m), path_(cat(f.path(), ": ", m.name)) {
    unsigned char h[30];
    f.seek(0);
    const int64 size = f.remaining();
    if (m.encrypted) refuse("it is encrypted");
    if (m.header > uint64(size)) refuse("it lies behind the end of the file");
    f.seek(int64(m.header));
    read_all(f, h, sizeof h, "a member's header");
    if (::std::memcmp(h, "PK\3\4", 4) != 0) refuse("it has no header");
    const uint64 begin = m.header + 30 + little_endian(h + 26, 2) + little_endian(h + 28, 2);
    if (begin > uint64(size) || m.packed > uint64(size) - begin) refuse("it goes beyond the end of the file");
    f.seek(int64(begin));
    packed_left_ = m.packed;
    if (m.method == 0 && m.packed != m.size) refuse("stored, but its sizes differ");
    if (m.method == 8) begin_inflating();
    else if (m.method != 0) refuse("its compression is neither none nor deflate");
  }
  zip_member_reader(const zip_member_reader&) = delete;
  zip_member_reader& operator=(const zip_member_reader&) = delete;
#if defined(CUDARRAY_HAS_ZLIB)
  ~zip_member_reader() {
    if (member_.method == 8) ::inflateEnd(&z_);
  }
#endif

  const ::std::string& path() const { return path_; }
  ::std::size_t read(void* to, ::std::size_t bytes) {
    const uint64 left = member_.size - at_;
    if (bytes > left) bytes = ::std::size_t(left);
    const ::std::size_t n = member_.method == 0 ? f_.read(to, bytes) : inflated(to, bytes);
    sum_.add(to, n);
    at_ += n;
    return n;
  }
  /// What a deflated member holds is known once it is read: its size is only said.
  int64 remaining() const { return member_.method == 0 ? int64(member_.size - at_) : -1; }
  /// Reads the rest, and compares the checksum.
  void finish() {
    char rest[4096];
    while (at_ < member_.size)
      if (read(rest, sizeof rest) == 0) refuse("it ends too early");
    if (sum_.value() != member_.checksum) refuse("its checksum is wrong: it is damaged");
  }

 private:
  [[noreturn]] CUDARRAY_COLD void refuse(const char* why) const { fail<io_error>(path_, ": ", why); }
#if defined(CUDARRAY_HAS_ZLIB)
  void begin_inflating() {
    if (::inflateInit2(&z_, -MAX_WBITS) != Z_OK) refuse("zlib has no memory for it");
  }
  ::std::size_t inflated(void* to, ::std::size_t bytes) {
    ::std::size_t done = 0;
    while (done < bytes && !ended_) {
      if (z_.avail_in == 0 && packed_left_ > 0) {
        const ::std::size_t n = packed_left_ < sizeof in_ ? ::std::size_t(packed_left_) : sizeof in_;
        read_all(f_, in_, n, "a member");
        packed_left_ -= n;
        z_.next_in = in_;
        z_.avail_in = unsigned(n);
      }
      const unsigned room = bytes - done < (1u << 30) ? unsigned(bytes - done) : 1u << 30;
      z_.next_out = static_cast<unsigned char*>(to) + done;
      z_.avail_out = room;
      const int status = ::inflate(&z_, Z_NO_FLUSH);
      done += room - z_.avail_out;
      ended_ = status == Z_STREAM_END;
      if (status == Z_BUF_ERROR && packed_left_ == 0) break;  // nothing comes any more
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        refuse(z_.msg != nullptr ? z_.msg : "its deflated data is damaged");
    }
    return done;
  }
  z_stream z_ = {};
  unsigned char in_[1 << 14];
  bool ended_ = false;
#else
  void begin_inflating() { refuse("built without zlib, which deflated members need"); }
  ::std::size_t inflated(void*, ::std::size_t) { return 0; }
#endif

  Reader& f_;
  const zip_member& member_;
  const ::std::string path_;
  uint64 at_ = 0, packed_left_ = 0;
  crc32_sum sum_;
};

/// Writes a ZIP file: members one after another, and the directory at `close`.
class zip_writer {
 public:
  zip_writer(const ::std::string& path, bool deflates)
      : f_((check_zlib(path, deflates), path), "wbe"), deflates_(deflates) {}

  const ::std::string& path() const { return f_.path(); }
  /// Writes a member of these parts, one after another, stored or deflated.
  void add(const ::std::string& name, const ::std::string& head, const void* body, ::std::size_t bytes) {
    if (!f_.is_open()) fail<io_error>(path(), ": the file is closed already");
    zip_member m;
    m.name = name;
    m.header = at_;
    m.size = head.size() + bytes;
    crc32_sum sum;
    sum.add(head.data(), head.size());
    sum.add(body, bytes);
    m.checksum = sum.value();
    ::std::string packed;
    if (deflates_) packed = deflated(head, body, bytes), m.method = 8;
    m.packed = deflates_ ? packed.size() : m.size;
    const ::std::string start = header(m, false) + name + sizes(m, false);
    put(start.data(), start.size());
    if (deflates_) {
      put(packed.data(), packed.size());
    } else {
      put(head.data(), head.size());
      put(body, bytes);
    }
    members_.push_back(::std::move(m));
  }
  void close() {
    if (!f_.is_open()) return;
    const uint64 begin = at_;
    for (const zip_member& m : members_) {
      const ::std::string entry = header(m, true) + m.name + sizes(m, true);
      put(entry.data(), entry.size());
    }
    const ::std::string end = ending(begin, at_ - begin);
    put(end.data(), end.size());
    f_.close();
  }

 private:
  void put(const void* p, ::std::size_t n) {
    if (n > 0) f_.write(p, n);
    at_ += n;
  }
  /// Before a member, or in the directory. Sizes stand in ZIP64 records, as NumPy writes them.
  static ::std::string header(const zip_member& m, bool in_directory) {
    constexpr int version = 45, unix_made = 3;
    ::std::string h = in_directory ? "PK\1\2" : "PK\3\4";
    if (in_directory) add_little_endian(h, version | unix_made << 8, 2);
    add_little_endian(h, version, 2);
    add_little_endian(h, 0x800, 2);  // names are UTF-8
    add_little_endian(h, uint64(m.method), 2);
    add_little_endian(h, 0x00210000, 4);  // 1980-01-01, as NumPy writes it
    add_little_endian(h, m.checksum, 4);
    add_little_endian(h, 0xffffffff, 4);
    add_little_endian(h, 0xffffffff, 4);
    add_little_endian(h, m.name.size(), 2);
    add_little_endian(h, in_directory ? 28 : 20, 2);
    if (!in_directory) return h;
    add_little_endian(h, 0, 2 + 2 + 2);           // comment, disk, kind
    add_little_endian(h, uint64(0600) << 16, 4);  // the owner reads and writes
    add_little_endian(h, 0xffffffff, 4);
    return h;
  }
  static ::std::string sizes(const zip_member& m, bool in_directory) {
    ::std::string r;
    add_little_endian(r, 1, 2);
    add_little_endian(r, in_directory ? 24 : 16, 2);
    add_little_endian(r, m.size, 8);
    add_little_endian(r, m.packed, 8);
    if (in_directory) add_little_endian(r, m.header, 8);
    return r;
  }
  ::std::string ending(uint64 begin, uint64 bytes) const {
    constexpr uint64 all_ones = 0xffffffff;
    ::std::string r = "PK\6\6";
    add_little_endian(r, 44, 8);
    add_little_endian(r, 45 | 45 << 16, 4);
    add_little_endian(r, 0, 8);
    for (int twice = 0; twice < 2; ++twice) add_little_endian(r, members_.size(), 8);
    add_little_endian(r, bytes, 8);
    add_little_endian(r, begin, 8);
    r += "PK\6\7";
    add_little_endian(r, 0, 4);
    add_little_endian(r, at_, 8);
    add_little_endian(r, 1, 4);
    r += "PK\5\6";
    add_little_endian(r, 0, 4);
    const uint64 count = members_.size() < 0xffff ? members_.size() : 0xffff;
    for (int twice = 0; twice < 2; ++twice) add_little_endian(r, count, 2);
    add_little_endian(r, bytes < all_ones ? bytes : all_ones, 4);
    add_little_endian(r, begin < all_ones ? begin : all_ones, 4);
    add_little_endian(r, 0, 2);
    return r;
  }
#if defined(CUDARRAY_HAS_ZLIB)
  ::std::string deflated(const ::std::string& head, const void* body, ::std::size_t bytes) const {
    z_stream z = {};
    if (::deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      fail<io_error>(path(), ": zlib has no memory for it");
    ::std::string r;
    try {
      deflate_part(z, head.data(), head.size(), Z_NO_FLUSH, r);
      deflate_part(z, body, bytes, Z_FINISH, r);
    } catch (...) {
      ::deflateEnd(&z);
      throw;
    }
    ::deflateEnd(&z);
    return r;
  }
  static void deflate_part(z_stream& z, const void* p, ::std::size_t n, int last, ::std::string& to) {
    char out[1 << 14];
    const char* from = static_cast<const char*>(p);
    for (;;) {
      const ::std::size_t part = n < (::std::size_t(1) << 30) ? n : ::std::size_t(1) << 30;
      z.next_in = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(from));
      z.avail_in = unsigned(part);
      const int flush = part == n ? last : Z_NO_FLUSH;
      do {
        z.next_out = reinterpret_cast<unsigned char*>(out);
        z.avail_out = sizeof out;
        ::deflate(&z, flush);
        to.append(out, sizeof out - z.avail_out);
      } while (z.avail_out == 0);
      from += part, n -= part;
      if (n == 0) return;
    }
  }
  static void check_zlib(const ::std::string&, bool) {}
#else
  ::std::string deflated(const ::std::string&, const void*, ::std::size_t) const { return {}; }
  static void check_zlib(const ::std::string& path, bool deflates) {
    if (deflates) fail<io_error>(path, ": built without zlib, which compressed files need");
  }
#endif

  file f_;
  bool deflates_;
  uint64 at_ = 0;
  ::std::vector<zip_member> members_;
};

}  // namespace cudarray::inline v0::detail::inline CUDARRAY_BUILD
