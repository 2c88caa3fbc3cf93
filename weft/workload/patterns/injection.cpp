// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/injection.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/workload/patterns/decimal.hpp>

namespace weft {
namespace {

constexpr std::array kinds = {
    InjectionEntry{"bernoulli", "in each cycle with the same probability (the usual one)"},
    InjectionEntry{"bursty:ALPHA,BETA",
                   "silent and active periods in turn; a silent cycle is followed by an active one "
                   "with probability ALPHA, an active by a silent one with BETA; packets are born "
                   "in active cycles only, the mean load is kept"},
    InjectionEntry{"periodic", "at equal distances, each node with its own phase"},
};
constexpr std::array<std::string_view, 3> names = {"bernoulli", "bursty", "periodic"};

Result<Decimal> parse_share(std::string_view text, std::string_view name) {
  auto share = parse_decimal(text);
  if (!share) return std::move(share).error();
  if (share->digits == 0 || share->value() > 1)
    return Error::input(fmt::format("{} must be above 0 and at most 1, not '{}'", name, text));
  return share;
}

}  // namespace

std::span<const InjectionEntry> injection_kinds() {
  return kinds;
}

Result<Injection> Injection::make(std::string_view spec, double packets_per_cycle) {
  WEFT_CHECK(packets_per_cycle > 0);
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const std::string_view parameters =
      colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1);
  if (packets_per_cycle > 1)
    return Error::input(fmt::format(
        "the load asks for {:.3g} packets per node and cycle, but a node starts at most one; "
        "use larger packets or a lower load",
        packets_per_cycle));
  const Probability birth = Probability::of(packets_per_cycle);
  if (birth.never()) return Error::input("the load is too small to simulate");
  if (name == "bursty" || name == "on_off") return make_bursty(parameters, packets_per_cycle);
  if (!parameters.empty())
    return Error::input(fmt::format("injection '{}' takes no parameters", name));
  if (name == "bernoulli") return Injection(Kind::bernoulli, birth);
  if (name == "periodic") return Injection(Kind::periodic, birth);
  return Error::input(fmt::format("unknown injection '{}'{}", name, suggest(name, names)));
}

Result<Injection> Injection::make_bursty(std::string_view parameters, double packets_per_cycle) {
  const std::vector<std::string_view> fields = split(parameters, ',');
  if (fields.size() != 2)
    return Error::input("bursty injection needs two numbers, as in 'bursty:0.01,0.1'");
  const auto alpha = parse_share(fields[0], "alpha");
  if (!alpha) return alpha.error();
  const auto beta = parse_share(fields[1], "beta");
  if (!beta) return beta.error();
  // Active share of the time is alpha / (alpha + beta); births are that much denser inside.
  const double active = alpha->value() / (alpha->value() + beta->value());
  const double dense = packets_per_cycle / active;
  if (dense > 1)
    return Error::input(
        fmt::format("bursts that are on for {:.3g} of the time cannot carry {:.3g} packets per "
                    "cycle; raise alpha, lower beta or lower the load",
                    active, packets_per_cycle));
  Injection made(Kind::bursty, Probability::of(dense));
  made.silence_ = Geometric(Probability::of(alpha->value()));
  made.burst_ = Geometric(Probability::of(beta->value()));
  made.begins_in_burst_ = Probability::of(active);
  return made;
}

Injection::Source Injection::start(Rng rng) const {
  Source source{.rng = rng};
  if (kind_ == Kind::periodic) source.phase = source.rng.next();
  // A burst that is under way has the same length ahead as a new one: it does not remember.
  if (kind_ == Kind::bursty && begins_in_burst_.happens(source.rng))
    source.burst_left = burst_.draw(source.rng);
  return source;
}

std::int64_t Injection::gap(Source& source) const {
  switch (kind_) {
    case Kind::bernoulli:
      return wait_.draw(source.rng);
    case Kind::bursty:
      return bursty_gap(source);
    case Kind::periodic:
      return periodic_gap(source);
  }
  return 1;
}

std::int64_t Injection::bursty_gap(Source& source) const {
  std::int64_t active = wait_.draw(source.rng);  // Active cycles until the birth, itself included.
  std::int64_t passed = 0;
  while (active > source.burst_left) {
    active -= source.burst_left;
    passed += source.burst_left + silence_.draw(source.rng);
    source.burst_left = burst_.draw(source.rng);
  }
  source.burst_left -= active;
  return passed + active;
}

// The phase grows by the load in each cycle; a packet is born where it passes 2^64.
std::int64_t Injection::periodic_gap(Source& source) const {
  if (birth_.sure()) return 1;
  const std::uint64_t missing = 0 - source.phase;  // To 2^64; 0 stands for 2^64 itself.
  const std::uint64_t step = birth_.part();
  const std::uint64_t cycles = (missing - 1) / step + 1;  // Rounded up; right for 2^64 too.
  source.phase += cycles * step;
  return static_cast<std::int64_t>(cycles);
}

}  // namespace weft
