// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/allocator.hpp"

#include <algorithm>

namespace weft::flits {

Allocator::Allocator(const FlitModel& model, std::uint32_t count_max)
    : outputs_first_(model.allocator != Allocation::separable_input),
      iterations_(model.iterations),
      first_{std::vector<std::int32_t>(count_max, -1), {}},
      second_{std::vector<std::int32_t>(count_max, -1), {}},
      input_taken_(count_max, 0),
      output_taken_(count_max, 0) {}

bool Allocator::has_request(std::uint32_t input, std::uint32_t output) const {
  if (((inputs_asked_ >> (input % 64)) & (outputs_asked_ >> (output % 64)) & 1) == 0) return false;
  return std::any_of(requests_.begin(), requests_.end(), [&](const Request& request) {
    return request.input == input && request.output == output;
  });
}

std::uint64_t Allocator::first_outputs_asked() const {
  std::uint64_t asked = 0;
  for (const Request& request : requests_)
    if (request.output < 64) asked |= std::uint64_t{1} << request.output;
  return asked;
}

std::span<const Request> Allocator::allot(const Turns& turns) {
  matches_.clear();
  if (!clashes_) {
    for (const Request& request : requests_) take(request, turns, true);
  } else if (one_input_) {
    take(favourite(turns), turns, true);
  } else {
    for (int i = 0; i < iterations_; ++i) {
      const bool any = outputs_first_ ? match_once<Side::output, Side::input>(turns, i == 0)
                                      : match_once<Side::input, Side::output>(turns, i == 0);
      if (!any) break;
    }
  }
  for (const Request& pair : matches_) input_taken_[pair.input] = output_taken_[pair.output] = 0;
  requests_.clear();
  inputs_asked_ = outputs_asked_ = 0;
  clashes_ = false;
  return matches_;
}

// Of the only input that asks: every output is its own for the asking.
const Request& Allocator::favourite(const Turns& turns) const {
  const Request* best = &requests_.front();
  for (const Request& request : requests_)
    if (goes_before<Side::input>(request, *best, turns)) best = &request;
  return *best;
}

// One side offers, the other chooses. False: nothing was left to be matched.
template <Allocator::Side one, Allocator::Side other>
bool Allocator::match_once(const Turns& turns, bool first) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    if (input_taken_[request.input] != 0 || output_taken_[request.output] != 0) continue;
    prefer<one>(first_, static_cast<std::int32_t>(i), turns);
  }
  for (const std::uint16_t at : first_.touched) {
    prefer<other>(second_, first_.of[at], turns);
    first_.of[at] = -1;
  }
  const bool any = !first_.touched.empty();
  first_.touched.clear();
  for (const std::uint16_t at : second_.touched) {
    take(requests_[static_cast<std::size_t>(second_.of[at])], turns, first);
    second_.of[at] = -1;
  }
  second_.touched.clear();
  return any;
}

template <Allocator::Side side>
void Allocator::prefer(Preferences& preferred, std::int32_t request, const Turns& turns) {
  const Request& asked = requests_[static_cast<std::size_t>(request)];
  const std::uint16_t at = side == Side::input ? asked.input : asked.output;
  std::int32_t& best = preferred.of[at];
  if (best < 0) {
    preferred.touched.push_back(at);
    best = request;
  } else if (goes_before<side>(asked, requests_[static_cast<std::size_t>(best)], turns)) {
    best = request;
  }
}

template <Allocator::Side side>
bool Allocator::goes_before(const Request& a, const Request& b, const Turns& turns) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (turns.served != nullptr) {
    const auto served = [&](const Request& r) {
      return turns.served[std::size_t{r.input} * turns.count + r.output];
    };
    if (served(a) != served(b)) return served(a) < served(b);
    return side == Side::input ? a.output < b.output : a.input < b.input;
  }
  const auto wait = [&](std::uint32_t at, std::uint32_t pointer) {
    return at >= pointer ? at - pointer : at + turns.count - pointer;
  };
  if constexpr (side == Side::input) {
    const std::uint32_t pointer = turns.inputs[a.input];
    return wait(a.output, pointer) < wait(b.output, pointer);
  } else {
    const std::uint32_t pointer = turns.outputs[a.output];
    return wait(a.input, pointer) < wait(b.input, pointer);
  }
}

// Turns pass on only where the first iteration matched: so iSLIP does not starve anybody.
void Allocator::take(const Request& pair, const Turns& turns, bool first) {
  matches_.push_back(pair);
  input_taken_[pair.input] = output_taken_[pair.output] = 1;
  ++clock_;
  if (!first) return;
  if (turns.served != nullptr) {
    turns.served[std::size_t{pair.input} * turns.count + pair.output] = clock_;
    return;
  }
  const auto after = [&](std::uint32_t at) {
    return static_cast<std::uint16_t>(at + 1 == turns.count ? 0 : at + 1);
  };
  turns.outputs[pair.output] = after(pair.input);
  turns.inputs[pair.input] = after(pair.output);
}

}  // namespace weft::flits
