// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/own_seat.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/real/launch/agent_protocol.hpp>
#include <weft/real/launch/business_cards.hpp>
#include <weft/real/launch/clock.hpp>
#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/notices.hpp>
#include <weft/real/launch/requests.hpp>
#include <weft/real/launch/seat_protocol.hpp>

namespace weft::launch {
namespace {

constexpr int welcome_ms_max = 60'000;
constexpr int abort_ms_max = 10'000;  // Time for the agent to kill us.

Error gone() {
  return {Broken::peer, "weft run is gone, or this program's agent"};
}

class OwnSeat final : public Seat {
 public:
  explicit OwnSeat(int socket) : socket_(socket) {}
  OwnSeat(const OwnSeat&) = delete;
  OwnSeat& operator=(const OwnSeat&) = delete;
  // Does not leave: a program that ends in the middle must not look as if it had finished.
  ~OwnSeat() override { ::close(socket_); }

  Status sit_down();

  std::uint32_t self() const override { return self_; }
  std::uint32_t ranks() const override { return ranks_; }
  const Secret& secret() const override { return secret_; }
  const Settings& settings() const override { return settings_; }
  bool by_weft_run() const override { return true; }
  Birth birth() const override { return birth_; }
  bool ask(const std::string& request, std::uint64_t& number) override;
  bool answered(std::uint64_t number, std::string& answer) override;
  Result<std::vector<std::string>> exchange(const std::string& card) override;
  int descriptor() const override { return notices_.descriptor(); }
  bool next_notice(Notice& out) override;
  void tell_resilience(Resilience now) override;
  bool others_leave() const override { return others_leave_; }
  void leave() override;
  [[noreturn]] void abort(int code, const std::string& message) override {
    end_job(code, false, message);
  }
  [[noreturn]] void abort_for_loss(int code, const std::string& message) override {
    end_job(code, true, message);
  }

 private:
  [[noreturn]] void end_job(int code, bool for_loss, const std::string& message);
  bool send(SeatPacket kind, std::string_view body) const;
  // Returns the next packet if it comes in time; -1 ms means no limit.
  Result<std::optional<std::string>> receive(int wait_ms);
  Status read_welcome(FieldReader& in);
  void handle(FieldReader& in, SeatPacket kind);
  void handle_end();

  const int socket_;
  std::uint32_t self_ = 0, ranks_ = 1;
  Secret secret_{};
  Settings settings_;
  Birth birth_;
  std::uint64_t round_ = 0, requests_ = 0;
  Mail mail_;
  std::map<std::uint64_t, std::string> answers_;
  bool left_ = false, ended_ = false;
  std::atomic<bool> others_leave_ = false;
  Notices notices_;
};

bool OwnSeat::send(SeatPacket kind, std::string_view body) const {
  std::string packet(1, static_cast<char>(kind));
  packet += body;
  for (;;) {
    if (::send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

Result<std::optional<std::string>> OwnSeat::receive(int wait_ms) {
  const Deadline deadline = wait_ms < 0 ? Deadline::never() : Deadline::in_ms(wait_ms);
  std::string packet(packet_size_max, '\0');
  for (;;) {
    pollfd readable = {socket_, POLLIN, 0};
    const int ready = ::poll(&readable, 1, deadline.left_ms());
    if (ready == 0) return std::optional<std::string>();
    if (ready < 0 && errno != EINTR) return gone();
    if (ready < 0) continue;
    const ssize_t size = ::recv(socket_, packet.data(), packet.size(), MSG_DONTWAIT);
    if (size > 0) {
      packet.resize(static_cast<std::size_t>(size));
      return std::optional(std::move(packet));
    }
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return gone();
  }
}

Status OwnSeat::read_welcome(FieldReader& in) {
  self_ = in.number_up_to(std::numeric_limits<std::uint32_t>::max());
  ranks_ = in.number_up_to(std::numeric_limits<std::uint32_t>::max());
  const std::string secret = in.text();
  auto settings = parse_settings(in.text());
  birth_ = read_birth(in);
  if (!in.whole() || self_ - birth_.first >= ranks_ || secret.size() != secret_.size())
    return Error(Broken::peer,
                 "weft run's agent speaks another version of the protocol: install weft again");
  std::memcpy(secret_.data(), secret.data(), secret.size());
  if (!settings) return std::move(settings).error();
  settings_ = *std::move(settings);
  return notices_.open(socket_);
}

Status OwnSeat::sit_down() {
  if (!send(SeatPacket::hello, "")) return gone();
  // A program that held this seat before may have left packets unread.
  for (const Deadline deadline = Deadline::in_ms(welcome_ms_max);;) {
    auto packet = receive(deadline.left_ms());
    if (!packet) return std::move(packet).error();
    if (!*packet) return Error(Broken::peer, "weft run's agent does not answer");
    FieldReader in(**packet);
    const auto kind = static_cast<SeatPacket>(in.byte());
    if (kind == SeatPacket::refused) return Error::run(in.text());
    if (kind == SeatPacket::welcome) return read_welcome(in);
  }
}

void OwnSeat::handle_end() {
  if (!ended_) notices_.add({Notice::Kind::end, 0});
  ended_ = true;
  notices_.forget_source();
}

void OwnSeat::handle(FieldReader& in, SeatPacket kind) {
  if (kind == SeatPacket::others_leave) others_leave_ = true;
  if (kind == SeatPacket::answer) {
    const CardPart part = read_card_part(in);
    if (!in.whole()) return;
    if (auto whole = mail_.add(part)) answers_[part.round] = *std::move(whole);
  }
  if (kind != SeatPacket::lost || left_) return;
  const std::uint32_t rank = in.number_up_to(std::numeric_limits<std::uint32_t>::max());
  if (in.whole()) notices_.add({Notice::Kind::lost, rank});
}

Result<std::vector<std::string>> OwnSeat::exchange(const std::string& card) {
  if (card.size() > card_size_max) return Error::call("a card is larger than 1 MiB");
  const std::uint64_t round = round_++;
  for (const CardPart& part : split_card(self_, round, card)) {
    FieldWriter out;
    write(out, part);
    if (!send(SeatPacket::card, out.take())) return gone();
  }
  CardCollector box(birth_.first, ranks_);
  while (!box.complete()) {
    auto packet = receive(-1);
    if (!packet) {
      handle_end();
      return std::move(packet).error();
    }
    FieldReader in(**packet);
    const auto kind = static_cast<SeatPacket>(in.byte());
    if (kind == SeatPacket::failed) return Error(Broken::peer, in.text());
    if (kind != SeatPacket::cards) {
      handle(in, kind);
      continue;
    }
    const CardPart part = read_card_part(in);
    if (!in.whole() || part.round != round)
      return Error(Broken::peer, "the ranks do not exchange equally often");
    if (Status added = box.add(part); !added) return std::move(added).error();
  }
  return box.take();
}

bool OwnSeat::next_notice(Notice& out) {
  while (!ended_) {
    auto packet = receive(0);
    if (!packet) {
      handle_end();
    } else if (!*packet) {
      break;
    } else {
      FieldReader in(**packet);
      handle(in, static_cast<SeatPacket>(in.byte()));
    }
  }
  return notices_.take(out);
}

bool OwnSeat::ask(const std::string& request, std::uint64_t& number) {
  if (request.size() > card_size_max) return false;
  number = requests_++;
  for (const CardPart& part : split_card(self_, number, request)) {
    FieldWriter out;
    write(out, part);
    if (!send(SeatPacket::request, out.take())) return false;
  }
  return true;
}

bool OwnSeat::answered(std::uint64_t number, std::string& answer) {
  const auto found = answers_.find(number);
  if (found == answers_.end()) return false;
  answer = std::move(found->second);
  answers_.erase(found);
  return true;
}

void OwnSeat::tell_resilience(Resilience now) {
  FieldWriter out;
  out.number(static_cast<std::uint32_t>(now));
  send(SeatPacket::resilience, out.take());
}

void OwnSeat::leave() {
  if (!left_) send(SeatPacket::leave, "");
  left_ = true;
}

void OwnSeat::end_job(int code, bool for_loss, const std::string& message) {
  FieldWriter out;
  out.number(static_cast<std::uint32_t>(code));
  out.number(for_loss ? 1 : 0);
  out.text(message.substr(0, packet_size_max / 2));
  if (send(SeatPacket::abort, out.take())) {
    // Others may still use our memory until they are killed, so we wait to be killed as well.
    for (const Deadline deadline = Deadline::in_ms(abort_ms_max); !deadline.passed();)
      if (!receive(deadline.left_ms())) break;
  }
  ::_exit(code);
}

}  // namespace

Result<std::unique_ptr<Seat>> take_own_seat() {
  const std::string text = variable(seat_variable).value_or("");
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
    return Error::input(std::string("variable ") + seat_variable + ": '" + text +
                        "' is not a descriptor");
  const int socket = static_cast<int>(*number);
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    return Error::run("descriptor " + text +
                      " does not lead to weft run: whatever started this program closed it; start "
                      "the program without that, or let it keep the descriptor in WEFT_SEAT");
  }
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  drop_variable(seat_variable);
  auto seat = std::make_unique<OwnSeat>(socket);
  if (Status seated = seat->sit_down(); !seated) return std::move(seated).error();
  return std::unique_ptr<Seat>(std::move(seat));
}

}  // namespace weft::launch
