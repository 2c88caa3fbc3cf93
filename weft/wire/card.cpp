// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/wire/card.hpp>

namespace weft::wire {

namespace {

constexpr const char* place_sign = "weft-place-1";
constexpr const char* reach_sign = "weft-reach-1";

Error strange(const std::string& what) {
  return Error::run("a process of the job told nonsense (" + what +
                    "): are all linked with the same weft?");
}

}  // namespace

std::string to_text(const PlaceCard& card) {
  std::ostringstream text;
  text << place_sign << '\n'
       << card.host << '\n'
       << card.name << '\n'
       << card.shares_memory << ' ' << card.named << '\n'
       << locality::to_text(card.rails);
  return text.str();
}

Result<PlaceCard> parse_place(const std::string& text) {
  std::istringstream in(text);
  PlaceCard card;
  std::string sign, flags;
  if (!std::getline(in, sign) || sign != place_sign || !std::getline(in, card.host) ||
      !std::getline(in, card.name) || !std::getline(in, flags) || flags.size() != 3) {
    return strange("where it is");
  }
  card.shares_memory = flags[0] == '1';
  card.named = flags[2] == '1';
  const auto at = static_cast<std::size_t>(in.tellg());
  auto rails = locality::parse_interfaces(at < text.size() ? text.substr(at) : "");
  if (!rails) return std::move(rails).error();
  card.rails = *std::move(rails);
  return card;
}

std::string to_text(const ReachCard& card) {
  std::ostringstream text;
  text << reach_sign << ' ' << card.neighbour.process << ' ' << card.neighbour.memory << ' '
       << card.neighbour.bell << ' ' << card.ports.size();
  for (const std::uint16_t port : card.ports) text << ' ' << port;
  return text.str();
}

Result<ReachCard> parse_reach(const std::string& text) {
  std::istringstream in(text);
  ReachCard card;
  std::string sign;
  std::size_t count = 0;
  in >> sign >> card.neighbour.process >> card.neighbour.memory >> card.neighbour.bell >> count;
  if (!in || sign != reach_sign || count > 64) return strange("how it is reached");
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t port = 0;
    in >> port;
    card.ports.push_back(port);
  }
  if (!in) return strange("its ports");
  return card;
}

// One running kernel, one set of processes, one user: what it takes to open each other's memory.
std::string host_identity() {
  std::string identity = "unknown";
  if (auto boot = read_file("/proc/sys/kernel/random/boot_id")) identity = *boot;
  while (!identity.empty() && identity.back() == '\n') identity.pop_back();
  struct stat processes = {};
  if (::stat("/proc/self/ns/pid", &processes) == 0) {
    identity += '.' + std::to_string(processes.st_ino);
  }
  return identity + '.' + std::to_string(::geteuid()) + '.' + host_name();
}

std::string host_name() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace weft::wire
