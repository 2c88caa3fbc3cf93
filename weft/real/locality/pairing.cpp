// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/pairing.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace weft::locality {
namespace {

using List = std::span<const Interface>;
using Positions = std::vector<std::size_t>;

bool has_address(List list, const Address& address) {
  return std::any_of(list.begin(), list.end(), [&](const Interface& one) {
    return one.has_address() && one.address == address;
  });
}

// Interfaces that may lead to the other host. The order depends on the interfaces alone: by speed
// first, so that in one subnet fast NICs are not paired with slow ones.
Positions candidates(List list, List others) {
  Positions found;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].usable() && !list[i].loopback && !has_address(others, list[i].address))
      found.push_back(i);
  const auto key = [&](std::size_t i) {
    return std::make_tuple(-list[i].speed.in_bit_per_s(), list[i].address, list[i].name);
  };
  std::sort(found.begin(), found.end(), [&](auto a, auto b) { return key(a) < key(b); });
  return found;
}

// One host's interfaces during the pairing.
struct Pool {
  explicit Pool(List all, List others) : list(all), left(candidates(all, others)) {}

  // Also drops other addresses of the same interface: two rails over one NIC add nothing.
  void take(std::size_t position) {
    const std::string& name = list[position].name;
    std::erase_if(left, [&](std::size_t i) { return list[i].name == name; });
  }
  template <typename Fits>
  Positions those(Fits fits) const {
    Positions found;
    std::set<std::string> names;
    for (const std::size_t i : left)
      if (fits(list[i]) && names.insert(list[i].name).second) found.push_back(i);
    return found;
  }

  List list;
  Positions left;
};

template <typename Fits>
void pair_those(Pool& mine, Pool& theirs, Fits fits, std::vector<RailPair>& pairs) {
  const Positions a = mine.those(fits), b = theirs.those(fits);
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    pairs.push_back({a[k], b[k]});
    mine.take(a[k]);
    theirs.take(b[k]);
  }
}

std::vector<RailPair> pair_in_host(List mine, List theirs) {
  std::vector<RailPair> pairs;
  for (const bool loopback : {true, false}) {
    for (std::size_t i = 0; i < mine.size(); ++i)
      for (std::size_t j = 0; j < theirs.size(); ++j)
        if (mine[i].usable() && mine[i].loopback == loopback && theirs[j].usable() &&
            mine[i].name == theirs[j].name && mine[i].address == theirs[j].address)
          pairs.push_back({i, j});
    if (!pairs.empty()) break;
  }
  std::sort(pairs.begin(), pairs.end(), [&](const RailPair& a, const RailPair& b) {
    return std::tie(mine[a.mine].address, mine[a.mine].name) <
           std::tie(mine[b.mine].address, mine[b.mine].name);
  });
  return pairs;
}

}  // namespace

std::vector<RailPair> pair_rails(std::span<const Interface> mine, std::span<const Interface> theirs,
                                 Meeting meeting) {
  if (meeting.same_host) return pair_in_host(mine, theirs);
  Pool here(mine, theirs), there(theirs, mine);
  std::set<Subnet> subnets;
  for (const std::size_t i : here.left) subnets.insert(mine[i].subnet());
  std::vector<RailPair> pairs;
  for (const Subnet& subnet : subnets)
    pair_those(
        here, there, [&](const Interface& one) { return one.subnet() == subnet; }, pairs);
  if (meeting.named)
    for (const bool v6 : {false, true})
      pair_those(
          here, there, [&](const Interface& one) { return one.address.v6 == v6; }, pairs);
  return pairs;
}

std::string no_rail_text(const Side& mine, const Side& theirs) {
  return "hosts '" + mine.host + "' and '" + theirs.host + "' have no network in common: '" +
         mine.host + "' has " + list_text(mine.interfaces) + ", '" + theirs.host + "' has " +
         list_text(theirs.interfaces) +
         "; put interfaces of both on one subnet, or name those to use over a router with --rails";
}

}  // namespace weft::locality
