// SPDX-License-Identifier: Apache-2.0
// The TCP rails of a process: its interfaces, and the sockets that listen there.
#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <weft/real/locality/pairing.hpp>
#include <weft/real/wire/callers.hpp>
#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/rail_kinds.hpp>
#include <weft/real/wire/tcp_rail.hpp>

namespace weft::wire {

namespace {

constexpr std::size_t most_interfaces = 48;

// What a process tells of its TCP rails.
struct TcpPlace {
  bool named = false;  // They were asked for by name.
  launch::Protect protect = launch::Protect::on;
  bool aes = false;  // It has instructions for AES.
  std::vector<locality::Interface> interfaces;
};

std::string to_text(const TcpPlace& place) {
  return std::string(place.named ? "named " : "found ") +
         std::string(launch::to_text(place.protect)) + (place.aes ? " aes" : "") + "\n" +
         locality::to_text(place.interfaces);
}

Result<TcpPlace> parse_place(const std::string& text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  std::istringstream first(text.substr(0, line));
  std::string how, protect, aes;
  first >> how >> protect >> aes;
  const auto protection = launch::parse_protect(protect);
  if (!protection) return nonsense_from_peer("its protection");
  auto interfaces = locality::parse_interfaces(text.substr(std::min(line + 1, text.size())));
  if (!interfaces) return std::move(interfaces).error();
  return TcpPlace{how == "named", *protection, aes == "aes", *std::move(interfaces)};
}

Result<std::vector<std::uint16_t>> parse_ports(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::uint16_t> ports;
  for (std::uint16_t port = 0; in >> port;) ports.push_back(port);
  if (!in.eof() || ports.size() > most_interfaces) return nonsense_from_peer("its ports");
  return ports;
}

class TcpKind final : public RailKind {
 public:
  TcpKind(const KindSetting& setting, TcpPlace place, KindHost& host)
      : host_(host), own_(std::move(place)), callers_(*this, host, setting.secret) {
    setting_.self = setting.self.index;
    setting_.secret = setting.secret;
    setting_.lost_after = setting.settings.lost_after;
  }

  std::string place() const override { return to_text(own_); }
  Status open(const Neighbourhood&) override;
  std::uint32_t descriptors_per_peer() const override {
    return static_cast<std::uint32_t>(own_.interfaces.size());
  }
  std::uint32_t descriptors_for_callers() const override { return callers_.places(); }
  void keep_free(std::uint32_t descriptors) override {
    setting_.keep_free = descriptors;
    callers_.keep_free(descriptors);
  }
  std::string address() const override;
  Status add_rails(const Meeting& meeting, Link& link, std::string& trouble) override;
  std::span<const locality::Interface> interfaces() const override { return own_.interfaces; }

  void stir(std::uint32_t token) override;
  void look() override {
    if (!strangers_.empty()) meet_strangers();
    std::erase_if(proved_, [this](const auto& caller) { return answer(*caller); });
  }
  int sleep_ms(int most) override { return proved_.empty() ? most : std::min(most, 1); }
  void close() override {
    callers_.close();
    proved_.clear();
    strangers_.clear();
  }

 private:
  bool answer(Caller& caller);
  void await_verdict(std::unique_ptr<Caller> caller);
  void meet_strangers();
  Error differs_in_protection(const Meeting& meeting, launch::Protect theirs) const;

  KindHost& host_;
  TcpSetting setting_;
  TcpPlace own_;
  Callers callers_;  // Its listeners are in the order of the interfaces.
  std::vector<std::unique_ptr<Caller>> proved_;  // They await the verdict.
  // Processes of the job that this one has not been told of yet, and since when they wait.
  struct Stranger {
    std::unique_ptr<Caller> caller;
    Time since;
  };
  std::vector<Stranger> strangers_;
  struct Peer {
    Link* link = nullptr;
    std::vector<TcpRail*> rails;
  };
  std::map<std::uint32_t, Peer> peers_;
};

Status TcpKind::open(const Neighbourhood&) {
  std::vector<Descriptor> listeners;
  for (const locality::Interface& interface : own_.interfaces) {
    auto listener = listen_on(interface);
    if (!listener) return std::move(listener).error();
    listeners.push_back(*std::move(listener));
  }
  return callers_.open(std::move(listeners), 0);
}

std::string TcpKind::address() const {
  std::ostringstream text;
  for (const Descriptor& listener : callers_.listeners()) {
    const auto port = port_of(listener);
    text << (port ? *port : std::uint16_t{0}) << ' ';
  }
  return text.str();
}

Error TcpKind::differs_in_protection(const Meeting& meeting, launch::Protect theirs) const {
  return Error::run("rank " + std::to_string(meeting.peer.index) + " on host " + meeting.peer_name +
                    " has protection " + std::string(launch::to_text(theirs)) + ", rank " +
                    std::to_string(setting_.self) + " on host " + meeting.own_name + " has " +
                    std::string(launch::to_text(own_.protect)) +
                    ": set WEFT_PROTECT to the same for all ranks");
}

Status TcpKind::add_rails(const Meeting& meeting, Link& link, std::string& trouble) {
  const auto theirs = parse_place(meeting.peer_place);
  if (!theirs) return Error(theirs.error());
  if (theirs->protect != own_.protect) return differs_in_protection(meeting, theirs->protect);
  const auto ports = parse_ports(meeting.peer_address);
  if (!ports) return Error(ports.error());
  Peer& peer = peers_[meeting.peer.index];
  peer.link = &link;
  const auto pairs =
      locality::pair_rails(own_.interfaces, theirs->interfaces,
                           {.same_host = meeting.same_host, .named = own_.named && theirs->named});
  for (const locality::Interface& interface : theirs->interfaces) callers_.know(interface.address);
  const Cipher cipher = !launch::protects(own_.protect, meeting.same_host) ? Cipher::none
                        : own_.aes && theirs->aes                          ? Cipher::aes256_gcm
                                                  : Cipher::chacha20_poly1305;
  for (const locality::RailPair& pair : pairs) {
    if (pair.theirs >= ports->size() || (*ports)[pair.theirs] == 0) continue;
    auto rail = std::make_unique<TcpRail>(
        setting_,
        TcpRail::Route{own_.interfaces[pair.mine], theirs->interfaces[pair.theirs].address,
                       (*ports)[pair.theirs], static_cast<std::uint32_t>(peer.rails.size()),
                       cipher},
        link);
    peer.rails.push_back(rail.get());
    link.add(std::move(rail));
  }
  if (peer.rails.empty()) {
    trouble = locality::no_rail_text({meeting.own_name, own_.interfaces},
                                     {meeting.peer_name, theirs->interfaces});
  }
  return {};
}

// A call may overtake the last words on the connection before it, and its end: these come first.
void TcpKind::stir(std::uint32_t) {
  while (auto caller = callers_.next()) {
    const Claim& claim = caller->claim();
    if (claim.to != setting_.self) continue;
    if (peers_.contains(claim.from)) {
      await_verdict(std::move(caller));
    } else {
      strangers_.push_back({std::move(caller), host_.now()});
    }
  }
}

void TcpKind::await_verdict(std::unique_ptr<Caller> caller) {
  const Claim& claim = caller->claim();
  const Peer& peer = peers_.at(claim.from);
  if (claim.rail >= peer.rails.size()) return;
  peer.link->stir(RailId(peer.rails[claim.rail]->index()), true, host_.now());
  proved_.push_back(std::move(caller));
}

// One that came later may know this process before it is known here. It is turned away in the end,
// and calls again.
void TcpKind::meet_strangers() {
  const Time now = host_.now();
  std::erase_if(strangers_, [&](Stranger& stranger) {
    if (!peers_.contains(stranger.caller->claim().from))
      return now - stranger.since > setting_.lost_after / 4;
    await_verdict(std::move(stranger.caller));
    return true;
  });
}

// false: not yet.
bool TcpKind::answer(Caller& caller) {
  const Claim& claim = caller.claim();
  const Peer& peer = peers_.at(claim.from);
  TcpRail& rail = *peer.rails[claim.rail];
  const bool possible = host_.accept_calls() && !peer.link->lost();
  if (possible && !peer.link->may_reconnect(RailId(rail.index()))) return false;
  const Verdict verdict = possible ? rail.judge(claim) : Verdict::taken;
  if (!caller.answer(verdict) || verdict != Verdict::welcome) return true;
  rail.admit(caller.take(), claim, caller.keys(), host_.now());
  host_.connect(RankId(claim.from));
  return true;
}

Result<std::unique_ptr<RailKind>> find_tcp(const KindSetting& setting, KindHost& host) {
  auto interfaces = locality::read_interfaces();
  if (!interfaces) return std::move(interfaces).error();
  auto chosen = locality::choose_rails(*interfaces, setting.wishes);
  if (!chosen) return std::move(chosen).error();
  TcpPlace place{!setting.wishes.empty(), setting.settings.protect,
                 best_cipher() == Cipher::aes256_gcm, *std::move(chosen)};
  if (place.interfaces.size() > most_interfaces) place.interfaces.resize(most_interfaces);
  return std::unique_ptr<RailKind>(std::make_unique<TcpKind>(setting, std::move(place), host));
}

}  // namespace

extern const RailKindRow tcp_rails{
    .name = "tcp",
    .example = "127.0.0.1",
    .words = "names, addresses or subnets of interfaces",
    .find = &find_tcp,
};

}  // namespace weft::wire
