// SPDX-License-Identifier: Apache-2.0
// Shared memory between the processes of a host: the segment that this process shows to the others,
// and a rail to each of them.
#include <algorithm>
#include <sstream>
#include <utility>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/shared_memory_rail.hpp>

namespace weft::wire {

namespace {

class SharedMemory final : public RailKind {
 public:
  SharedMemory(const KindSetting& setting, KindHost& host)
      : host_(host),
        self_(setting.self),
        single_copy_(setting.settings.single_copy),
        ancestor_(setting.settings.ancestor) {}

  std::string place() const override { return "shared"; }
  Status open(const Neighbourhood& neighbourhood) override;
  // One for its bell and one that tells of its end, for each peer. It can do without both.
  std::uint32_t descriptors_wanted() const override {
    return 2 * static_cast<std::uint32_t>(ranks_.size() - 1);
  }
  void grant_descriptors(std::uint32_t count) override {
    scarce_ = count < descriptors_wanted();
    descriptors_ = count;
  }
  std::string address() const override;

  bool direct() const override { return true; }
  Result<Rail*> direct_rail(const Meeting& meeting) override;
  bool poll(Completion& out) override;
  bool has_readable() override;
  bool spin() override;
  bool fall_asleep() override;
  void wake_up() override { segment_->head().sleeps.store(0, std::memory_order_relaxed); }
  void process_ended(RankId peer) override;
  void say_goodbye() override;
  bool owes() const override;
  RegionTable* region_table() override { return &segment_->head().regions; }

  void stir(std::uint32_t token) override;
  void look() override {
    if (guests_ > 0) release_guests();
  }
  int sleep_ms(int most) override;

 private:
  // Tokens: the bell, or the process of a peer.
  static constexpr std::uint32_t bell_token = 0;
  static std::uint32_t process_token(RankId peer) { return peer.index + 1; }
  void lose(SharedMemoryRail& rail);
  Result<Rail*> rail_to_guest(const Meeting& meeting, const SegmentAddress& address);
  Rail* add(std::unique_ptr<SharedMemoryRail> rail, bool watched);
  void release_guests();
  std::uint32_t ring_of(std::uint32_t rank) const {
    return static_cast<std::uint32_t>(std::find(ranks_.begin(), ranks_.end(), rank) -
                                      ranks_.begin());
  }

  KindHost& host_;
  RankId self_;
  bool single_copy_;
  std::string ancestor_;
  bool scarce_ = false;  // Descriptors.
  std::uint32_t descriptors_ = 0;
  std::vector<std::uint32_t> ranks_;
  std::unique_ptr<Segment> segment_;
  std::vector<std::unique_ptr<SharedMemoryRail>> rails_;
  std::size_t next_ = 0;    // The rail to be polled.
  std::size_t guests_ = 0;  // Rails to processes that did not start together with this one.
};

// Other ranks copy into our memory and out of it. Security modules have to be told that they may:
// those that descend from this process, or all of the user's where the launcher is not ours.
void allow_copies(const std::string& ancestor) {
  const auto process = parse_int(ancestor);
  ::prctl(PR_SET_PTRACER, process ? static_cast<unsigned long>(*process) : PR_SET_PTRACER_ANY, 0, 0,
          0);
}

Status SharedMemory::open(const Neighbourhood& neighbourhood) {
  ranks_ = neighbourhood.ranks;
  auto segment = Segment::make(static_cast<std::uint32_t>(ranks_.size()));
  if (!segment) return std::move(segment).error();
  segment_ = *std::move(segment);
  if (single_copy_ && ranks_.size() > 1) allow_copies(ancestor_);
  host_.watch(*this, bell_token, segment_->bell());
  return {};
}

std::string SharedMemory::address() const {
  std::ostringstream text;
  text << ::getpid() << ' ' << segment_->memory() << ' ' << segment_->bell_end();
  return text.str();
}

Result<Rail*> SharedMemory::direct_rail(const Meeting& meeting) {
  if (!meeting.same_host) return nullptr;
  SegmentAddress address;
  std::istringstream text(meeting.peer_address);
  if (!(text >> address.process >> address.memory >> address.bell)) {
    return nonsense_from_peer("its memory");
  }
  if (!meeting.together) return rail_to_guest(meeting, address);
  const SharedMemoryRail::Setting setting{.peer = meeting.peer,
                                          .segment = address,
                                          .own_place = ring_of(self_.index),
                                          .their_place = ring_of(meeting.peer.index),
                                          .places = static_cast<std::uint32_t>(ranks_.size()),
                                          .single_copy = single_copy_,
                                          .keep_bell = descriptors_ > 0};
  descriptors_ -= setting.keep_bell ? 1 : 0;
  auto rail =
      std::make_unique<SharedMemoryRail>(setting, segment_->inlet(setting.their_place), host_);
  // Later there may be no descriptor to do it with.
  if (scarce_) {
    if (Status reached = rail->reach(); !reached) return std::move(reached).error();
  }
  const bool watched = descriptors_ > 0;
  descriptors_ -= watched ? 1 : 0;
  return add(std::move(rail), watched);
}

// Without a descriptor for it, the launcher tells of the peer's end.
Rail* SharedMemory::add(std::unique_ptr<SharedMemoryRail> rail, bool watched) {
  rails_.push_back(std::move(rail));
  SharedMemoryRail& added = *rails_.back();
  if (!watched) return &added;
  added.watcher = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, added.process(), 0)));
  if (added.watcher) host_.watch(*this, process_token(added.peer()), added.watcher.get());
  return &added;
}

Result<Rail*> SharedMemory::rail_to_guest(const Meeting& meeting, const SegmentAddress& address) {
  auto inlet = segment_->make_guest_inlet(meeting.peer.index);
  if (!inlet) return std::move(inlet).error();
  if (single_copy_ && ranks_.size() == 1 && guests_ == 0) allow_copies(ancestor_);
  auto rail =
      std::make_unique<SharedMemoryRail>(SharedMemoryRail::Setting{.peer = meeting.peer,
                                                                   .segment = address,
                                                                   .single_copy = single_copy_,
                                                                   .keep_bell = !scarce_,
                                                                   .guest = self_.index},
                                         (*inlet)->inlet(), host_);
  rail->guest_inlet = *std::move(inlet);
  ++guests_;
  return add(std::move(rail), !scarce_);
}

// Processes that come and go would else take descriptors and memory for ever.
void SharedMemory::release_guests() {
  std::erase_if(rails_, [this](const std::unique_ptr<SharedMemoryRail>& rail) {
    const bool gone = rail->left() || rail->lost();
    if (rail->guest_inlet == nullptr || !gone || rail->waiting()) return false;
    rail->set_lost();
    rail->flush();  // Reports what nobody will read as sent.
    host_.part(rail->peer());
    rail->guest_inlet->empty(segment_->memory());
    --guests_;
    return true;
  });
}

bool SharedMemory::poll(Completion& out) {
  const std::size_t count = rails_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (next_ >= count) next_ = 0;
    SharedMemoryRail& rail = *rails_[next_];
    if (rail.next(out)) return true;
    if (rail.pending()) rail.flush();
    if (rail.broken()) lose(rail);
    ++next_;
  }
  return false;
}

bool SharedMemory::has_readable() {
  for (const auto& rail : rails_) {
    if (rail->pending()) rail->flush();
    if (rail->waiting()) return true;
  }
  return false;
}

bool SharedMemory::spin() {
  constexpr int rounds = 100;
  for (int i = 0; i < rounds; ++i) {
    for (const auto& rail : rails_) {
      if (rail->waiting()) return true;
    }
  }
  return false;
}

// A peer that puts something into a ring of ours sees that we sleep, or we see what it put there.
bool SharedMemory::fall_asleep() {
  segment_->head().sleeps.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return rail->waiting(); });
}

int SharedMemory::sleep_ms(int most) {
  const bool pending =
      std::any_of(rails_.begin(), rails_.end(), [](const auto& rail) { return rail->pending(); });
  if (pending) return std::min(most, 1);  // Nothing tells us when the ring has room again.
  return rails_.empty() ? most : std::min(most, 100);
}

void SharedMemory::stir(std::uint32_t token) {
  if (token == bell_token) {
    char sounds[64];
    while (::read(segment_->bell(), sounds, sizeof sounds) > 0) {
    }
    return;
  }
  for (const auto& rail : rails_) {
    if (process_token(rail->peer()) == token) lose(*rail);
  }
}

// Records that it sent before its end are read first. After a goodbye its end is no loss.
void SharedMemory::lose(SharedMemoryRail& rail) {
  if (rail.unread() && !rail.broken()) return;
  rail.watcher.close();
  rail.set_lost();
  if (!rail.left()) host_.lose(rail.peer(), "its process has ended");
}

void SharedMemory::process_ended(RankId peer) {
  for (const auto& rail : rails_) {
    if (rail->peer() != peer || rail->left()) continue;
    rail->set_lost();
    host_.lose(peer, "its process has ended");
  }
}

void SharedMemory::say_goodbye() {
  for (const auto& rail : rails_) {
    if (!rail->lost() && !rail->left()) rail->say_goodbye();
  }
}

bool SharedMemory::owes() const {
  return std::any_of(rails_.begin(), rails_.end(),
                     [](const auto& rail) { return !rail->lost() && rail->pending(); });
}

Result<std::unique_ptr<RailKind>> find_shared_memory(const KindSetting& setting, KindHost& host) {
  if (!setting.settings.shared_memory) return std::unique_ptr<RailKind>();
  return std::unique_ptr<RailKind>(std::make_unique<SharedMemory>(setting, host));
}

}  // namespace

extern const RailKindRow shared_memory_rails{
    .name = "shared memory",
    .claims = [](std::string_view) { return false; },
    .find = &find_shared_memory,
};

}  // namespace weft::wire
