// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <zlib.h>

#include <weft/base/check.hpp>
#include <weft/output/report/blocks.hpp>

namespace weft::report {

static_assert(std::endian::native == std::endian::little, "a page's lists are little-endian");

std::string to_base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= count ? digits[three >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::string deflate(std::string_view bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  constexpr int level = 6;
  const int code = ::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), level);
  WEFT_CHECK(code == Z_OK);
  out.resize(size);
  return out;
}

Json Blocks::add(std::string_view bytes, const char* type, std::vector<std::size_t> shape) {
  const std::string& text = texts_.emplace_back(to_base64(deflate(bytes)));
  bytes_ += text.size();
  return {{"block", texts_.size() - 1}, {"type", type}, {"shape", std::move(shape)}};
}

}  // namespace weft::report
