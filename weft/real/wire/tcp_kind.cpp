// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <map>
#include <sstream>
#include <utility>

#include <fcntl.h>

#include <weft/real/locality/pairing.hpp>
#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/tcp_kind.hpp>
#include <weft/real/wire/tcp_rail.hpp>

namespace weft::wire {

namespace {

constexpr Duration caller_limit = Duration::ms(5000);
constexpr std::size_t most_callers = 256;  // That have not proved anything yet.
constexpr std::size_t most_interfaces = 48;

// What a process tells of its TCP rails.
struct TcpPlace {
  bool named = false;  // They were asked for by name.
  std::vector<locality::Interface> interfaces;
};

std::string to_text(const TcpPlace& place) {
  return (place.named ? "named\n" : "found\n") + locality::to_text(place.interfaces);
}

Result<TcpPlace> parse_place(const std::string& text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  TcpPlace place;
  place.named = text.substr(0, line) == "named";
  auto interfaces = locality::parse_interfaces(text.substr(std::min(line + 1, text.size())));
  if (!interfaces) return std::move(interfaces).error();
  place.interfaces = *std::move(interfaces);
  return place;
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
      : host_(host), own_(std::move(place)) {
    setting_.self = setting.self.index;
    setting_.secret = setting.secret;
    setting_.lost_after = setting.settings.lost_after;
  }

  std::string place() const override { return to_text(own_); }
  Status open(const Neighbourhood&) override;
  std::uint32_t descriptors_per_peer() const override {
    return static_cast<std::uint32_t>(own_.interfaces.size());
  }
  void keep_free(std::uint32_t descriptors) override { setting_.keep_free = descriptors; }
  std::string address() const override;
  Status add_rails(const Meeting& meeting, Link& link, std::string& trouble) override;
  std::span<const locality::Interface> interfaces() const override { return own_.interfaces; }

  void stir(std::uint32_t token) override;
  void tend(Time now) override;
  bool needs_tending() const override { return !callers_.empty(); }
  void close() override { listeners_.clear(); }

 private:
  // Tokens: a listener by its number, a caller by its slot.
  static constexpr std::uint32_t caller_token = 0x8000'0000;
  void accept_on(std::size_t listener);
  void hear_caller(std::size_t slot);

  KindHost& host_;
  TcpSetting setting_;
  TcpPlace own_;
  std::vector<Descriptor> listeners_;  // By interface.
  Descriptor spare_;                   // To turn callers away when there is no other.
  std::vector<std::unique_ptr<Caller>> callers_;
  struct Peer {
    Link* link = nullptr;
    std::vector<TcpRail*> rails;
  };
  std::map<std::uint32_t, Peer> peers_;
};

Status TcpKind::open(const Neighbourhood&) {
  for (std::size_t i = 0; i < own_.interfaces.size(); ++i) {
    auto listener = listen_on(own_.interfaces[i]);
    if (!listener) return std::move(listener).error();
    host_.watch(*this, static_cast<std::uint32_t>(i), listener->get());
    listeners_.push_back(*std::move(listener));
  }
  spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return {};
}

std::string TcpKind::address() const {
  std::ostringstream text;
  for (const Descriptor& listener : listeners_) {
    const auto port = port_of(listener);
    text << (port ? *port : std::uint16_t{0}) << ' ';
  }
  return text.str();
}

Status TcpKind::add_rails(const Meeting& meeting, Link& link, std::string& trouble) {
  const auto theirs = parse_place(meeting.peer_place);
  if (!theirs) return Error(theirs.error());
  const auto ports = parse_ports(meeting.peer_address);
  if (!ports) return Error(ports.error());
  Peer& peer = peers_[meeting.peer.index];
  peer.link = &link;
  const auto pairs =
      locality::pair_rails(own_.interfaces, theirs->interfaces,
                           {.same_host = meeting.same_host, .named = own_.named && theirs->named});
  for (const locality::RailPair& pair : pairs) {
    if (pair.theirs >= ports->size() || (*ports)[pair.theirs] == 0) continue;
    auto rail = std::make_unique<TcpRail>(
        setting_,
        TcpRail::Route{own_.interfaces[pair.mine], theirs->interfaces[pair.theirs].address,
                       (*ports)[pair.theirs], static_cast<std::uint32_t>(peer.rails.size())},
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

void TcpKind::stir(std::uint32_t token) {
  if ((token & caller_token) != 0) {
    hear_caller(token & ~caller_token);
  } else if (token < listeners_.size()) {
    accept_on(token);
  }
}

void TcpKind::tend(Time now) {
  for (auto& caller : callers_) {
    if (caller != nullptr && now - caller->since() > caller_limit) caller.reset();
  }
}

void TcpKind::accept_on(std::size_t listener) {
  for (;;) {
    Descriptor socket = accept_from(listeners_[listener]);
    const std::uint32_t keep = setting_.keep_free;
    if (socket && keep > 0 && descriptors_left() + 1 < keep) {
      socket.close();  // A peer of ours tries again.
      continue;
    }
    if (!socket && (errno == EMFILE || errno == ENFILE)) {
      // The caller would wait for ever, and we would hear of it again and again.
      spare_.close();
      socket = accept_from(listeners_[listener]);
      socket.close();
      spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    if (!socket) return;
    auto slot = std::find(callers_.begin(), callers_.end(), nullptr);
    if (slot == callers_.end()) {
      if (callers_.size() >= most_callers) return;  // Closes it: a peer of ours tries again.
      slot = callers_.insert(callers_.end(), nullptr);
    }
    const auto index = static_cast<std::uint32_t>(slot - callers_.begin());
    *slot = std::make_unique<Caller>(std::move(socket), setting_.secret, host_.now());
    host_.watch(*this, caller_token | index, (*slot)->socket().get());
  }
}

void TcpKind::hear_caller(std::size_t slot) {
  if (slot >= callers_.size() || callers_[slot] == nullptr) return;
  const Step step = callers_[slot]->advance();
  if (step == Step::wait) return;
  const std::unique_ptr<Caller> caller = std::move(callers_[slot]);
  if (step == Step::failed) return;
  const Claim& claim = caller->claim();
  const auto found = peers_.find(claim.from);
  if (claim.to != setting_.self || found == peers_.end() || found->second.rails.empty()) return;
  const Peer& peer = found->second;
  const bool possible =
      host_.accept_calls() && claim.rail < peer.rails.size() && !peer.link->lost();
  const Verdict verdict = possible ? peer.rails[claim.rail]->judge(claim) : Verdict::taken;
  if (!caller->answer(verdict) || verdict != Verdict::welcome) return;
  peer.rails[claim.rail]->admit(caller->take(), claim, host_.now());
  host_.connect(RankId(claim.from));
}

}  // namespace

Result<std::unique_ptr<RailKind>> find_tcp_rails(const KindSetting& setting, KindHost& host) {
  auto interfaces = locality::read_interfaces();
  if (!interfaces) return std::move(interfaces).error();
  auto chosen = locality::choose_rails(*interfaces, setting.wishes);
  if (!chosen) return std::move(chosen).error();
  TcpPlace place{!setting.wishes.empty(), *std::move(chosen)};
  if (place.interfaces.size() > most_interfaces) place.interfaces.resize(most_interfaces);
  return std::unique_ptr<RailKind>(std::make_unique<TcpKind>(setting, std::move(place), host));
}

}  // namespace weft::wire
