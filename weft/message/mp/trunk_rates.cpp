// SPDX-License-Identifier: Apache-2.0
// What rails are believed to deliver.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <weft/message/mp/trunk.hpp>

namespace weft::mp {

namespace {

constexpr double memory = 0.875;  // Weight of earlier parts in a meter.
// A rail found late is believed to be slow until it has shown better in as many parts.
constexpr Duration late_weight = Duration::ms(5);
// A rail that finishes this much later (earlier) than the mean of a short message gets less (more).
constexpr double uneven = 1.1, step = 0.95;
// Share of the rails' believed sum that remains when a short message took longer.
constexpr double disbelief = 0.5;
// Beyond this rails are not what they say of themselves.
constexpr double uneven_much = 3;
// After 16 messages sent as frames and 50 ms, send one by rendezvous to measure the rails: that
// costs a round trip.
constexpr std::uint32_t measure_after = 16;
constexpr Duration measure_every = Duration::ms(50);

}  // namespace

void RailMeter::delivered(std::size_t bytes, Duration busy) {
  bytes_ = bytes_ * memory + static_cast<double>(bytes);
  seconds_ = seconds_ * memory + std::max(busy.in_seconds(), 0.0);
}

void RailMeter::set(double bytes_per_s) {
  seconds_ = late_weight.in_seconds();
  bytes_ = bytes_per_s * seconds_;
}

// A rail that has not been measured counts with its nominal rate, but no more than the best of the
// others. A late rail counts with no more than the rate that its oldest part would show by now.
double Trunk::rate(RankId id, const Peer& peer, std::size_t index) const {
  const Rail& rail = peer.rails[index];
  double rate = rail.meter.bytes_per_s();
  if (!rail.meter.measured()) {
    const auto facts = fabric_.rails.rail_facts(id, RailId(static_cast<std::uint32_t>(index)));
    double best = 0;
    for (const Rail& other : peer.rails) {
      if (other.meter.measured()) best = std::max(best, other.meter.bytes_per_s());
    }
    rate = std::max(facts.rate.in_byte_per_s(), 1.0);
    if (best > 0) rate = std::min(best, rate);
  }
  if (rail.late > Duration::zero() && !rail.outstanding.empty()) {
    const auto oldest = static_cast<double>(parts_[rail.outstanding.front() & 0xffffffffu].size);
    rate = std::min(rate, std::max(oldest / rail.late.in_seconds(), 1.0));
  }
  return rate;
}

// What rails deliver of what they say, all together. Cards may say far more than the wires behind
// them carry; then every difference of latency would seem to be worth many bytes.
double Trunk::share_of_nominal(RankId id, const Peer& peer) const {
  double all = 0, said = 0;
  for (std::size_t i = 0; i < peer.rails.size(); ++i) {
    const RailFacts facts = fabric_.rails.rail_facts(id, RailId(static_cast<std::uint32_t>(i)));
    if (!facts.up) continue;
    all += rate(id, peer, i);
    said += std::max(facts.rate.in_byte_per_s(), 1.0);
  }
  return said > 0 ? all / said : 1;
}

bool Trunk::alike(RankId id) {
  Peer& peer = peer_of(id);
  if (peer.rails.size() < 2) return fabric_.rails.rail_facts(id, RailId(0)).frames;
  double least = 0, most = 0;
  for (std::size_t i = 0; i < peer.rails.size(); ++i) {
    const RailFacts facts = fabric_.rails.rail_facts(id, RailId(static_cast<std::uint32_t>(i)));
    if (!facts.up) continue;
    if (!facts.frames || !peer.rails[i].meter.measured()) return false;
    const double share = rate(id, peer, i) / std::max(facts.rate.in_byte_per_s(), 1.0);
    least = least > 0 ? std::min(least, share) : share;
    most = std::max(most, share);
  }
  if (most >= uneven_much * least) return false;
  const Time now = fabric_.processor.now();
  if (++peer.frames <= measure_after || now - peer.measured < measure_every) return true;
  peer.frames = 0;
  peer.measured = now;
  return false;
}

// A short message has one part per rail; wake-up time dominates, so it does not measure rates: a
// rail with a larger part would seem faster. Shift share from the rail that finished last to those
// that finished first or had nothing. All rails together carry at least what they just did, and not
// much more if they are slow; longer messages measure how much.
void Trunk::balance(RankId id, Peer& peer, const Message& message) {
  if (message.crowded || message.laps.empty() || peer.rails.size() < 2) return;
  double mean = 0;
  for (const Message::Lap& lap : message.laps) mean += lap.time.in_seconds();
  std::size_t used = 0;  // A rail may have had two parts.
  for (std::size_t i = 0; i < peer.rails.size(); ++i) {
    used += std::any_of(message.laps.begin(), message.laps.end(),
                        [&](const Message::Lap& lap) { return lap.rail.index == i; });
  }
  mean /= static_cast<double>(used);
  double sum = 0, new_sum = 0;
  std::vector<double> rates(peer.rails.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!fabric_.rails.rail_facts(id, RailId(static_cast<std::uint32_t>(i))).up) continue;
    const double now = rate(id, peer, i);
    double time = 0;
    for (const Message::Lap& lap : message.laps) {
      if (lap.rail.index == i) time += lap.time.in_seconds();
    }
    rates[i] = time > mean * uneven ? now * step : time < mean / uneven ? now / step : now;
    sum += now;
    new_sum += rates[i];
  }
  const double did = static_cast<double>(message.load.data.size) / std::max(mean, 1e-9);
  sum = std::max(did, sum * disbelief);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] > 0) peer.rails[i].meter.set(rates[i] * sum / new_sum);
  }
}

}  // namespace weft::mp
