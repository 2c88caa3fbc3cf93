// SPDX-License-Identifier: Apache-2.0
// A short text that differs where long ones do (FNV-1a). It tells files and results apart; nobody
// tries to deceive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace weft {

class Fingerprint {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::uint64_t number() const { return hash_; }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace weft
