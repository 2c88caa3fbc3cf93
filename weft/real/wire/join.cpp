// SPDX-License-Identifier: Apache-2.0
// How a process finds the others of its job and makes itself known.
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

#include <weft/real/locality/number_list.hpp>
#include <weft/real/locality/pairing.hpp>
#include <weft/real/locality/sys_machine.hpp>
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

// More processes than processors, among those of one host.
bool is_crowded(const std::vector<PlaceCard>& places, const std::string& host) {
  std::set<int> processors;
  std::size_t count = 0;
  for (const PlaceCard& place : places) {
    if (place.host != host) continue;
    ++count;
    if (const auto list = locality::parse_list(place.processors)) {
      processors.insert(list->begin(), list->end());
    }
  }
  return count > processors.size();
}

// Where the library lies that this code is in, and its plugins.
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
      start_(real_now()),
      ticks_per_ms_(measure_ticks_per_ms()),
      core_(ticks_per_ms_) {
  link_setting_.self = self_;
  link_setting_.secret = seat.secret();
  link_setting_.lost_after = seat.settings().lost_after;
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
  std::vector<PlaceCard> places;
  if (Status found = find_places(places); !found) return found;
  const PlaceCard& own = places[self_.index];
  const auto neighbours = static_cast<std::uint32_t>(
      std::count_if(places.begin(), places.end(),
                    [&](const PlaceCard& place) { return place.host == own.host; }));
  if (Status opened = open_doors(own, neighbours); !opened) return opened;
  spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  share_out_descriptors(neighbours);
  auto cards = seat_.exchange(make_card());
  if (!cards) return std::move(cards).error();
  std::vector<ReachCard> reaches;
  for (const std::string& text : *cards) {
    auto reach = parse_reach(text);
    if (!reach) return std::move(reach).error();
    room_ = std::min(room_, reach->room);
    reaches.push_back(*std::move(reach));
  }
  if (Status made = make_peers(places, reaches); !made) return made;
  crowded_ = is_crowded(places, own.host);
  if (seat_.descriptor() >= 0) add_watch(epoll_, seat_.descriptor(), Watched::seat(), false);
  add_watch(epoll_, segment_->bell(), Watched::bell(), false);
  return {};
}

Status Wire::find_places(std::vector<PlaceCard>& places) {
  const launch::Settings& settings = seat_.settings();
  PlaceCard own;
  own.host = host_identity();
  own.name = host_name();
  own.processors = own_processors();
  own.shares_memory = settings.shared_memory;
  std::vector<std::string> wishes = settings.rails;
  std::erase_if(wishes, &is_ofi_wish);
  own.named = !wishes.empty();
  auto ofi = Ofi::find(settings.rails, own_folder());
  if (!ofi) return std::move(ofi).error();
  ofi_ = *std::move(ofi);
  if (ofi_ != nullptr) own.cards = ofi_->places();
  auto interfaces = locality::read_interfaces();
  if (!interfaces) return std::move(interfaces).error();
  auto rails = locality::choose_rails(*interfaces, wishes);
  if (!rails) return std::move(rails).error();
  own.rails = *std::move(rails);
  // What the launcher found out, else what the system says.
  if (auto here = locality::parse_process_place(settings.places);
      here && !settings.places.empty()) {
    here_ = *std::move(here);
  } else if (const auto machine = locality::machine_from_sys("/sys")) {
    here_ = locality::find_process_place(*machine, own.rails);
  }
  constexpr std::size_t most = 64;
  if (own.rails.size() > most) own.rails.resize(most);
  auto cards = seat_.exchange(to_text(own));
  if (!cards) return std::move(cards).error();
  for (const std::string& text : *cards) {
    auto place = parse_place(text);
    if (!place) return std::move(place).error();
    places.push_back(*std::move(place));
  }
  peers_.resize(places.size());
  return {};
}

// Listens only where somebody on another host (or without shared memory) may call.
Status Wire::open_doors(const PlaceCard& own, std::uint32_t neighbours) {
  auto segment = Segment::make(neighbours);
  if (!segment) return std::move(segment).error();
  segment_ = *std::move(segment);
  regions_ = std::make_unique<Regions>(segment_->head().regions);
  // Neighbours copy into our memory; where a security module asks, it is told.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  rails_ = own.rails;
  const bool all_near = neighbours == peers_.size() && own.shares_memory;
  for (std::size_t i = 0; i < rails_.size() && !all_near; ++i) {
    auto door = listen_on(rails_[i]);
    if (!door) return std::move(door).error();
    add_watch(epoll_, door->get(), Watched::door(i), false);
    doors_.push_back(*std::move(door));
  }
  if (all_near) ofi_.reset();
  if (ofi_ == nullptr) return {};
  if (Status opened = ofi_->open(); !opened) return opened;
  watch_cards();
  return {};
}

// What is open at all times is counted; some are left to the program.
void Wire::share_out_descriptors(std::uint32_t neighbours) {
  std::uint32_t left = descriptors_left();
  left -= std::min(left, std::clamp<std::uint32_t>(left / 6, 3, 8));
  // A neighbour may have two, but can do without: others come first where there are few.
  const std::uint32_t wanted = 2 * (neighbours - 1);
  near_room_ = std::min(wanted, doors_.empty() ? left : left < 64 ? left / 8 : left / 3);
  if (near_room_ < wanted) link_setting_.keep_free = 3;
  const auto rails = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(rails_.size()));
  room_ = (left - near_room_) / rails;
}

std::string Wire::make_card() const {
  ReachCard card;
  card.room = room_;
  card.neighbour = {::getpid(), segment_->memory(), segment_->bell_end()};
  for (const Descriptor& door : doors_) {
    const auto port = port_of(door);
    card.ports.push_back(port ? *port : std::uint16_t{0});
  }
  if (ofi_ != nullptr) card.cards = ofi_->addresses();
  return to_text(card);
}

Status Wire::make_peers(const std::vector<PlaceCard>& places,
                        const std::vector<ReachCard>& reaches) {
  const PlaceCard& own = places[self_.index];
  std::map<std::string, std::uint32_t> nodes;
  std::vector<std::uint32_t> near;  // Ranks of this host.
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    const auto number = static_cast<std::uint32_t>(nodes.size());
    peers_[rank].node = nodes.emplace(places[rank].host, number).first->second;
    peers_[rank].host_name = places[rank].name;
    if (places[rank].host == own.host) near.push_back(rank);
  }
  const auto place_of = [&](std::uint32_t rank) {
    return static_cast<std::uint32_t>(std::find(near.begin(), near.end(), rank) - near.begin());
  };
  const auto own_place = place_of(self_.index);
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    if (rank == self_.index) continue;
    const bool same = places[rank].host == own.host;
    if (!same || !own.shares_memory) {
      if (Status made = make_link(RankId(rank), own, places[rank], reaches[rank]); !made) {
        return made;
      }
      continue;
    }
    const Neighbour::Setting setting{.peer = RankId(rank),
                                     .card = reaches[rank].neighbour,
                                     .own_place = own_place,
                                     .their_place = place_of(rank),
                                     .places = static_cast<std::uint32_t>(near.size()),
                                     .single_copy = seat_.settings().single_copy,
                                     .keep_bell = near_room_ > 0};
    near_room_ -= setting.keep_bell ? 1 : 0;
    Peer& peer = peers_[rank];
    peer.neighbour = std::make_unique<Neighbour>(setting, *segment_, *regions_);
    neighbours_.push_back(peer.neighbour.get());
    // Later there may be no descriptor to do it with.
    if (link_setting_.keep_free > 0) {
      if (Status reached = peer.neighbour->reach(); !reached) return reached;
    }
    // Without one, the launcher tells of its end.
    if (near_room_ == 0) continue;
    --near_room_;
    peer.neighbour->watcher =
        Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, setting.card.process, 0)));
    if (peer.neighbour->watcher) {
      add_watch(epoll_, peer.neighbour->watcher.get(), Watched::neighbour(RankId(rank)), false);
    }
  }
  return {};
}

Status Wire::make_link(RankId peer, const PlaceCard& own, const PlaceCard& theirs,
                       const ReachCard& reach) {
  const locality::Meeting meeting{.same_host = own.host == theirs.host,
                                  .named = own.named && theirs.named};
  const auto pairs = locality::pair_rails(own.rails, theirs.rails, meeting);
  std::vector<Link::Route> routes;
  for (const locality::RailPair& pair : pairs) {
    if (pair.theirs >= reach.ports.size() || reach.ports[pair.theirs] == 0) continue;
    routes.push_back(
        {own.rails[pair.mine], theirs.rails[pair.theirs].address, reach.ports[pair.theirs]});
  }
  if (routes.empty()) {
    // Only who talks with it needs to know.
    peers_[peer.index].trouble =
        locality::no_rail_text({own.name, own.rails}, {theirs.name, theirs.rails});
    return {};
  }
  peers_[peer.index].link =
      std::make_unique<Link>(link_setting_, peer, std::move(routes), static_cast<LinkHost&>(*this));
  if (ofi_ == nullptr) return {};
  std::vector<OfiLanes::Route> lanes;
  for (const locality::RailPair& pair : pair_places(own.cards, theirs.cards)) {
    if (pair.theirs >= reach.cards.size()) continue;
    OfiCard& card = ofi_->card(pair.mine);
    if (!card.is_open() || reach.cards[pair.theirs].empty()) continue;
    lanes.push_back({&card, reach.cards[pair.theirs]});
  }
  // Connections between cards that were not asked for are for frames.
  const bool alone = !own.named && !seat_.settings().rails.empty();
  peers_[peer.index].link->add_lanes(*ofi_, std::move(lanes), alone);
  return {};
}

}  // namespace weft::wire
