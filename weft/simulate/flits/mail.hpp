// SPDX-License-Identifier: Apache-2.0
// Mail from a worker to others: flits, credits and news for their routers, and messages that they
// made and that have been delivered. What is written in a window is read after it. There are two
// sides, so that one barrier for each window is enough: a fast worker writes one while a slow one
// still reads the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/simulate/flits/packet.hpp>

namespace weft::flits {

struct FlitMail {
  std::int64_t at;
  std::uint32_t input;
  bool head;  // Its packet is the next of Mailbox::packets.
};
struct CreditMail {
  std::int64_t at;
  CreditArrival credit;
};

struct Mailbox {
  std::vector<FlitMail> flits;
  std::vector<Packet> packets;
  std::vector<CreditMail> credits;
  std::vector<NewsArrival> news;
  std::vector<std::uint32_t> messages;

  void clear() {
    flits.clear();
    packets.clear();
    credits.clear();
    news.clear();
    messages.clear();
  }
};

class Mail {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  explicit Mail(int workers) {
    for (std::vector<Mailbox>& side : boxes_) side.resize(static_cast<std::size_t>(workers));
  }

  // From now on mail goes to this side, which is empty.
  void begin(int side) {
    side_ = side;
    first_at_ = never;
  }
  // A packet that has its head here goes with it.
  void send_flit(int to, std::int64_t at, std::uint32_t input, const Packet* packet) {
    Mailbox& box = box_for(to, at);
    box.flits.push_back({at, input, packet != nullptr});
    if (packet != nullptr) box.packets.push_back(*packet);
  }
  void send_credit(int to, std::int64_t at, const CreditArrival& credit) {
    box_for(to, at).credits.push_back({at, credit});
  }
  void send_news(int to, const NewsArrival& news) {
    box_for(to, news.item.at).news.push_back(news);
  }
  // The message was delivered: whoever made it may use its record again.
  void return_message(int to, std::uint32_t message) {
    box_for(to, never).messages.push_back(message);
  }

  // The first cycle that matters in what was written since begin().
  std::int64_t first_at() const { return first_at_; }
  Mailbox& box(int side, int reader) {
    return boxes_[static_cast<std::size_t>(side)][static_cast<std::size_t>(reader)];
  }

 private:
  Mailbox& box_for(int to, std::int64_t at) {
    first_at_ = std::min(first_at_, at);
    return box(side_, to);
  }

  int side_ = 0;
  std::int64_t first_at_ = never;
  std::vector<Mailbox> boxes_[2];  // By reader.
};

}  // namespace weft::flits
