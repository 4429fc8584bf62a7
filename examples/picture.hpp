// Pictures for the examples: an RGB raster, PNG files, a learning curve, and grids of small grey images.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace picture {

struct colour {
  unsigned char red, green, blue;
};

struct point {
  double x, y;
};

inline constexpr colour white{255, 255, 255};

/// A raster of 8-bit RGB pixels, row by row from the top left; whatever is drawn outside it is dropped.
struct image {
  int width, height;
  std::vector<unsigned char> rgb;

  /// Makes an image of one colour; throws std::invalid_argument unless both sides are in [1, 16384].
  image(long long w, long long h, colour background = white) {
    if (std::min(w, h) < 1 || std::max(w, h) > 16384) {
      throw std::invalid_argument("image: bad size " + std::to_string(w) + " x " + std::to_string(h));
    }
    width = int(w), height = int(h);
    rgb.resize(std::size_t(w * h * 3));
    rectangle(0, 0, width, height, background);
  }

  /// Sets one pixel, or mixes `c` into it if alpha < 1; throws nothing.
  void set(int x, int y, colour c, double alpha = 1) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    unsigned char* p = &rgb[(std::size_t(y) * std::size_t(width) + std::size_t(x)) * 3];
    const auto mix = [alpha](int old, int next) { return (unsigned char)(std::lround(old + alpha * (next - old))); };
    p[0] = mix(p[0], c.red), p[1] = mix(p[1], c.green), p[2] = mix(p[2], c.blue);
  }

  /// Fills the w x h pixels whose top left is (x, y); throws nothing.
  void rectangle(int x, int y, int w, int h, colour c) {
    for (int j = std::max(y, 0); j < std::min(y + h, height); ++j) {
      for (int i = std::max(x, 0); i < std::min(x + w, width); ++i) set(i, j, c);
    }
  }

  /// Draws an anti-aliased line through the points, with round ends and corners, or a disc at one point; throws
  /// std::bad_alloc.
  void line(const std::vector<point>& points, colour c, double thickness = 2) {
    std::vector<float> cover(rgb.size() / 3);  // mixed in once, so that corners are not darker than the rest
    const double r = thickness / 2;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const point a = points[i ? i - 1 : 0], b = points[i];
      const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
      const int left = int(std::max(0.0, std::min(a.x, b.x) - r)), top = int(std::max(0.0, std::min(a.y, b.y) - r));
      const int right = int(std::min(width - 1.0, std::max(a.x, b.x) + r + 1));
      const int bottom = int(std::min(height - 1.0, std::max(a.y, b.y) + r + 1));
      for (int y = top; y <= bottom; ++y) {
        for (int x = left; x <= right; ++x) {
          const double along = square > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / square, 0.0, 1.0) : 0.0;
          const double distance = std::hypot(x - a.x - along * dx, y - a.y - along * dy);
          float& most = cover[std::size_t(y) * std::size_t(width) + std::size_t(x)];
          most = std::max(most, float(std::min(r + 0.5 - distance, 1.0)));
        }
      }
    }
    for (int y = 0, i = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x, ++i) {
        if (cover[std::size_t(i)] > 0) set(x, y, c, cover[std::size_t(i)]);
      }
    }
  }
};

namespace detail {

inline void append_big_endian(std::string& out, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out += char(v >> shift & 0xff);
}

inline void append_chunk(std::string& out, const std::string& type_and_data) {
  append_big_endian(out, std::uint32_t(type_and_data.size() - 4));
  std::uint32_t crc = 0xffffffff;
  for (const char byte : type_and_data) {
    crc ^= (unsigned char)byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  out += type_and_data;
  append_big_endian(out, ~crc);
}

/// Wraps bytes as a zlib stream of stored (not compressed) blocks, RFC 1950 and 1951.
inline std::string stored_zlib(const std::string& raw) {
  std::string out = "\x78\x01";
  std::uint32_t a = 1, b = 0;
  for (const char byte : raw) a = (a + (unsigned char)byte) % 65521, b = (b + a) % 65521;
  for (std::size_t begin = 0; begin < raw.size(); begin += 65535) {
    const std::size_t size = std::min<std::size_t>(65535, raw.size() - begin);
    out += char(begin + size == raw.size());
    for (const std::size_t v : {size, ~size}) out += char(v & 0xff), out += char(v >> 8 & 0xff);
    out.append(raw, begin, size);
  }
  append_big_endian(out, b << 16 | a);
  return out;
}

}  // namespace detail

/// Writes an 8-bit RGB PNG file, not compressed; throws std::runtime_error with the path and the reason.
inline void write_png(const std::string& path, const image& from) {
  const std::size_t row = std::size_t(from.width) * 3, rows = std::size_t(from.height);
  if (from.rgb.empty() || from.rgb.size() != row * rows) {
    throw std::runtime_error(path + ": the image is empty or its size is not width * height * 3");
  }
  std::string raw, header = "IHDR", png = "\x89PNG\r\n\x1a\n";
  for (std::size_t y = 0; y < rows; ++y) {
    raw += '\0';  // the row filter: none
    raw.append(reinterpret_cast<const char*>(&from.rgb[y * row]), row);
  }
  detail::append_big_endian(header, std::uint32_t(from.width));
  detail::append_big_endian(header, std::uint32_t(from.height));
  header.append("\x08\x02\0\0\0", 5);  // 8 bits, RGB, deflate, standard filters, not interlaced
  detail::append_chunk(png, header);
  detail::append_chunk(png, "IDAT" + detail::stored_zlib(raw));
  detail::append_chunk(png, "IEND");
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  if (!file.write(png.data(), std::streamsize(png.size())).flush()) {
    throw std::runtime_error(path + ": cannot write: " + (errno ? std::strerror(errno) : "unknown error"));
  }
}

/// The columns of a 5 x 7 character, a byte each, the top pixel in the lowest bit (the highest is for descenders);
/// throws std::invalid_argument if the font lacks it.
inline std::uint64_t glyph(char c) {
  static constexpr std::string_view characters = " %+-.0123456789abcdefghijklmnopqrstuvwxyz";
  static constexpr std::uint64_t columns[] = {
      0x0000000000, 0x2313086462, 0x08083e0808, 0x0808080808, 0x0060600000, 0x3e5149453e, 0x00427f4000,
      0x4261514946, 0x2141454b31, 0x1814127f10, 0x2745454539, 0x3c4a494930, 0x0171090503, 0x3649494936,
      0x064949291e, 0x2054545478, 0x7f48444438, 0x3844444428, 0x384444487f, 0x3854545418, 0x087e090102,
      0x18a4a49c78, 0x7f08040478, 0x00447d4000, 0x2040443d00, 0x7f10284400, 0x00417f4000, 0x7c04180478,
      0x7c08040478, 0x3844444438, 0xfc24242418, 0x18242424fc, 0x7c08040408, 0x4854545424, 0x043f444020,
      0x3c4040207c, 0x1c2040201c, 0x3c4030403c, 0x4428102844, 0x1ca0a0a07c, 0x4464544c44};
  static_assert(std::size(columns) == characters.size());
  const std::size_t i = characters.find(c);
  if (i == characters.npos) throw std::invalid_argument(std::string("picture: no glyph for '") + c + "'");
  return columns[i];
}

/// The width in pixels of a text, without the space after its last character; throws nothing.
inline int text_width(std::string_view s, int scale = 2) { return std::max(0, int(s.size()) * 6 - 1) * scale; }

/// Writes a text whose top left is (x, y); throws std::invalid_argument at a character that the font lacks.
inline void text(image& to, int x, int y, std::string_view s, colour c, int scale = 2) {
  for (const char character : s) {
    const std::uint64_t columns = glyph(character);
    for (int column = 0; column < 5; ++column) {
      for (int row = 0; row < 8; ++row) {
        if (columns >> (32 - 8 * column + row) & 1) {
          to.rectangle(x + column * scale, y + row * scale, scale, scale, c);
        }
      }
    }
    x += 6 * scale;
  }
}

namespace detail {

inline constexpr int intervals = 5;  // the same for both axes, so that they share the grid lines

/// A vertical axis with ticks at (first + k) * step, k in [0, intervals].
struct axis {
  double first, step;
  double tick(int k) const { return (first + k) * step; }
  double fraction(double v) const { return (v / step - first) / intervals; }
};

/// Tells what can be drawn: not NaN, not infinite, and far from overflow.
inline bool usable(double v) { return std::abs(v) < 1e30; }

/// The axis with the smallest round step that holds the usable values, spans `share` of the biggest, and ends by `end`.
inline axis fit_axis(const std::vector<double>& values, double share, double end) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double v : values) {
    if (usable(v)) low = std::min(low, v), high = std::max(high, v);
  }
  if (low > high) low = 0, high = 1;
  const double biggest = std::max(std::abs(low), std::abs(high)), least = biggest < 1e-9 ? 1 : share * biggest;
  const double grow = std::max(0.0, least - (high - low)) / 2;
  const bool positive = low >= 0;
  low -= grow, high += grow;
  if (positive && low < 0) high -= low, low = 0;
  if (high > end) low -= high - end, high = end;
  for (double power = std::pow(10, std::floor(std::log10((high - low) / intervals)));; power *= 10) {
    for (const double digit : {1.0, 2.0, 2.5, 5.0}) {
      const double step = digit * power;
      const double first = std::floor(std::min(low / step, end / step - intervals) + 1e-9);
      if ((first + intervals) * step >= high - 1e-9 * step) return {first, step};
    }
  }
}

inline std::string label(double v, double step) {
  int digits = 0;
  for (double s = step; digits < 5 && std::abs(s - std::round(s)) > 1e-6 * s; s *= 10) ++digits;
  char out[32];
  if (digits < 5 && step < 1e5) std::snprintf(out, sizeof out, "%.*f", digits, v);
  else std::snprintf(out, sizeof out, "%.3g", v);
  return out;
}

}  // namespace detail

/// Draws loss (one value per step, axis left) and test accuracy (one per epoch, 0 to 1, axis right), skipping values
/// that are NaN or beyond 1e30; throws std::invalid_argument if an accuracy is outside [0, 1].
inline image learning_curve(const std::vector<double>& loss, const std::vector<double>& accuracy) {
  constexpr colour blue{31, 98, 180}, pale{178, 205, 236}, orange{235, 120, 20}, ink{70, 70, 70}, grid{228, 228, 228};
  constexpr int left = 100, top = 56, width = 700, height = 350, bottom = top + height;
  for (const double v : accuracy) {
    if (v < 0 || v > 1) throw std::invalid_argument("learning_curve: accuracy " + std::to_string(v) + " not in [0, 1]");
  }
  const int epochs = std::max(1, int(accuracy.size()));
  const detail::axis loss_axis = detail::fit_axis(loss, 0.3, std::numeric_limits<double>::infinity());
  const detail::axis accuracy_axis = detail::fit_axis(accuracy, 0.05, 1);
  const auto place = [](double across, double up) { return point{left + across * width, bottom - up * height}; };
  image out(900, 480);

  for (int k = 0; k <= detail::intervals; ++k) {
    const int y = bottom - height * k / detail::intervals;
    const std::string l = detail::label(loss_axis.tick(k), loss_axis.step);
    const std::string r = detail::label(100 * accuracy_axis.tick(k), 100 * accuracy_axis.step) + "%";
    out.rectangle(left, y, width + 1, 1, k ? grid : ink);
    text(out, left - 10 - text_width(l), y - 7, l, blue);
    text(out, left + width + 12, y - 7, r, orange);
  }
  int every = 1;  // epochs between labels: 1, 2, 5, 10, ...
  const int room = text_width(std::to_string(epochs)) + 10;
  for (int k = 0; room * epochs > width * every; ++k) every = k % 3 == 1 ? every / 2 * 5 : every * 2;
  for (int e = every; e <= epochs; e += every) {
    const int x = int(place(double(e) / epochs, 0).x);
    const std::string s = std::to_string(e);
    out.rectangle(x, top, 1, height, grid);
    text(out, x - text_width(s) / 2, bottom + 10, s, ink);
  }
  text(out, left + (width - text_width("epoch")) / 2, bottom + 38, "epoch", ink);
  const auto legend = [&out](int x, std::string_view s, colour c) {
    out.line({{double(x), 27}, {x + 26.0, 27}}, c, 3);
    text(out, x + 38, 20, s, c);
  };
  legend(230, "training loss", blue);
  legend(480, "test accuracy", orange);
  out.line({{493, 27}}, orange, 9);

  std::vector<point> steps, means, ends;
  const std::size_t bins = std::min<std::size_t>(loss.size(), 150);  // more is a band of noise: draw means over it
  for (std::size_t bin = 0, i = 0; bin < bins; ++bin) {
    point sum{0, 0};
    int count = 0;
    for (; i < loss.size() * (bin + 1) / bins; ++i) {
      if (!detail::usable(loss[i])) continue;
      steps.push_back(place((double(i) + 0.5) / double(loss.size()), loss_axis.fraction(loss[i])));
      sum.x += steps.back().x, sum.y += steps.back().y, ++count;
    }
    if (count) means.push_back({sum.x / count, sum.y / count});
  }
  for (std::size_t e = 0; e < accuracy.size(); ++e) {
    if (!detail::usable(accuracy[e])) continue;
    ends.push_back(place(double(e + 1) / epochs, accuracy_axis.fraction(accuracy[e])));
  }
  if (means.size() < steps.size()) out.line(steps, pale, 1);
  out.line(means, blue);
  out.line(ends, orange);
  for (const point& p : ends) out.line({p}, orange, 9);
  return out;
}

/// Draws `count` grey images, values (count, height, width) in C order, each from its own least (black) to greatest
/// (white), enlarged `scale` times, in a near-square grid; throws std::invalid_argument if the sizes do not agree.
inline image tiles(const std::vector<float>& values, int count, int height, int width, int scale) {
  constexpr int gap = 2;
  const double wanted = double(count) * height * width;
  if (std::min({count, height, width, scale}) < 1 || double(values.size()) != wanted) {
    throw std::invalid_argument("tiles: " + std::to_string(values.size()) + " values for " + std::to_string(count) +
                                " x " + std::to_string(height) + " x " + std::to_string(width) + ", scale " +
                                std::to_string(scale));
  }
  const long long columns = std::llround(std::ceil(std::sqrt(count))), rows = (count + columns - 1) / columns;
  const long long across = 1LL * width * scale + gap, down = 1LL * height * scale + gap;
  image out(columns * across + gap, rows * down + gap, {24, 26, 32});
  const std::size_t size = std::size_t(height) * std::size_t(width);
  for (int k = 0; k < count; ++k) {
    const float* tile = &values[std::size_t(k) * size];
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (const float* v = tile; v != tile + size; ++v) {
      if (std::isfinite(*v)) low = std::min(low, *v), high = std::max(high, *v);
    }
    const int left = int(k % columns * across) + gap, top = int(k / columns * down) + gap;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double v = tile[y * width + x], range = double(high) - low;
        const double share = range > 0 ? std::clamp((v - low) / range, 0.0, 1.0) : 0.5;
        const auto grey = (unsigned char)(std::isnan(v) ? 0 : std::lround(255 * share));
        out.rectangle(left + x * scale, top + y * scale, scale, scale, {grey, grey, grey});
      }
    }
  }
  return out;
}

}  // namespace picture
