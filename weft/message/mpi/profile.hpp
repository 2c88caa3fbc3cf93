// SPDX-License-Identifier: Apache-2.0
// How often a rank called each library function, how long it stayed inside, and how many bytes it
// passed. Contains only functions that were called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/base/units.hpp>

namespace weft::mpi {

// Notified of each call that appears in the profile.
class CallListener {
 public:
  virtual ~CallListener() = default;
  virtual void entered(const char* call, Time at) = 0;
  virtual void left(const char* call, Time at) = 0;
};

class Profile {
 public:
  struct Record {
    const char* call = nullptr;  // A string literal, compared by address.
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    Duration inside;
  };

  void add(const char* call, Duration inside, std::uint64_t bytes) {
    Record& record = find(call);
    ++record.count;
    record.bytes += bytes;
    record.inside += inside;
  }
  // In the order of the first call. One function may have several records.
  const std::vector<Record>& records() const { return records_; }

  CallListener* listener = nullptr;

 private:
  Record& find(const char* call) {
    if (last_ < records_.size() && records_[last_].call == call) return records_[last_];
    for (last_ = 0; last_ < records_.size(); ++last_) {
      if (records_[last_].call == call) return records_[last_];
    }
    // Few at a time: a program calls a dozen functions, in each of up to a million ranks.
    if (records_.size() == records_.capacity()) records_.reserve(records_.size() + 4);
    return records_.emplace_back(Record{call, 0, 0, {}});
  }

  std::vector<Record> records_;
  std::size_t last_ = 0;
};

}  // namespace weft::mpi
