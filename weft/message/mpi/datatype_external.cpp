// SPDX-License-Identifier: Apache-2.0
// Numbers in the representation "external32": IEEE formats, big-endian. All types have the same
// size as here, except for long, which has four bytes, and wide characters, which have two.
#include <algorithm>
#include <bit>
#include <cstring>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/datatype_number.hpp>

namespace weft::mpi {
namespace {

template <bool outwards>
class Converter {
 public:
  Converter(std::span<const std::byte> from, std::span<std::byte> to) : from_(from), to_(to) {}

  // Recursion is as deep as the datatype is nested.
  void run(const Signature& signature, std::int64_t count) {  // NOLINT(misc-no-recursion)
    if (signature.basic != nullptr) return convert(*signature.basic, count * signature.elements);
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Signature::Part& part : signature.parts) run(*part.signature, part.count);
    }
  }
  bool done() const { return from_.empty(); }

 private:
  void convert(const BasicType& type, std::int64_t elements) {
    const std::int64_t units = elements * type.size / type.unit;
    const bool extended = __LDBL_MANT_DIG__ == 64 && (type.element == Element::real_long ||
                                                      type.element == Element::complex_long);
    for (std::int64_t i = 0; i < units; ++i) {
      if (extended) {
        convert_long_double();
      } else {
        convert_unit(type, type.external_size < type.size ? type.external_size : type.unit);
      }
    }
  }

  // The shorter side holds the low bytes.
  void convert_unit(const BasicType& type, std::size_t external) {
    const std::size_t from = outwards ? type.unit : external;
    const std::size_t to = outwards ? external : type.unit;
    std::byte value[16] = {};
    read(value, from, !outwards);
    const bool negative =
        type.element == Element::signed64 && (value[from - 1] >> 7) != std::byte{};
    if (negative && to > from) std::fill(value + from, value + to, std::byte{0xff});
    write(value, to, outwards);
  }

  // Little-endian in between.
  void read(std::byte* value, std::size_t size, bool external) {
    std::memcpy(value, from_.data(), size);
    from_ = from_.subspan(size);
    if (external || std::endian::native == std::endian::big) std::reverse(value, value + size);
  }

  void write(std::byte* value, std::size_t size, bool external) {
    if (external || std::endian::native == std::endian::big) std::reverse(value, value + size);
    std::memcpy(to_.data(), value, size);
    to_ = to_.subspan(size);
  }

  void convert_long_double() {
    std::byte value[16] = {};
    read(value, sizeof value, !outwards);
    if constexpr (outwards) {
      long double number = 0;
      std::memcpy(&number, value, sizeof number);
      const auto wide = static_cast<Real128>(number);
      std::memcpy(value, &wide, sizeof wide);
    } else {
      Real128 wide = 0;
      std::memcpy(&wide, value, sizeof wide);
      const auto number = static_cast<long double>(wide);
      std::memcpy(value, &number, sizeof number);
    }
    write(value, sizeof value, outwards);
  }

  std::span<const std::byte> from_;
  std::span<std::byte> to_;
};

std::int64_t external_bytes(const Signature& signature) {  // NOLINT(misc-no-recursion)
  if (signature.basic != nullptr) return signature.elements * signature.basic->external_size;
  std::int64_t bytes = 0;
  for (const Signature::Part& part : signature.parts) {
    bytes += part.count * external_bytes(*part.signature);
  }
  return bytes;
}

}  // namespace

std::int64_t external_size(const Datatype& type, std::int64_t count) {
  const SignatureRef& signature = type.shape().signature;
  return signature == nullptr ? 0 : count * external_bytes(*signature);
}

void to_external(const Datatype& type, std::span<const std::byte> native,
                 std::span<std::byte> external) {
  Converter<true> converter(native, external);
  while (!converter.done()) converter.run(*type.shape().signature, 1);
}

void from_external(const Datatype& type, std::span<const std::byte> external,
                   std::span<std::byte> native) {
  Converter<false> converter(external, native);
  while (!converter.done()) converter.run(*type.shape().signature, 1);
}

}  // namespace weft::mpi
