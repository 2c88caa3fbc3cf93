// SPDX-License-Identifier: Apache-2.0
// Matches inputs to outputs for one cycle: each input gets at most one output and each output at
// most one input. One object serves all routers; what a router remembers stands in its Turns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/simulate/flits/flit_model.hpp>

namespace weft::flits {

struct Request {
  std::uint16_t input = 0, output = 0;
  std::uint16_t tag = 0;      // Of the one who asks.
  std::int64_t priority = 0;  // The highest goes first; among equals it is somebody's turn.
};

// Whose turn it is at each input and output of a router.
struct Turns {
  std::uint32_t count = 0;  // Of inputs, and of outputs.
  // Round robin: who comes first, by input and by output.
  std::uint16_t* inputs = nullptr;
  std::uint16_t* outputs = nullptr;
  // Matrix: when each pair was matched last, as input * count + output. Null for round robin.
  std::uint64_t* served = nullptr;
};

class Allocator {
 public:
  // `count_max`: the largest Turns::count.
  Allocator(const FlitModel& model, std::uint32_t count_max);

  // No pair twice.
  void request(std::uint32_t input, std::uint32_t output, std::int64_t priority,
               std::uint32_t tag = 0) {
    const std::uint64_t in = std::uint64_t{1} << (input % 64),
                        out = std::uint64_t{1} << (output % 64);
    clashes_ = clashes_ || (inputs_asked_ & in) != 0 || (outputs_asked_ & out) != 0;
    one_input_ = requests_.empty() || (one_input_ && requests_.front().input == input);
    inputs_asked_ |= in;
    outputs_asked_ |= out;
    requests_.push_back({static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(output),
                         static_cast<std::uint16_t>(tag), priority});
  }
  bool has_request(std::uint32_t input, std::uint32_t output) const;
  bool has_requests() const { return !requests_.empty(); }
  // Modulo 64.
  std::uint64_t outputs_asked() const { return outputs_asked_; }
  // The first 64.
  std::uint64_t first_outputs_asked() const;

  // The pairs of all requests since the last call; valid until the next.
  std::span<const Request> allot(const Turns& turns);

 private:
  enum class Side : bool { input, output };
  // For each input or output the request that it prefers so far.
  struct Preferences {
    std::vector<std::int32_t> of;  // -1: none.
    std::vector<std::uint16_t> touched;
  };

  const Request& favourite(const Turns& turns) const;
  template <Side one, Side other>
  bool match_once(const Turns& turns, bool first);
  template <Side side>
  void prefer(Preferences& preferred, std::int32_t request, const Turns& turns);
  template <Side side>
  static bool goes_before(const Request& a, const Request& b, const Turns& turns);
  void take(const Request& pair, const Turns& turns, bool first);

  const bool outputs_first_;
  const int iterations_;
  std::vector<Request> requests_, matches_;
  // Modulo 64: whether two requests may be of one input or one output.
  std::uint64_t inputs_asked_ = 0, outputs_asked_ = 0;
  bool clashes_ = false;
  bool one_input_ = false;  // All requests are of one.
  Preferences first_, second_;
  std::vector<char> input_taken_, output_taken_;
  std::uint64_t clock_ = 0;  // Matches so far.
};

}  // namespace weft::flits
