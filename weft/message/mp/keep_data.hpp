// SPDX-License-Identifier: Apache-2.0
// Frames that are looked at later than at the next poll.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include <weft/message/port/frame.hpp>

namespace weft::mp {

// Copies data that the network lent only until the next poll.
inline void keep_data(Completion& completion) {
  if (completion.lent != nullptr && completion.size > 0) {
    completion.data = std::make_unique_for_overwrite<std::byte[]>(completion.size);
    std::memcpy(completion.data.get(), completion.lent, completion.size);
  }
  completion.lent = nullptr;
}

inline const std::byte* data_of(const Completion& completion) {
  return completion.lent != nullptr ? completion.lent : completion.data.get();
}

}  // namespace weft::mp
