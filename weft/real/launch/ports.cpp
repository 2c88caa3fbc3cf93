// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/ports.hpp"

#include <utility>

namespace weft::launch {

std::string Ports::open(std::uint32_t owner) {
  std::string name = tag_ + ":" + std::to_string(++opened_);
  ports_[name].owner = owner;
  return name;
}

std::vector<Ports::Visitor> Ports::close(const std::string& port) {
  std::vector<Visitor> waiting;
  const auto found = ports_.find(port);
  if (found == ports_.end()) return waiting;
  for (const auto* const queue : {&found->second.accepting, &found->second.connecting})
    waiting.insert(waiting.end(), queue->begin(), queue->end());
  ports_.erase(found);
  return waiting;
}

std::optional<Ports::Couple> Ports::visit(const std::string& port, bool accepts,
                                          const Visitor& visitor) {
  Port& at = ports_.at(port);
  std::deque<Visitor>& others = accepts ? at.connecting : at.accepting;
  if (others.empty()) {
    (accepts ? at.accepting : at.connecting).push_back(visitor);
    return std::nullopt;
  }
  const Visitor other = others.front();
  others.pop_front();
  return accepts ? Couple{visitor, other} : Couple{other, visitor};
}

bool Ports::publish(std::uint32_t owner, const std::string& service, const std::string& port) {
  return names_.try_emplace(service, Name{owner, port}).second;
}

std::optional<std::string> Ports::look_up(const std::string& service) const {
  const auto found = names_.find(service);
  return found == names_.end() ? std::nullopt : std::optional(found->second.port);
}

std::vector<Ports::Visitor> Ports::forget(std::uint32_t rank) {
  std::erase_if(names_, [&](const auto& name) { return name.second.owner == rank; });
  std::vector<Visitor> waiting;
  std::vector<std::string> own;
  for (auto& [name, port] : ports_) {
    const auto is_gone = [&](const Visitor& visitor) { return visitor.rank == rank; };
    std::erase_if(port.accepting, is_gone);
    std::erase_if(port.connecting, is_gone);
    if (port.owner == rank) own.push_back(name);
  }
  for (const std::string& name : own) {
    const std::vector<Visitor> here = close(name);
    waiting.insert(waiting.end(), here.begin(), here.end());
  }
  return waiting;
}

}  // namespace weft::launch
