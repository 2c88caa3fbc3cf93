// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <sodium.h>

#include <weft/base/check.hpp>
#include <weft/real/wire/region_keys.hpp>

namespace weft::wire {

static_assert(sizeof(std::array<unsigned char, 16>) == crypto_shorthash_KEYBYTES);

RegionKeys::RegionKeys() : secret_() {
  WEFT_CHECK(sodium_init() >= 0);
  randombytes_buf(secret_.data(), secret_.size());
}

// Four rounds of a Feistel network with SipHash.
std::uint32_t RegionKeys::scramble(std::uint32_t number) const {
  std::uint32_t left = number >> 16, right = number & 0xffff;
  for (std::uint32_t round = 0; round < 4; ++round) {
    const std::uint32_t input[2] = {round, right};
    unsigned char hash[crypto_shorthash_BYTES];
    crypto_shorthash(hash, reinterpret_cast<const unsigned char*>(input), sizeof input,
                     secret_.data());
    std::uint16_t mask = 0;
    std::memcpy(&mask, hash, sizeof mask);
    const std::uint32_t next = left ^ mask;
    left = right;
    right = next;
  }
  return (left << 16) | right;
}

}  // namespace weft::wire
