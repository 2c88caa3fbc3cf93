// SPDX-License-Identifier: Apache-2.0
// A seat under a launcher that offers a key-value store and a barrier, as PMI-1 and PMIx do. Such
// launchers know nothing of our secret and settings: rank 0 creates the secret, and variables
// WEFT_* hold the settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// A launcher's key-value store. Keys are short words; a value is any bytes.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::uint32_t self() const = 0;
  virtual std::uint32_t ranks() const = 0;
  virtual std::size_t value_size_max() const = 0;
  virtual Status put(const std::string& key, const std::string& value) = 0;
  // A barrier: blocks until all ranks have called it; afterwards all values that were put are
  // visible.
  virtual Status barrier() = 0;
  virtual Result<std::string> get(std::uint32_t rank, const std::string& key) = 0;

  virtual int descriptor() const = 0;
  virtual bool next_notice(Notice& out) = 0;
  virtual void leave() = 0;
  // Asks the launcher to end the job; returns, since that takes a while.
  virtual void abort(int code, const std::string& message) = 0;
};

Result<std::unique_ptr<Seat>> take_store_seat(std::unique_ptr<Store> store);

}  // namespace weft::launch
