// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/base/check.hpp>
#include <weft/message/conn/window.hpp>

namespace weft::conn {

std::size_t SendWindow::size_of(const Message& message, std::uint32_t number, std::size_t chunk) {
  const std::size_t offset = std::size_t{number - message.first} * chunk;
  return std::min(chunk, message.data.size - offset);
}

void SendWindow::add(Message&& message, std::size_t chunk) {
  message.first = made_;
  message.chunks =
      static_cast<std::uint32_t>(std::max<std::size_t>((message.data.size + chunk - 1) / chunk, 1));
  made_ += message.chunks;
  messages_.push_back(std::move(message));
}

bool SendWindow::can_send(const Options& options) const {
  if (cursor_ >= messages_.size()) return false;
  if (sent_ == acked_) return true;
  return sent_ - acked_ < options.pair_frames &&
         under_way_ + next_size(options.chunk) <= options.pair_window;
}

std::size_t SendWindow::next_size(std::size_t chunk) const {
  return size_of(messages_[cursor_], sent_, chunk);
}

Packet SendWindow::send(std::size_t chunk, Head& head) {
  const Message& message = messages_[cursor_];
  const std::size_t offset = std::size_t{sent_ - message.first} * chunk;
  const std::size_t size = size_of(message, sent_, chunk);
  const bool is_last = sent_ - message.first + 1 == message.chunks;
  const std::byte* const data = message.data.data;
  head.is_write = message.is_write;
  head.has_data = data != nullptr;
  head.control = message.control;
  head.urgent = message.urgent && is_last;
  head.number = sent_;
  head.total = message.data.size;
  head.offset = offset;
  head.key = message.place.key;
  head.place = message.place.offset;
  Packet packet = Packet::make(message.inner, {data == nullptr ? nullptr : data + offset, size});
  under_way_ += size;
  ++sent_;
  if (is_last) ++cursor_;
  return packet;
}

std::vector<SendWindow::Message> SendWindow::acknowledged(std::uint32_t number, std::size_t chunk) {
  std::vector<Message> through;
  // A number that was never given comes from no rank of ours.
  if (!before(acked_, number) || before(made_, number)) return through;
  for (; acked_ != number; ++acked_) {
    Message& message = messages_.front();
    if (before(acked_, sent_)) under_way_ -= size_of(message, acked_, chunk);
    if (acked_ - message.first + 1 != message.chunks) continue;
    through.push_back(std::move(message));
    messages_.pop_front();
    if (cursor_ > 0) --cursor_;
  }
  if (before(sent_, acked_)) sent_ = acked_;  // It was about to go again.
  return through;
}

std::uint32_t SendWindow::repeat() {
  const std::uint32_t again = sent_ - acked_;
  sent_ = acked_;
  cursor_ = 0;
  under_way_ = 0;
  return again;
}

bool ReceiveWindow::accept(std::uint32_t number) {
  if (before(number, next_) || early_.contains(number)) return false;
  if (number != next_) {
    early_.insert(number);
    return true;
  }
  do ++next_;
  while (early_.erase(next_) > 0);
  return true;
}

std::optional<Control> ReceiveWindow::next_control() {
  const auto first = std::min_element(controls_.begin(), controls_.end(),
                                      [](auto& a, auto& b) { return before(a.number, b.number); });
  if (first == controls_.end() || !before(first->number, next_)) return std::nullopt;
  const Control control = first->control;
  controls_.erase(first);
  return control;
}

}  // namespace weft::conn
