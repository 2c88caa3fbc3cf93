// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/study/map/objective.hpp>
#include <weft/study/map/power.hpp>

namespace weft::map {

namespace {

constexpr std::array names = {
    ObjectiveName{"paper", "sum of hops times bytes on the busiest link (RMATT's eval)"},
    ObjectiveName{"hops", "sum of hops over pairs that talk"},
    ObjectiveName{"hop-bytes", "sum of bytes times hops"},
    ObjectiveName{"link-max", "bytes on the busiest link"},
    ObjectiveName{"link-norm", "p-norm of link loads; link-norm:8 for another p than 16"},
    ObjectiveName{"time", "as paper, but the simulator judges the best maps at the end"},
    ObjectiveName{"mix", "product of powers: mix:hop-bytes=1,link-max=2"},
};

Error bad(std::string_view text, const std::string& why) {
  return Error::call(fmt::format("objective '{}': {}", text, why));
}

Status read_norm(std::string_view text, std::string_view number, Objective& made) {
  int p = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), p);
  const bool power_of_two = p >= 2 && p <= 64 && (p & (p - 1)) == 0;
  if (read.ec != std::errc() || read.ptr != number.data() + number.size() || !power_of_two)
    return bad(text, "p must be 2, 4, 8, 16, 32 or 64");
  made.norm = p;
  return {};
}

double* exponent(Objective& o, std::string_view name) {
  if (name == "hops") return &o.hops;
  if (name == "hop-bytes") return &o.hop_bytes;
  if (name == "link-max") return &o.link_max;
  if (name == "link-norm") return &o.link_norm;
  return nullptr;
}

Result<Objective> read_mix(std::string_view text, std::string_view rest) {
  Objective made{.hops = 0, .link_max = 0};
  for (const std::string_view part : split(rest, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    double* const power = exponent(made, name);
    if (power == nullptr) {
      const std::vector<std::string_view> known = {"hops", "hop-bytes", "link-max", "link-norm"};
      return bad(text, fmt::format("no part is called '{}'{}", name, suggest(name, known)));
    }
    double value = 1;
    if (equals != std::string_view::npos) {
      const std::string_view number = part.substr(equals + 1);
      const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
      if (read.ec != std::errc() || read.ptr != number.data() + number.size() || !(value > 0) ||
          value > 12)
        return bad(text, fmt::format("'{}' is no weight above 0, up to 12", number));
    }
    *power = value;
  }
  // Beyond that, a value may be more than a double can say.
  if (made.hops + made.hop_bytes + made.link_max + made.link_norm > 12)
    return bad(text, "weights may add up to 12 at most");
  return made;
}

}  // namespace

std::span<const ObjectiveName> objective_names() {
  return names;
}

double combine(const Objective& objective, double hops, double hop_bytes, double link_max,
               double link_norm) {
  return power(hops, objective.hops) * power(hop_bytes, objective.hop_bytes) *
         power(link_max, objective.link_max) * power(link_norm, objective.link_norm);
}

Result<Objective> parse_objective(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (name == "mix") return read_mix(text, rest);
  if (colon != std::string_view::npos && name != "link-norm")
    return bad(text, fmt::format("'{}' takes no more words", name));
  if (name == "paper") return Objective{};
  if (name == "time") return Objective{.by_time = true};
  Objective made{.hops = 0, .link_max = 0};
  double* const power = exponent(made, name);
  if (power == nullptr) {
    std::vector<std::string_view> known;
    for (const ObjectiveName& one : names) known.push_back(one.name);
    return Error::call(fmt::format("unknown objective '{}'{}", text, suggest(name, known)));
  }
  *power = 1;
  if (colon != std::string_view::npos) {
    if (Status s = read_norm(text, rest, made); !s) return std::move(s).error();
  }
  return made;
}

std::string to_text(const Objective& o) {
  if (o == Objective{}) return "paper";
  if (o == Objective{.by_time = true}) return "time";
  std::string mix;
  int parts = 0;
  const auto add = [&](const char* name, double power) {
    if (power == 0) return;
    mix += fmt::format("{}{}={}", parts++ == 0 ? "" : ",", name, power);
  };
  add("hops", o.hops);
  add("hop-bytes", o.hop_bytes);
  add("link-max", o.link_max);
  add("link-norm", o.link_norm);
  if (parts > 1 || !mix.ends_with("=1")) return "mix:" + mix;
  mix.resize(mix.size() - 2);
  return mix == "link-norm" && o.norm != 16 ? fmt::format("link-norm:{}", o.norm) : mix;
}

}  // namespace weft::map
