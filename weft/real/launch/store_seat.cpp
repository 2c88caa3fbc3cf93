// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/store_seat.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <weft/real/launch/business_cards.hpp>
#include <weft/real/launch/frame.hpp>

namespace weft::launch {
namespace {

constexpr int abort_ms_max = 10'000;  // Time for the launcher to kill us.

class StoreSeat final : public Seat {
 public:
  explicit StoreSeat(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  Status sit_down();

  std::uint32_t self() const override { return store_->self(); }
  std::uint32_t ranks() const override { return store_->ranks(); }
  const Secret& secret() const override { return secret_; }
  const Settings& settings() const override { return settings_; }
  Result<std::vector<std::string>> exchange(const std::string& card) override;
  int descriptor() const override { return store_->descriptor(); }
  bool next_notice(Notice& out) override { return !left_ && store_->next_notice(out); }
  void leave() override;
  [[noreturn]] void abort(int code, const std::string& message) override;

 private:
  Status put_card(const std::string& card);
  Result<std::string> get_card(std::uint32_t rank);
  std::string key(std::uint32_t rank, std::size_t part) const {
    return "weft-" + std::to_string(round_) + "-" + std::to_string(rank) + "-" +
           std::to_string(part);
  }

  const std::unique_ptr<Store> store_;
  Secret secret_{};
  Settings settings_;
  std::uint64_t round_ = 0;
  bool left_ = false;
};

// The first value of a card starts with the card's size.
constexpr std::size_t head_size = 8;

Status StoreSeat::put_card(const std::string& card) {
  FieldWriter head;
  head.number(card.size());
  const std::string whole = head.take() + card;
  const std::size_t step = store_->value_size_max();
  for (std::size_t part = 0; part * step < whole.size(); ++part) {
    const Status put = store_->put(key(self(), part), whole.substr(part * step, step));
    if (!put) return Error(put.error());
  }
  return {};
}

Result<std::string> StoreSeat::get_card(std::uint32_t rank) {
  auto whole = store_->get(rank, key(rank, 0));
  if (!whole) return whole;
  FieldReader head(std::string_view(*whole).substr(0, head_size));
  const std::uint64_t size = head.number();
  const Error broken(Broken::peer, "the card of rank " + std::to_string(rank) + " is malformed");
  if (!head.whole() || size > card_size_max) return broken;
  for (std::size_t part = 1; whole->size() < head_size + size; ++part) {
    auto more = store_->get(rank, key(rank, part));
    if (!more) return more;
    if (more->empty()) return broken;
    *whole += *more;
  }
  if (whole->size() != head_size + size) return broken;
  return whole->substr(head_size);
}

Result<std::vector<std::string>> StoreSeat::exchange(const std::string& card) {
  if (card.size() > card_size_max) return Error::call("a card is larger than 1 MiB");
  if (Status put = put_card(card); !put) return std::move(put).error();
  if (Status met = store_->barrier(); !met) return std::move(met).error();
  std::vector<std::string> cards;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    auto got = get_card(rank);
    if (!got) return std::move(got).error();
    cards.push_back(*std::move(got));
  }
  ++round_;
  return cards;
}

Status StoreSeat::sit_down() {
  auto settings = settings_from_environment();
  if (!settings) return std::move(settings).error();
  settings_ = *std::move(settings);
  const auto size = static_cast<ssize_t>(secret_.size());
  if (self() == 0 && ::getrandom(secret_.data(), secret_.size(), 0) != size)
    return Error::run("the system gives no random numbers for the job's secret");
  const std::string own(reinterpret_cast<const char*>(secret_.data()), secret_.size());
  auto all = exchange(self() == 0 ? own : "");
  if (!all) return std::move(all).error();
  if (all->front().size() != secret_.size())
    return Error(Broken::peer, "rank 0 gives no secret: does every rank have the same weft?");
  std::memcpy(secret_.data(), all->front().data(), secret_.size());
  return {};
}

void StoreSeat::leave() {
  if (!left_) store_->leave();
  left_ = true;
}

void StoreSeat::abort(int code, const std::string& message) {
  store_->abort(code, message);
  if (!left_) ::poll(nullptr, 0, abort_ms_max);
  ::_exit(code);
}

}  // namespace

Result<std::unique_ptr<Seat>> take_store_seat(std::unique_ptr<Store> store) {
  auto seat = std::make_unique<StoreSeat>(std::move(store));
  if (Status seated = seat->sit_down(); !seated) return std::move(seated).error();
  return std::unique_ptr<Seat>(std::move(seat));
}

}  // namespace weft::launch
