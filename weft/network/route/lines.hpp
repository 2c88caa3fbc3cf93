// SPDX-License-Identifier: Apache-2.0
// What routers tell each other about the way ahead, for policies that look further than their own
// outputs. A line goes straight on from an output, from router to router through ports of the same
// number: its element 0 is about VCs of this output, element i about those of the output i routers
// further on. News about a line travels against it, over the cable at the opposite port; how (in
// band, on wires of its own, at once) is the machine's affair.
#pragma once  // Public, for policies that look ahead: names and meanings stay within 0.1.

#include <cstdint>

#include <weft/base/id.hpp>

namespace weft {

using VcMask = std::uint32_t;  // Bit v: virtual channel v may be used.
inline constexpr int max_vcs = 32;
constexpr VcMask vc_range(int first, int count) {
  return static_cast<VcMask>(((std::uint64_t{1} << count) - 1) << first);
}

struct Line {
  static constexpr int length_max = 64;

  VcMask vcs = 0;  // Its element 0 is about these VCs of the output.
  int next = -1;   // The line of the router ahead that goes on with it; -1: it ends here.
  int length = 0;  // Elements; 0: there is no such line here.
  int least = 1;   // An element is 1 if at least this many of the VCs are ready.
};

enum class LineKind {
  bits,     // An element is 1 if enough of its VCs are ready to take a packet. Element 0 is bit 0.
  average,  // One number: the mean of how many VCs are ready here and of the number further on, so
            // that an element counts half as much as the one before it. In 1/256.
};

struct LineNews {
  std::uint64_t word = 0;
  int length = 0;  // Elements known.
};

class Lines {
 public:
  virtual ~Lines() = default;
  virtual LineKind kind() const = 0;
  virtual int count() const = 0;                    // Lines of each port; at most max_vcs.
  virtual int ports() const = 0;                    // Ports 0.. that have lines; at most 64.
  virtual int width(int port, int line) const = 0;  // Bits that its news takes, at most.
  virtual Line line(RouterId router, int port, int line) const = 0;
  // The port whose cable leads away from the line of `port`.
  virtual int behind(int port) const = 0;
  // Before the first news: as if all were ready, or nothing beyond element 0.
  virtual bool starts_full() const = 0;
};

}  // namespace weft
