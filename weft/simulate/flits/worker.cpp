// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/flits/worker.hpp"

#include <weft/base/check.hpp>
#include <weft/simulate/flits/pipeline.hpp>

namespace weft::flits {

void Worker::set_alarm(std::uint32_t node, std::int64_t at_ps) {
  const std::uint32_t place = node - first_node_;
  if (at_ps < alarms_.at(place)) alarms_.set(place, at_ps);
}

void Worker::send(const Outgoing& outgoing, Time now) {
  WEFT_CHECK(now.in_ps() >= now_ps_);
  const std::uint32_t message = cards_.make_message(outgoing, now);
  if (now.in_ps() == now_ps_)
    cards_.post(message);
  else
    posts_.emplace(now.in_ps(), message);  // Before the first run.
}

// Heads that wait for each other would ask in every cycle for ever. Once stages and slow links are
// over, nothing but what arrives lets them go on.
bool Worker::is_stuck(std::int64_t next) {
  if (next - state_.moved_at < state_.setup.timing.quiet_max) return false;
  if (news_ != nullptr && news_->next_arrival(next) != never) return false;
  return state_.flits.next(next) == never && state_.credits.next(next) == never;
}

// The next cycle in which something happens; never if there is none.
std::int64_t Worker::next_cycle() {
  const std::int64_t next = last_ + 1;
  if (!state_.active.empty() && !is_stuck(next)) return next;
  std::int64_t arrival = std::min(state_.flits.next(next), state_.credits.next(next));
  if (news_ != nullptr) {
    if (news_->busy()) return next;
    arrival = std::min(arrival, news_->next_arrival(next));
  }
  if (!cards_.busy()) return arrival;
  return std::min(arrival, std::max(next, cycle_from(now_ps_)));
}

void Worker::ring(std::uint32_t node) {
  const Time again = host_.alarm(state_.worker, state_.placement.nodes[node], Time::ps(now_ps_));
  WEFT_CHECK(again.in_ps() > now_ps_);
  if (again < Time::never()) set_alarm(node, again.in_ps());
}

// Alarms ring and messages are sent, at one moment.
void Worker::act_until(std::int64_t now_ps) {
  now_ps_ = now_ps;
  while (!posts_.empty() && posts_.begin()->first <= now_ps) {
    cards_.post(posts_.begin()->second);
    posts_.erase(posts_.begin());
  }
  while (alarms_.first_at() <= now_ps) ring(first_node_ + alarms_.pop());
}

void Worker::step(std::int64_t cycle) {
  last_ = state_.now = cycle;
  now_ps_ = state_.now_ps();
  const std::uint32_t router_vcs = state_.router_vcs();
  const bool buffered = state_.setup.is_buffered();
  if (!state_.credits.due(cycle).empty() || !state_.flits.due(cycle).empty() ||
      (news_ != nullptr && news_->arrives(cycle)))
    state_.moved_at = cycle;
  for (const CreditArrival& credit : state_.credits.due(cycle)) {
    if (credit.output >= router_vcs)
      cards_.take_credit(credit);
    else if (buffered)
      take_link_credit(state_, credit);
    else
      take_credit(state_, credit);
  }
  state_.credits.clear(cycle);
  for (const FlitArrival& flit : state_.flits.due(cycle)) {
    if (flit.input < router_vcs)
      take_flit(state_, flit);
    else if (flit.input < state_.first_queue())
      cards_.take_flit(flit);
    else
      take_queued_flit(state_, flit);
  }
  state_.flits.clear(cycle);
  if (news_ != nullptr) news_->take_arrivals();
  act_until(now_ps_);
  cards_.serve();
  state_.active.each([&](std::uint32_t router) { work(state_, router); });
  if (news_ != nullptr) news_->act();
}

std::int64_t Worker::play(std::int64_t end_ps) {
  for (;;) {
    const std::int64_t cycle = next_cycle();
    const std::int64_t step_ps = cycle_at_ps(cycle), act_ps = next_act_ps();
    const std::int64_t next_ps = std::min(step_ps, act_ps);
    if (next_ps >= end_ps || !state_.failure.text.empty()) return next_ps;
    if (act_ps < step_ps)
      act_until(act_ps);
    else
      step(cycle);
  }
}

void Worker::end_window(std::int64_t end_ps) {
  last_ = std::max(last_, cycle_from(end_ps) - 1);
}

void Worker::read_mail(Worker& from, int side) {
  Mailbox& box = from.state_.mail.box(side, state_.worker);
  std::size_t packets = 0;
  for (const FlitMail& mail : box.flits) {
    std::uint32_t packet = none;
    if (mail.head) {
      packet = state_.packets.make();
      state_.packets[packet] = box.packets[packets++];
    }
    state_.flits.push(mail.at, {mail.input, packet, mail.head, false});
  }
  for (const CreditMail& mail : box.credits) state_.credits.push(mail.at, mail.credit);
  for (const NewsArrival& news : box.news) news_->receive(news);
  for (const std::uint32_t message : box.messages) cards_.free_message(message);
  box.clear();
}

}  // namespace weft::flits
