// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/real/wire/card.hpp>

namespace weft::wire {

namespace {

constexpr const char* place_sign = "weft-place-1";
constexpr const char* reach_sign = "weft-reach-2";

Error strange(const std::string& what) {
  return Error::run("a process of the job told nonsense (" + what +
                    "): are all linked with the same weft?");
}

std::string to_hex(const std::string& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const char one : bytes) {
    const auto value = static_cast<unsigned char>(one);
    text += digits[value / 16];
    text += digits[value % 16];
  }
  return text;
}

// After a sign of equality, so that nothing is a word as well.
std::optional<std::string> from_hex(const std::string& word) {
  if (word.size() % 2 != 1 || word[0] != '=') return std::nullopt;
  std::string bytes;
  for (std::size_t i = 1; i < word.size(); i += 2) {
    unsigned value = 0;
    const char* const end = word.data() + i + 2;
    if (std::from_chars(word.data() + i, end, value, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

}  // namespace

std::string to_text(const PlaceCard& card) {
  std::ostringstream text;
  text << place_sign << '\n'
       << card.host << '\n'
       << card.name << '\n'
       << card.processors << '\n'
       << card.shares_memory << ' ' << card.named << '\n'
       << to_text(card.cards) << locality::to_text(card.rails);
  return text.str();
}

Result<PlaceCard> parse_place(const std::string& text) {
  std::istringstream in(text);
  PlaceCard card;
  std::string sign, flags;
  if (!std::getline(in, sign) || sign != place_sign || !std::getline(in, card.host) ||
      !std::getline(in, card.name) || !std::getline(in, card.processors) ||
      !std::getline(in, flags) || flags.size() != 3) {
    return strange("where it is");
  }
  card.shares_memory = flags[0] == '1';
  card.named = flags[2] == '1';
  auto cards = read_places(in);
  if (!cards) return std::move(cards).error();
  card.cards = *std::move(cards);
  const auto at = static_cast<std::size_t>(in.tellg());
  auto rails = locality::parse_interfaces(at < text.size() ? text.substr(at) : "");
  if (!rails) return std::move(rails).error();
  card.rails = *std::move(rails);
  return card;
}

std::string to_text(const ReachCard& card) {
  std::ostringstream text;
  text << reach_sign << ' ' << card.neighbour.process << ' ' << card.neighbour.memory << ' '
       << card.neighbour.bell << ' ' << card.room << ' ' << card.ports.size();
  for (const std::uint16_t port : card.ports) text << ' ' << port;
  text << ' ' << card.cards.size();
  for (const std::string& address : card.cards) text << ' ' << '=' << to_hex(address);
  return text.str();
}

Result<ReachCard> parse_reach(const std::string& text) {
  std::istringstream in(text);
  ReachCard card;
  std::string sign;
  std::size_t count = 0;
  in >> sign >> card.neighbour.process >> card.neighbour.memory >> card.neighbour.bell >>
      card.room >> count;
  if (!in || sign != reach_sign || count > 64) return strange("how it is reached");
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t port = 0;
    in >> port;
    card.ports.push_back(port);
  }
  if (!in || !(in >> count) || count > 64) return strange("its ports");
  for (std::size_t i = 0; i < count; ++i) {
    std::string word;
    in >> word;
    auto address = from_hex(word);
    if (!address) return strange("its cards");
    card.cards.push_back(*std::move(address));
  }
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
