// SPDX-License-Identifier: Apache-2.0
#include "weft/base/pack.hpp"

namespace weft {

void Packer::put_bytes(const void* data, std::size_t size) {
  const auto* const from = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), from, from + size);
}

}  // namespace weft
