// SPDX-License-Identifier: Apache-2.0
// The real network of a process: shared memory to the others of its host, all rails to the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/call_lock.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/real/locality/places.hpp>
#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/core_watch.hpp>
#include <weft/real/wire/link.hpp>
#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

class Wire final : public Transport,
                   public Connections,
                   public Rails,
                   public Processor,
                   private LinkHost,
                   private KindHost {
 public:
  // Called by all ranks of the job. Connections are opened later, when they are needed.
  static Result<std::unique_ptr<Wire>> join(launch::Seat& seat);
  ~Wire() override;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Valid as long as the wire is.
  Fabric fabric();
  RankId self() const { return self_; }
  // Those that started together: from `first` on.
  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t first() const { return first_; }

  int rail_count(RankId peer) const override;
  RailFacts rail_facts(RankId peer, RailId rail) const override;
  void lower_rates(RankId peer, const std::byte* data, std::span<double> rates) const override;
  Time now() const override;
  void connect(RankId peer) override;
  void disconnect(RankId peer) override;
  bool connected(RankId peer) const override {
    const Link* const link = peers_[peer.index].link.get();
    return link == nullptr || link->up();
  }
  bool needs_connection(RankId peer) const override { return peers_[peer.index].link != nullptr; }
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId peer, std::uint64_t cookie) override;
  std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) override;
  void deregister_memory(std::uint64_t key) override;
  bool poll(Completion& out) override;
  void wait(Time until) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size) override;
  void enter_call() override;
  void leave_call() override;

  // From now on several threads use this object, one at a time: who holds the lock. A thread that
  // sleeps in wait() lets go of it meanwhile. An error: there is no descriptor left.
  Status share(CallLock& lock);
  // For a thread that stands in for the program: sleeps until there is something to poll, like
  // wait(), but does not poll first.
  void doze();

  // Ends in order: waits until all that was sent has arrived, or for `most`.
  void leave(Duration most);

  // Name of the interface or card; empty between processes of a host.
  std::string rail_name(RankId peer, RailId rail) const {
    const Link* const link = peers_[peer.index].link.get();
    return link == nullptr ? std::string() : link->name_of(rail);
  }
  // Another process of the job, which did not start together with this one: from now on it can be
  // reached. The texts are what it told those that did, in both rounds.
  struct Newcomer {
    RankId rank;
    std::string place, address;
    bool gone = false;  // It has ended.
  };
  Status meet(const Newcomer& newcomer);
  bool knows(RankId rank) const { return rank.index < peers_.size() && peers_[rank.index].known; }

  // The number of connections for which every process of the job has descriptors.
  std::uint32_t room() const { return room_; }
  const std::string& host_of(RankId rank) const { return peers_[rank.index].host_name; }
  const std::string& trouble_with(RankId rank) const { return peers_[rank.index].trouble; }
  std::uint32_t node_of(RankId rank) const { return peers_[rank.index].node; }

 private:
  struct Peer {
    // A direct rail or a link; neither for this process itself, or if no rail leads there.
    Rail* direct = nullptr;
    RailKind* direct_kind = nullptr;
    std::unique_ptr<Link> link;
    std::string host_name;
    std::string trouble;  // Why it cannot be reached.
    std::uint32_t node = 0;
    bool known = false;  // Otherwise nothing of this is.
    bool left = false;   // What is sent to it has no reader.
    bool lost_told = false;
  };
  explicit Wire(launch::Seat& seat);

  // join.cpp
  Status settle_in();
  Status find_kinds();
  Status tell_places(std::vector<ContactPlace>& places);
  Status open_kinds(const std::vector<ContactPlace>& places);
  void share_out_descriptors(std::uint32_t per_peer);
  std::string own_address() const;
  Status make_peers(const std::vector<ContactPlace>& places,
                    const std::vector<ContactAddress>& addresses);
  Status make_peer(RankId peer, const ContactPlace& theirs, const ContactAddress& address);
  void note_place(RankId rank, const ContactPlace& place);

  // LinkHost
  void tell(Completion&& completion) override { events_.push_back(std::move(completion)); }
  void lose(RankId peer, const std::string& reason) override;
  void watch(int descriptor, RankId peer, RailId rail, bool for_room) override;
  const Regions& regions() const override { return *regions_; }

  // KindHost
  void watch(const RailKind& kind, std::uint32_t token, int descriptor) override;
  bool accept_calls() const override { return !leaving_; }
  void part(RankId peer) override;

  Link& link_to(RankId peer);
  void send_kept();
  void tell_sent(RankId peer, std::uint64_t cookie);
  bool something_waits();
  bool poll_links(Completion& out);
  int look(int timeout_ms);  // The number of descriptors that were ready.
  void tend(Time now);
  void hear(std::uint64_t what, bool readable);
  void hear_launcher();
  int sleep_ms(Time until) const;
  void yield();
  void sleep(Time until);

  launch::Seat& seat_;
  RankId self_;
  std::uint32_t first_ = 0, ranks_ = 0;
  Time start_;
  std::unique_ptr<RegionTable> own_table_;  // If no kind has a place for it.
  std::unique_ptr<Regions> regions_;
  std::vector<std::unique_ptr<RailKind>> kinds_;  // In the order of the table.
  std::vector<Peer> peers_;                       // By rank.
  ContactPlace own_place_;
  std::map<std::string, std::uint32_t> nodes_;  // Numbers of hosts.
  std::set<int> processors_here_;               // Where the processes of this host may run,
  std::size_t processes_here_ = 0;              // and how many they are.
  std::vector<RailKind*> direct_kinds_;
  std::vector<Link*> links_;  // In use.
  Link* kept_ = nullptr;      // Has a frame that waits for the next one.
  locality::ProcessPlace here_;
  std::uint32_t room_ = 0;
  Descriptor epoll_;
  std::deque<Completion> events_;
  std::uint64_t last_look_ = 0, look_every_ = 0;
  std::uint64_t ticks_per_ms_ = 0;
  CoreWatch core_;
  Time last_tend_;
  bool crowded_ = false;  // More processes than cores.
  bool in_vain_ = false;  // The last sleep ended without any event.
  bool leaving_ = false;
  bool holding_ = false;  // There is data that the kernel has not got yet.
  bool let_go_ = false;
  CallLock* lock_ = nullptr;  // Null: one thread alone uses this object.
  Descriptor bell_;           // Of the lock.
  int sleepers_ = 0;
  bool answered_ = false;  // The launcher has answered since the last poll.
};

}  // namespace weft::wire
