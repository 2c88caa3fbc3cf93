// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <istream>
#include <numeric>
#include <sstream>
#include <system_error>
#include <tuple>

#include <weft/real/wire/ofi_places.hpp>

namespace weft::wire {

namespace {

constexpr std::string_view prefix = "ofi:";
constexpr std::size_t most_places = 64;

// Some providers name a fabric after the card itself.
std::string fabric_of(const OfiPlace& place) {
  return place.provider == "efa" ? std::string() : place.fabric;
}

std::vector<std::size_t> sorted(std::span<const OfiPlace> places) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::tuple(places[i].provider, fabric_of(places[i]), places[i].domain);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace

std::string to_text(std::span<const OfiPlace> places) {
  std::ostringstream text;
  text << places.size() << '\n';
  for (const OfiPlace& place : places) {
    text << place.provider << '\t' << place.domain << '\t' << place.fabric << '\t'
         << place.speed.in_bit_per_s() << '\t' << (place.named ? 1 : 0) << '\n';
  }
  return text.str();
}

Result<std::vector<OfiPlace>> read_places(std::istream& in) {
  const Error strange = Error::run("a process of the job told nonsense of its RDMA rails");
  std::string line;
  std::size_t count = 0;
  if (!std::getline(in, line) || !(std::istringstream(line) >> count) || count > most_places) {
    return strange;
  }
  std::vector<OfiPlace> places(count);
  for (OfiPlace& place : places) {
    if (!std::getline(in, line)) return strange;
    std::istringstream fields(line);
    std::int64_t speed = 0;
    int named = 0;
    if (!std::getline(fields, place.provider, '\t') || !std::getline(fields, place.domain, '\t') ||
        !std::getline(fields, place.fabric, '\t') || !(fields >> speed >> named) || speed < 0) {
      return strange;
    }
    place.speed = Rate::bit_per_s(speed);
    place.named = named != 0;
  }
  return places;
}

bool is_ofi_rail_name(std::string_view wish) {
  return wish.starts_with(prefix);
}

Result<OfiRailName> parse_ofi_rail_name(const std::string& wish) {
  const std::string rest = is_ofi_rail_name(wish) ? wish.substr(prefix.size()) : "";
  const std::size_t colon = rest.find(':');
  OfiRailName parsed{rest.substr(0, colon),
                     colon == std::string::npos ? "" : rest.substr(colon + 1)};
  if (parsed.provider.empty() || (colon != std::string::npos && parsed.domain.empty())) {
    return Error::call(
        "--rails: '" + wish +
        "' names no card: write ofi:PROVIDER or ofi:PROVIDER:DOMAIN, as in ofi:verbs "
        "or ofi:tcp:eth0");
  }
  return parsed;
}

bool is_hardware(std::string_view provider) {
  constexpr std::array<std::string_view, 6> known = {"verbs", "efa", "psm2", "psm3", "opx", "cxi"};
  return std::find(known.begin(), known.end(), provider) != known.end();
}

bool hardware_likely() {
  std::error_code unreadable;
  for (const char* const folder : {"/sys/class/infiniband", "/sys/class/cxi"}) {
    if (!std::filesystem::is_empty(folder, unreadable) && !unreadable) return true;
    unreadable.clear();
  }
  return false;
}

std::vector<locality::RailPair> pair_places(std::span<const OfiPlace> mine,
                                            std::span<const OfiPlace> theirs) {
  std::vector<std::size_t> left = sorted(mine), right = sorted(theirs);
  std::vector<locality::RailPair> pairs;
  const auto pair_if = [&](auto&& fit) {
    for (auto one = left.begin(); one != left.end();) {
      const auto other = std::find_if(right.begin(), right.end(),
                                      [&](std::size_t i) { return fit(mine[*one], theirs[i]); });
      if (other == right.end()) {
        ++one;
        continue;
      }
      pairs.push_back({*one, *other});
      one = left.erase(one);
      right.erase(other);
    }
  };
  pair_if([](const OfiPlace& a, const OfiPlace& b) {
    return a.provider == b.provider && fabric_of(a) == fabric_of(b);
  });
  pair_if([](const OfiPlace& a, const OfiPlace& b) {
    return a.named && b.named && a.provider == b.provider;
  });
  return pairs;
}

}  // namespace weft::wire
