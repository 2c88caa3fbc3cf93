// SPDX-License-Identifier: Apache-2.0
// Ports where two sides meet, and names under which ports are published.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/real/launch/requests.hpp>

namespace weft::launch {

class Ports {
 public:
  // A rank that waits at a port, and the number of its request.
  struct Visitor {
    std::uint32_t rank = 0;
    std::uint64_t request = 0;
  };
  struct Couple {
    Visitor accepts, connects;
  };
  // `tag` begins all names: ports of other jobs have other ones.
  explicit Ports(std::string tag) : tag_(std::move(tag)) {}

  std::string open(std::uint32_t owner);
  bool is_open(const std::string& port) const { return ports_.contains(port); }
  // Visitors that wait there in vain.
  std::vector<Visitor> close(const std::string& port);
  // REQUIRES: the port is open. Two as soon as one accepts and one connects.
  std::optional<Couple> visit(const std::string& port, bool accepts, const Visitor& visitor);

  bool publish(std::uint32_t owner, const std::string& service, const std::string& port);
  bool unpublish(const std::string& service) { return names_.erase(service) > 0; }
  std::optional<std::string> look_up(const std::string& service) const;

  // The rank has ended or left: so do its ports and names. Visitors that wait there in vain.
  std::vector<Visitor> forget(std::uint32_t rank);

 private:
  struct Port {
    std::uint32_t owner = 0;
    std::deque<Visitor> accepting, connecting;
  };
  struct Name {
    std::uint32_t owner = 0;
    std::string port;
  };
  const std::string tag_;
  std::uint64_t opened_ = 0;
  std::map<std::string, Port> ports_;
  std::map<std::string, Name> names_;
};

}  // namespace weft::launch
