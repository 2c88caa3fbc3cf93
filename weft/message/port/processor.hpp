// SPDX-License-Identifier: Apache-2.0
// The processor of one rank: its clock, and what the work of the library costs. Where time is
// simulated, this is how the work takes time; where it is real, time passes by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/units.hpp>

namespace weft {

// Work of the library beyond that of a call and of a message.
enum class Work : std::uint8_t {
  request,     // A request that outlives its call, or one of two in a call.
  collective,  // The steps of a collective operation are set up.
  reduction,   // So many bytes are combined with as many others.
};

class Processor {
 public:
  virtual ~Processor() = default;

  virtual Time now() const = 0;
  // Copies bytes. `to` or `from` may be null: then nothing is copied, at the same cost.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t size) = 0;
  virtual void spend(Duration /*processor_time*/) {}
  // The program computes: other threads of the process go on meanwhile. Call outside of the
  // library.
  virtual void compute(Duration time) { spend(time); }
  // The number of the calling thread among those of its process, for messages; 0: the first.
  virtual std::uint32_t thread() const { return 0; }
  virtual void charge(Work work, std::size_t bytes = 0) {
    if (work == Work::reduction) copy(nullptr, nullptr, bytes);
  }
  // A call of the library begins and ends. The time between two calls is the program's own.
  virtual void enter_call() {}
  virtual void leave_call() {}
  // The program reads the clock outside of a call: charges what it has computed so far.
  virtual void catch_up() {}
};

}  // namespace weft
