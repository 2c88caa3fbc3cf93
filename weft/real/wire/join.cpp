// SPDX-License-Identifier: Apache-2.0
// How a process joins its job: it finds its rails, exchanges contacts, and prepares its peers.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/base/relax.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/pairing.hpp>
#include <weft/real/locality/sys_layout.hpp>
#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/watched.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft::wire {

namespace {

std::uint64_t measure_ticks_per_ms() {
#if defined(__aarch64__)
  std::uint64_t frequency = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return std::max<std::uint64_t>(frequency / 1000, 1);
#else
  const std::uint64_t before = ticks();
  const Time until = real_now() + Duration::us(200);
  while (real_now() < until) relax();
  return std::max<std::uint64_t>((ticks() - before) * 5, 1);
#endif
}

// Where this process may run.
std::string own_processors() {
  cpu_set_t set;
  std::vector<int> numbers;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return "0";
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) numbers.push_back(i);
  }
  return locality::list_to_text(numbers);
}

// The folder of the library that contains this code, and of its plugins.
std::string own_folder() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&own_processors), &info) == 0 ||
      info.dli_fname == nullptr) {
    return ".";
  }
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

}  // namespace

Wire::Wire(launch::Seat& seat)
    : seat_(seat),
      self_(seat.self()),
      first_(seat.birth().first),
      ranks_(seat.ranks()),
      start_(real_now()),
      ticks_per_ms_(measure_ticks_per_ms()),
      core_(ticks_per_ms_) {
  look_every_ = ticks_per_ms_ / 10;
}

Wire::~Wire() = default;

Result<std::unique_ptr<Wire>> Wire::join(launch::Seat& seat) {
  std::unique_ptr<Wire> wire(new Wire(seat));
  if (Status settled = wire->settle_in(); !settled) return std::move(settled).error();
  return wire;
}

Status Wire::settle_in() {
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return Error::run(std::string("epoll: ") + std::strerror(errno));
  if (Status found = find_kinds(); !found) return found;
  std::vector<ContactPlace> places;
  if (Status told = tell_places(places); !told) return told;
  if (Status opened = open_kinds(places); !opened) return opened;
  auto texts = seat_.exchange(own_address());
  if (!texts) return std::move(texts).error();
  std::vector<ContactAddress> addresses;
  for (const std::string& text : *texts) {
    auto address = parse_address(text);
    if (!address) return std::move(address).error();
    room_ = std::min(room_, address->room);
    addresses.push_back(*std::move(address));
  }
  if (Status made = make_peers(places, addresses); !made) return made;
  if (seat_.descriptor() >= 0) add_watch(epoll_, seat_.descriptor(), Watched::launcher(), false);
  return {};
}

Status Wire::find_kinds() {
  const std::span<const RailKindRow> rows = rail_kinds();
  const std::vector<std::string>& words = seat_.settings().rails;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    if (is_left_out(rows[i], words)) continue;
    const KindSetting setting{self_, seat_.secret(), seat_.settings(), words_for(rows[i], words),
                              own_folder()};
    auto found = rows[i].find(setting, *this);
    if (!found) return std::move(found).error();
    if (*found == nullptr) continue;
    (*found)->set_row(i);
    kinds_.push_back(*std::move(found));
  }
  return {};
}

Status Wire::tell_places(std::vector<ContactPlace>& places) {
  const launch::Settings& settings = seat_.settings();
  ContactPlace own;
  own.host = host_identity();
  own.name = host_name();
  own.processors = own_processors();
  own.rails.resize(rail_kinds().size());
  std::vector<locality::Interface> interfaces;
  for (const auto& kind : kinds_) {
    own.rails[kind->row()] = kind->place();
    const auto more = kind->interfaces();
    interfaces.insert(interfaces.end(), more.begin(), more.end());
  }
  // As the launcher found out, else as the system says.
  if (auto here = locality::parse_process_place(settings.places);
      here && !settings.places.empty()) {
    here_ = *std::move(here);
  } else if (const auto layout = locality::host_layout_from_sys("/sys")) {
    here_ = locality::find_process_place(*layout, interfaces);
  }
  auto texts = seat_.exchange(to_text(own));
  if (!texts) return std::move(texts).error();
  for (const std::string& text : *texts) {
    auto place = parse_place(text);
    if (!place) return std::move(place).error();
    if (place->rails.size() != own.rails.size()) return nonsense_from_peer("its kinds of rails");
    places.push_back(*std::move(place));
  }
  own_place_ = std::move(own);
  peers_.resize(first_ + places.size());
  return {};
}

// Rails of other kinds are opened only if a peer is not reached directly.
Status Wire::open_kinds(const std::vector<ContactPlace>& places) {
  Neighbourhood neighbourhood;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    if (places[i].host == own_place_.host) neighbourhood.ranks.push_back(first_ + i);
  }
  std::uint32_t per_peer = 0;
  for (const auto& kind : kinds_) {
    per_peer += kind->descriptors_per_peer();
    if (kind->direct()) direct_kinds_.push_back(kind.get());
  }
  const bool all_direct = neighbourhood.ranks.size() == places.size() && !seat_.birth().spans_hosts;
  if (!direct_kinds_.empty() && all_direct) {
    std::erase_if(kinds_, [](const auto& kind) { return !kind->direct(); });
  }
  RegionTable* table = nullptr;
  for (const auto& kind : kinds_) {
    if (Status opened = kind->open(neighbourhood); !opened) return opened;
    if (table == nullptr) table = kind->region_table();
  }
  if (table == nullptr) {
    own_table_ = std::make_unique<RegionTable>();
    table = own_table_.get();
  }
  regions_ = std::make_unique<Regions>(*table);
  share_out_descriptors(std::max<std::uint32_t>(per_peer, 1));
  return {};
}

// Divides the descriptors that are left, after a few for the program itself and for callers.
void Wire::share_out_descriptors(std::uint32_t per_peer) {
  std::uint32_t left = descriptors_left();
  std::uint32_t kept = std::clamp<std::uint32_t>(left / 6, 3, 8);
  for (const auto& kind : kinds_) kept = std::max(kept, kind->descriptors_for_callers());
  left -= std::min(left, kept);
  std::uint32_t wanted = 0;
  for (const RailKind* const kind : direct_kinds_) wanted += kind->descriptors_wanted();
  // Direct kinds can do without: connections come first where there are few.
  const bool all_direct = kinds_.size() == direct_kinds_.size();
  const std::uint32_t granted = std::min(wanted, all_direct  ? left
                                                 : left < 64 ? left / 8
                                                             : left / 3);
  for (RailKind* const kind : direct_kinds_) kind->grant_descriptors(granted);
  for (const auto& kind : kinds_) kind->keep_free(granted < wanted ? 3 : 0);
  room_ = (left - granted) / per_peer;
}

std::string Wire::own_address() const {
  ContactAddress own;
  own.room = room_;
  own.rails.resize(rail_kinds().size());
  for (const auto& kind : kinds_) own.rails[kind->row()] = kind->address();
  return to_text(own);
}

Status Wire::make_peers(const std::vector<ContactPlace>& places,
                        const std::vector<ContactAddress>& addresses) {
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const RankId rank(first_ + i);
    note_place(rank, places[i]);
    if (rank == self_) continue;
    if (Status made = make_peer(rank, places[i], addresses[i]); !made) return made;
  }
  return {};
}

void Wire::note_place(RankId rank, const ContactPlace& place) {
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  Peer& peer = peers_[rank.index];
  peer.node = nodes_.emplace(place.host, number).first->second;
  peer.host_name = place.name;
  peer.known = true;
  if (place.host != own_place_.host) return;
  ++processes_here_;
  if (const auto list = locality::parse_list(place.processors)) {
    processors_here_.insert(list->begin(), list->end());
  }
  crowded_ = processes_here_ > processors_here_.size();
}

Status Wire::meet(const Newcomer& newcomer) {
  const RankId rank = newcomer.rank;
  if (knows(rank)) return {};
  if (rank.index >= peers_.size()) peers_.resize(rank.index + 1);
  auto place = parse_place(newcomer.place);
  if (!place) return std::move(place).error();
  if (place->rails.size() != own_place_.rails.size())
    return nonsense_from_peer("its kinds of rails");
  auto address = parse_address(newcomer.address);
  if (!address) return std::move(address).error();
  note_place(rank, *place);
  if (newcomer.gone) {
    lose(rank, "its process has ended");
    return {};
  }
  return make_peer(rank, *place, *address);
}

// A direct kind that reaches the peer, else all others together.
Status Wire::make_peer(RankId rank, const ContactPlace& theirs, const ContactAddress& address) {
  const ContactPlace& own = own_place_;
  Peer& peer = peers_[rank.index];
  auto link =
      std::make_unique<Link>(rank, seat_.settings().lost_after, static_cast<LinkHost&>(*this));
  for (const auto& kind : kinds_) {
    const std::uint32_t row = kind->row();
    if (theirs.rails[row].empty() || row >= address.rails.size()) continue;
    const Meeting meeting{.peer = rank,
                          .same_host = own.host == theirs.host,
                          .together = rank.index - first_ < ranks_,
                          .own_name = own.name,
                          .peer_name = theirs.name,
                          .peer_place = theirs.rails[row],
                          .peer_address = address.rails[row]};
    const auto direct = kind->direct_rail(meeting);
    if (!direct) return Error(direct.error());
    if (*direct != nullptr) {
      peer.direct = *direct;
      peer.direct_kind = kind.get();
      return {};
    }
    if (Status added = kind->add_rails(meeting, *link, peer.trouble); !added) return added;
  }
  // Reported only if the program sends to this peer.
  if (!link->carries_frames()) return {};
  peer.trouble.clear();
  peer.link = std::move(link);
  return {};
}

}  // namespace weft::wire
