// SPDX-License-Identifier: Apache-2.0
// The real network of a process: shared memory to the others of its host, all rails to the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/real/locality/places.hpp>
#include <weft/real/wire/card.hpp>
#include <weft/real/wire/core_watch.hpp>
#include <weft/real/wire/link.hpp>
#include <weft/real/wire/neighbour.hpp>

namespace weft::wire {

class Wire final : public Transport,
                   public Connections,
                   public Rails,
                   public Processor,
                   private LinkHost {
 public:
  // All ranks of the job make this call. Nothing is connected yet: that happens when it is needed.
  static Result<std::unique_ptr<Wire>> join(launch::Seat& seat);
  ~Wire() override;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Valid as long as the wire is.
  Fabric fabric();
  RankId self() const { return self_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(peers_.size()); }

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

  // Ends in order: waits until all that was sent has arrived, at most so long.
  void leave(Duration most);

  // Of the interface or card; empty between processes of a host.
  std::string rail_name(RankId peer, RailId rail) const {
    const Link* const link = peers_[peer.index].link.get();
    return link == nullptr ? std::string() : link->name_of(rail);
  }
  // Connections that every process of the job has descriptors for.
  std::uint32_t room() const { return room_; }
  const std::string& host_of(RankId rank) const { return peers_[rank.index].host_name; }
  const std::string& trouble_with(RankId rank) const { return peers_[rank.index].trouble; }
  std::uint32_t node_of(RankId rank) const { return peers_[rank.index].node; }

 private:
  struct Peer {
    std::unique_ptr<Neighbour> neighbour;
    std::unique_ptr<Link> link;
    std::string host_name, trouble;  // Why it cannot be reached.
    std::uint32_t node = 0;
    bool lost_told = false;
  };
  explicit Wire(launch::Seat& seat);

  // join.cpp
  Status settle_in();
  Status find_places(std::vector<PlaceCard>& places);
  Status open_doors(const PlaceCard& own, std::uint32_t neighbours);
  Status make_peers(const std::vector<PlaceCard>& places, const std::vector<ReachCard>& reaches);
  Status make_link(RankId peer, const PlaceCard& own, const PlaceCard& theirs,
                   const ReachCard& reach);
  void share_out_descriptors(std::uint32_t neighbours);
  std::string make_card() const;

  // LinkHost
  void tell(Completion&& completion) override { events_.push_back(std::move(completion)); }
  void lose(RankId peer, const std::string& reason) override;
  void watch(const Descriptor& socket, RankId peer, RailId rail, bool out) override;
  const Regions& regions() const override { return *regions_; }

  Link& link_to(RankId peer);
  void send_kept();
  void tell_sent(RankId peer, std::uint64_t cookie);
  bool something_waits();
  bool poll_neighbours(Completion& out);
  bool poll_links(Completion& out);
  int look(int timeout_ms);  // How many had something to say.
  void tend(Time now);
  void hear(std::uint64_t what, bool readable);
  void hear_seat();
  void open_door(std::size_t rail);
  void hear_caller(std::size_t slot);
  int sleep_ms(Time until) const;
  void sleep(Time until);
  void lose_neighbour(Neighbour& neighbour);
  void watch_cards();

  launch::Seat& seat_;
  RankId self_;
  Time start_;
  LinkSetting link_setting_;
  std::unique_ptr<Segment> segment_;
  std::unique_ptr<Regions> regions_;
  std::unique_ptr<Ofi> ofi_;  // Null: no RDMA.
  std::vector<Peer> peers_;
  std::vector<Neighbour*> neighbours_;
  std::size_t next_neighbour_ = 0;
  std::vector<Link*> links_;  // In use.
  Link* kept_ = nullptr;      // It has a frame that waits for another.
  std::vector<locality::Interface> rails_;
  locality::ProcessPlace here_;
  std::vector<Descriptor> doors_;  // By rail.
  Descriptor spare_;               // To turn callers away when there is no other.
  std::uint32_t near_room_ = 0;    // Descriptors for neighbours.
  std::uint32_t room_ = 0;
  std::vector<std::unique_ptr<Caller>> callers_;
  Descriptor epoll_;
  std::deque<Completion> events_;
  std::uint64_t last_look_ = 0, look_every_ = 0;
  std::uint64_t ticks_per_ms_ = 0;
  CoreWatch core_;
  Time last_tend_;
  bool crowded_ = false;  // More processes than cores.
  bool in_vain_ = false;  // The last sleep ended without news.
  bool leaving_ = false;
  bool holding_ = false;  // Data that could be in the kernel.
  bool let_go_ = false;
  std::vector<std::uint64_t> done_;
};

}  // namespace weft::wire
