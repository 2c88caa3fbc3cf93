// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <zlib.h>

#include <weft/output/report/blocks.hpp>
#include <weft/output/report/raster.hpp>

namespace weft::report {

namespace {

using Stations = std::array<Colour, 17>;

// Control points of the viridis colour map: reversed from 0.9 on for amounts, whole for orders.
constexpr Stations amounts = {{{189, 223, 38},
                               {152, 216, 62},
                               {115, 208, 86},
                               {84, 197, 104},
                               {56, 185, 119},
                               {38, 173, 129},
                               {31, 160, 136},
                               {32, 146, 140},
                               {37, 132, 142},
                               {42, 118, 142},
                               {48, 105, 142},
                               {55, 91, 141},
                               {62, 74, 137},
                               {68, 58, 131},
                               {72, 40, 120},
                               {72, 22, 104},
                               {68, 1, 84}}};
constexpr Stations orders = {{{68, 1, 84},
                              {72, 24, 106},
                              {71, 45, 123},
                              {66, 64, 134},
                              {59, 82, 139},
                              {51, 99, 141},
                              {44, 114, 142},
                              {38, 130, 142},
                              {33, 145, 140},
                              {31, 160, 136},
                              {40, 174, 128},
                              {63, 188, 115},
                              {94, 201, 98},
                              {132, 212, 75},
                              {173, 220, 48},
                              {216, 226, 25},
                              {253, 231, 37}}};
constexpr Colour idle{230, 232, 236};

Colour between(const Stations& stations, double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(stations.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), stations.size() - 2);
  const double part = at - static_cast<double>(low);
  const auto mix = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
  };
  const Colour &a = stations[low], &b = stations[low + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

// Okabe and Ito's colours.
constexpr std::array<Colour, 7> categories = {{{0, 114, 178},
                                               {213, 94, 0},
                                               {0, 158, 115},
                                               {204, 121, 167},
                                               {230, 159, 0},
                                               {86, 180, 233},
                                               {110, 110, 110}}};

void put_big_endian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  put_big_endian(out, static_cast<std::uint32_t>(data.size()));
  std::string body(type);
  body += data;
  out += body;
  put_big_endian(out,
                 static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                    static_cast<uInt>(body.size()))));
}

}  // namespace

Colour heat_colour(double share) {
  return share > 0 ? between(amounts, share) : idle;
}

Colour order_colour(double share) {
  return between(orders, share);
}

Colour category_colour(std::size_t index) {
  return categories[index % categories.size()];
}

std::string to_hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

Raster::Raster(std::size_t width, std::size_t height, Colour paper)
    : width_(std::max<std::size_t>(width, 1)),
      height_(std::max<std::size_t>(height, 1)),
      cells_(width_ * height_, paper) {}

Raster Raster::enlarged(double width, double height) const {
  const auto times = [](double wanted, std::size_t cells) {
    return static_cast<std::size_t>(std::clamp(2 * wanted / static_cast<double>(cells), 1.0, 64.0));
  };
  const std::size_t across = times(width, width_), down = times(height, height_);
  Raster large(width_ * across, height_ * down, {});
  for (std::size_t y = 0; y < large.height_; ++y) {
    for (std::size_t x = 0; x < large.width_; ++x) large.set(x, y, at(x / across, y / down));
  }
  return large;
}

std::string Raster::to_png() const {
  std::string head, rows;
  put_big_endian(head, static_cast<std::uint32_t>(width_));
  put_big_endian(head, static_cast<std::uint32_t>(height_));
  head += std::string("\x08\x02\x00\x00\x00", 5);  // Eight bits each of red, green and blue.
  for (std::size_t y = 0; y < height_; ++y) {
    rows += '\0';  // PNG filter type 0: none.
    for (std::size_t x = 0; x < width_; ++x) {
      const Colour c = at(x, y);
      rows += static_cast<char>(c.red);
      rows += static_cast<char>(c.green);
      rows += static_cast<char>(c.blue);
    }
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  put_chunk(png, "IHDR", head);
  put_chunk(png, "IDAT", deflate(rows));
  put_chunk(png, "IEND", "");
  return png;
}

}  // namespace weft::report
