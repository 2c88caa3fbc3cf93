// SPDX-License-Identifier: Apache-2.0
// Index types of the simulation core. A router's index cannot be passed as an input's, and an
// output's number within its router cannot be mistaken for its index among all outputs. They
// compile to bare 32-bit numbers.
//
// Things of all routers of this process stand in one table each and are found by an *Index. Within
// its router an input, output or actor has a number; the first one's index plus the number gives
// the index.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace weft::detail {

template <typename Tag>
struct Index {
  std::uint32_t value = 0;

  constexpr Index() = default;
  explicit constexpr Index(std::uint32_t v) : value(v) {}
  friend constexpr auto operator<=>(Index, Index) = default;
  constexpr Index& operator++() {
    ++value;
    return *this;
  }
};

using RouterIndex = Index<struct RouterIndexTag>;    // A router of this process. (RouterId: of the
                                                     // whole network.)
using InputIndex = Index<struct InputIndexTag>;      // A buffer: one VC of one input port.
using OutputIndex = Index<struct OutputIndexTag>;    // An output.
using ChannelIndex = Index<struct ChannelIndexTag>;  // One VC of an output.
using CardIndex = Index<struct CardIndexTag>;        // A network card.

using LocalInput = Index<struct LocalInputTag>;    // A buffer within its router.
using LocalOutput = Index<struct LocalOutputTag>;  // An output within its router.
using Actor = Index<struct ActorTag>;              // What acts within a router, in this order.

// A virtual channel, or none.
struct Vc : Index<struct VcTag> {
  using Index::Index;
  constexpr bool exists() const { return static_cast<std::int32_t>(value) >= 0; }
};
inline constexpr Vc no_vc{UINT32_MAX};

// The VCs of a port follow each other.
constexpr InputIndex operator+(InputIndex first, LocalInput n) {
  return InputIndex(first.value + n.value);
}
constexpr InputIndex operator+(InputIndex first, Vc vc) {
  return InputIndex(first.value + vc.value);
}
constexpr LocalInput operator-(InputIndex input, InputIndex first) {
  return LocalInput(input.value - first.value);
}
constexpr LocalInput operator+(LocalInput first, Vc vc) {
  return LocalInput(first.value + vc.value);
}
constexpr OutputIndex operator+(OutputIndex first, LocalOutput n) {
  return OutputIndex(first.value + n.value);
}
constexpr LocalOutput operator-(OutputIndex output, OutputIndex first) {
  return LocalOutput(output.value - first.value);
}

// Actors of a router: computation of routes, each output, each node's alarm, news of lines.
inline constexpr Actor routing_actor{0};
constexpr Actor actor_of(LocalOutput output) {
  return Actor(1 + output.value);
}

constexpr std::size_t position(std::size_t i) {
  return i;
}
template <typename Tag>
constexpr std::size_t position(Index<Tag> i) {
  return i.value;
}

// The part of a table that belongs to one router, found by the numbers within it.
template <typename T, typename I>
class Slice {
 public:
  constexpr explicit Slice(T* first) : first_(first) {}
  constexpr T& operator[](I i) const { return first_[position(i)]; }

 private:
  T* first_;
};

}  // namespace weft::detail
