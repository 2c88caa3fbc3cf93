// SPDX-License-Identifier: Apache-2.0
// RDMA rails, driven through libfabric. They only write into memory; keys and notices go over rails
// that carry frames. What a peer's RDMA rails have in common is in ofi_lanes.hpp.
#include <sstream>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/ofi.hpp>
#include <weft/real/wire/ofi_lanes.hpp>
#include <weft/real/wire/ofi_places.hpp>
#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

namespace {

class OfiRail;

// The RDMA rails to one peer, which share what is known of its memory.
class OfiPeer final : private LaneHost {
 public:
  OfiPeer(Ofi& ofi, std::vector<OfiLanes::Route> routes, LinkRailHost& host)
      : host_(host), lanes_(ofi, std::move(routes), static_cast<LaneHost&>(*this)) {}

  OfiLanes& lanes() { return lanes_; }
  void add(OfiRail& rail) { rails_.push_back(&rail); }

 private:
  void send_control(const Record& record, const std::string& data) override {
    host_.send_control(record, data);
  }
  void tell_lane(std::size_t lane, Completion::Kind kind, std::uint64_t cookie) override;
  Time clock() const override { return host_.now(); }

  LinkRailHost& host_;
  std::vector<OfiRail*> rails_;
  OfiLanes lanes_;
};

// One of them. The first sees to what all of them have in common.
class OfiRail final : public LinkRail {
 public:
  OfiRail(std::shared_ptr<OfiPeer> peer, std::size_t lane, bool exclusive, LinkRailHost& host)
      : LinkRail(host, false), peer_(std::move(peer)), lane_(lane), exclusive_(exclusive) {
    peer_->add(*this);
  }

  std::string name() const override { return lanes().domain(lane_); }
  RailCost cost() const override { return {lanes().speed(lane_), {}}; }
  bool exclusive() const override { return exclusive_; }
  void open(Time) override {}  // Comes up by itself, as soon as a rail that carries frames is.
  void send(const Frame&) override { WEFT_CHECK(false); }
  void forward(Outgoing&&) override { WEFT_CHECK(false); }
  bool poll(Completion&, Arrival&) override { return false; }
  bool write(const RemoteWrite& write) override {
    return lanes().write(lane_, write.payload, write.target, write.notice, write.cookie);
  }

  void tend(Time now) override {
    if (first()) lanes().tend(now);
  }
  bool outstanding() const override { return first() && lanes().busy(); }
  bool owes() const override { return outstanding(); }
  void end() override {
    if (first()) lanes().end();
  }
  void share(std::uint64_t region, std::byte* data, std::size_t size) override {
    if (first()) lanes().share(region, data, size);
  }
  void doubt(std::uint64_t region) override {
    if (first()) lanes().doubt(region);
  }
  std::uint64_t revoked(std::uint64_t region) const override {
    return first() ? lanes().revoked(region) : 0;
  }
  void revoke(std::uint64_t region, std::uint64_t rails) override {
    if (first()) lanes().revoke(region, rails);
  }
  void hear(const Record& record, const std::byte* data) override {
    if (first()) lanes().hear(record, data);
  }

  void tell(Completion::Kind kind, std::uint64_t cookie) {
    if (kind == Completion::Kind::rail_up) follow(RailEvent::ready);
    if (kind == Completion::Kind::rail_down) follow(RailEvent::broken);
    host().report(*this, kind, cookie);
  }

 private:
  bool first() const { return lane_ == 0; }
  OfiLanes& lanes() const { return peer_->lanes(); }

  std::shared_ptr<OfiPeer> peer_;
  std::size_t lane_;
  bool exclusive_;
};

void OfiPeer::tell_lane(std::size_t lane, Completion::Kind kind, std::uint64_t cookie) {
  rails_[lane]->tell(kind, cookie);
}

class OfiKind final : public RailKind {
 public:
  OfiKind(std::unique_ptr<Ofi> ofi, const KindSetting& setting, KindHost& host)
      : host_(host),
        ofi_(std::move(ofi)),
        self_(setting.self),
        protect_(setting.settings.protect),
        exclusive_(!setting.wishes.empty() &&
                   setting.wishes.size() == setting.settings.rails.size()) {}

  std::string place() const override { return to_text(ofi_->places()); }
  Status open(const Neighbourhood&) override {
    if (Status opened = ofi_->open(); !opened) return opened;
    watch_cards();
    return {};
  }
  std::string address() const override { return pack_texts(ofi_->addresses()); }
  Status add_rails(const Meeting& meeting, Link& link, std::string& trouble) override;

  void look() override {
    if (ofi_->poll()) watch_cards();
  }
  int sleep_ms(int most) override { return ofi_->sleep_ms(most); }
  void close_memory(std::uint64_t region) override { ofi_->unshare(region); }
  void close() override { ofi_->report(self_); }

 private:
  Status check_protection(const OfiPlace& place, const Meeting& meeting) const;
  void watch_cards() {
    for (const int descriptor : ofi_->descriptors()) host_.watch(*this, 0, descriptor);
  }

  KindHost& host_;
  std::unique_ptr<Ofi> ofi_;
  RankId self_;
  launch::Protect protect_;
  // Only RDMA rails were asked for: connections are for frames.
  bool exclusive_;
};

// Cards do without; what libfabric sends through the kernel would be the only TCP traffic that is
// open to everybody on the way.
Status OfiKind::check_protection(const OfiPlace& place, const Meeting& meeting) const {
  if (is_hardware(place.provider) || !launch::protects(protect_, meeting.same_host)) return {};
  return Error::run("rail ofi:" + place.provider + ":" + place.domain + " to rank " +
                    std::to_string(meeting.peer.index) + " on host " + meeting.peer_name +
                    " cannot be protected: use other rails, or say --protect off "
                    "(WEFT_PROTECT=off) if you trust the network");
}

Status OfiKind::add_rails(const Meeting& meeting, Link& link, std::string&) {
  std::istringstream text(meeting.peer_place);
  auto theirs = read_places(text);
  if (!theirs) return std::move(theirs).error();
  auto addresses = unpack_texts(meeting.peer_address);
  if (!addresses) return std::move(addresses).error();
  std::vector<OfiLanes::Route> routes;
  for (const locality::RailPair& pair : pair_places(ofi_->places(), *theirs)) {
    if (pair.theirs >= addresses->size()) continue;
    OfiCard& card = ofi_->card(pair.mine);
    if (!card.is_open() || (*addresses)[pair.theirs].empty()) continue;
    if (Status may = check_protection(card.place(), meeting); !may) return may;
    routes.push_back({&card, (*addresses)[pair.theirs]});
  }
  if (routes.empty()) return {};
  const std::size_t count = routes.size();
  const auto peer = std::make_shared<OfiPeer>(*ofi_, std::move(routes), link);
  for (std::size_t i = 0; i < count; ++i) {
    link.add(std::make_unique<OfiRail>(peer, i, exclusive_, link));
  }
  return {};
}

Result<std::unique_ptr<RailKind>> find_libfabric(const KindSetting& setting, KindHost& host) {
  auto ofi = Ofi::find(setting.settings.rails, setting.library_folder);
  if (!ofi) return std::move(ofi).error();
  if (*ofi == nullptr) return std::unique_ptr<RailKind>();
  return std::unique_ptr<RailKind>(std::make_unique<OfiKind>(*std::move(ofi), setting, host));
}

}  // namespace

extern const RailKindRow libfabric_rails{
    .name = "libfabric",
    .example = "ofi:tcp:lo",
    .words = "ofi:PROVIDER (RDMA)",
    .claims = &is_ofi_rail_name,
    .find = &find_libfabric,
    .carries_frames = false,
    .everywhere = false,
};

}  // namespace weft::wire
