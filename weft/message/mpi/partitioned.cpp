// SPDX-License-Identifier: Apache-2.0
#include "partitioned.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

namespace {

using Traffic = Communicator::Traffic;

// Awaits a request of the message layer, which is kept.
struct Done {
  mp::Request* low;
  bool await_ready() const { return low->done; }
  void await_suspend(std::coroutine_handle<> waiter) const { low->waiter = waiter; }
  void await_resume() const {}
};

// Releases a finished request; returns its error.
int conclude(Process& process, mp::Request*& low) {
  mp::Request* const ended = std::exchange(low, nullptr);
  const int error = ended->failed              ? MPI_ERR_PROC_FAILED
                    : ended->arrival.truncated ? MPI_ERR_TRUNCATE
                                               : MPI_SUCCESS;
  process.messenger.release(ended);
  return error;
}

}  // namespace

Partitions::Partitions(Process& of, const PartitionedArguments& arguments)
    : process(of), transfer(arguments.transfer), partitions(arguments.partitions) {
  transfer.type->retain();
}

// An offer that nobody has answered is withdrawn.
Partitions::~Partitions() {
  if (offering) {
    if (!offering->done) process.messenger.cancel(offering);
    process.messenger.release(offering);
  }
  Datatype::release(transfer.type);
}

bool Partitions::contiguous(int several) const {
  return transfer.type->contiguous(transfer.count * several);
}

std::size_t Partitions::size() const {
  return static_cast<std::size_t>(transfer.count) * static_cast<std::size_t>(transfer.type->size());
}

// Computed with integers, as the base may be null.
void* Partitions::place(int partition) const {
  const auto offset = transfer.type->extent() * transfer.count * partition;
  const auto base = reinterpret_cast<std::uintptr_t>(transfer.buffer);
  return reinterpret_cast<void*>(base + static_cast<std::uintptr_t>(offset));
}

std::byte* Partitions::data_of(int partition) const {
  const auto offset = static_cast<std::uintptr_t>(transfer.type->true_lower_bound());
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(place(partition)) + offset);
}

std::string Partitions::describe_peer(const char* what, std::vector<RankId>* on) const {
  if (on && !to_nobody()) on->push_back(transfer.comm->peers()[transfer.peer]);
  return what + std::to_string(transfer.peer) + " with tag " + std::to_string(transfer.tag);
}

// Tags are taken in turn: when all have been used, those of the first sends are free again.
PartitionedSend::PartitionedSend(Process& of, const PartitionedArguments& arguments)
    : Partitions(of, arguments), parts_(static_cast<std::size_t>(arguments.partitions)) {
  if (to_nobody()) return;
  constexpr std::uint32_t tags_end = 1U << 30;
  const auto count = static_cast<std::uint32_t>(partitions);
  if (process.partition_tags > tags_end - std::min(count, tags_end)) process.partition_tags = 0;
  offer = {process.partition_tags, count, size()};
  process.partition_tags += count;
  mp::Sending sending;
  sending.to = transfer.comm->peers()[transfer.peer];
  sending.context = transfer.comm->context_of(Traffic::offers);
  sending.source = transfer.comm->rank;
  sending.tag = transfer.tag;
  sending.data = &offer;
  sending.size = sizeof offer;
  sending.internal = true;
  offering = process.messenger.send(sending);
}

PartitionedSend::~PartitionedSend() = default;

std::string PartitionedSend::describe(std::vector<RankId>* on) const {
  if (waiter_) return "partition " + std::to_string(awaited_) + " to become ready (MPI_Pready)";
  return describe_peer("a partitioned send to rank ", on);
}

mp::Task PartitionedSend::start() {
  for (Part& part : parts_) part = {};
  return round();
}

struct PartitionedSend::Ready {
  PartitionedSend& send;
  std::size_t partition;
  bool await_ready() const { return send.parts_[partition].ready; }
  void await_suspend(std::coroutine_handle<> waiter) const {
    send.awaited_ = partition;
    send.waiter_ = waiter;
  }
  void await_resume() const {}
};

mp::Task PartitionedSend::round() {
  int error = MPI_SUCCESS;
  if (to_nobody()) co_return error;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    co_await Ready{*this, i};
    co_await Done{parts_[i].low};
    error = std::max(error, conclude(process, parts_[i].low));
    parts_[i].staging.reset();
  }
  if (offering) {
    co_await Done{offering};
    error = std::max(error, conclude(process, offering));
  }
  co_return error;
}

void PartitionedSend::set_ready(int partition) {
  const auto index = static_cast<std::size_t>(partition);
  Part& part = parts_[index];
  part.ready = true;
  if (to_nobody()) return;
  mp::Sending sending;
  sending.to = transfer.comm->peers()[transfer.peer];
  sending.context = transfer.comm->context_of(Traffic::partitions);
  sending.source = transfer.comm->rank;
  sending.tag = static_cast<int>(offer.first_tag) + partition;
  sending.size = size();
  sending.tuning = process.tuning;
  if (contiguous(1)) {
    sending.data = data_of(partition);
  } else {
    process.fabric.processor.copy(nullptr, nullptr, size());
    if (process.fabric.carries_data) {
      part.staging = std::make_unique_for_overwrite<std::byte[]>(size());
      transfer.type->pack(place(partition), transfer.count, 0, {part.staging.get(), size()});
    }
    sending.data = part.staging.get();
  }
  part.low = process.messenger.send(sending);
  if (waiter_ && awaited_ == index) {
    process.messenger.resume_later(std::exchange(waiter_, {}));
  }
}

PartitionedReceive::PartitionedReceive(Process& of, const PartitionedArguments& arguments)
    : Partitions(of, arguments), unpacked_(static_cast<std::size_t>(arguments.partitions)) {
  shown_.kind = Request::Kind::receive;
  shown_.active = true;
  shown_.transfer = transfer;
  shown_.transfer.count = transfer.count * partitions;
  if (to_nobody()) return;
  mp::Receiving receiving;
  receiving.context = transfer.comm->context_of(Traffic::offers);
  receiving.source = transfer.peer;
  receiving.from = transfer.comm->peers()[transfer.peer];
  receiving.tag = transfer.tag;
  receiving.data = &offer;
  receiving.size = sizeof offer;
  receiving.internal = true;
  offering = process.messenger.receive(receiving);
}

PartitionedReceive::~PartitionedReceive() = default;

std::string PartitionedReceive::describe(std::vector<RankId>* on) const {
  return describe_peer(known_ ? "partitions from rank " : "a partitioned send from rank ", on);
}

mp::Task PartitionedReceive::start() {
  posted_ = false;
  std::fill(unpacked_.begin(), unpacked_.end(), false);
  return round();
}

mp::Task PartitionedReceive::take_offer(int& error) {
  co_await Done{offering};
  error = conclude(process, offering);
  known_ = error == MPI_SUCCESS;
  co_return 0;
}

// A receive for each partition of the sender.
void PartitionedReceive::post() {
  const std::size_t all = offer.partitions * offer.size;
  if (!contiguous(partitions) && process.fabric.carries_data) {
    staging_ = std::make_unique_for_overwrite<std::byte[]>(all);
  }
  std::byte* const base = contiguous(partitions) ? data_of(0) : staging_.get();
  mp::Receiving receiving;
  receiving.context = transfer.comm->context_of(Traffic::partitions);
  receiving.source = transfer.peer;
  receiving.from = transfer.comm->peers()[transfer.peer];
  receiving.size = offer.size;
  parts_.clear();
  for (std::uint32_t i = 0; i < offer.partitions; ++i) {
    receiving.tag = static_cast<int>(offer.first_tag + i);
    receiving.data = base ? base + i * offer.size : nullptr;
    parts_.push_back(process.messenger.receive(receiving));
  }
  posted_ = true;
}

mp::Task PartitionedReceive::round() {
  int error = MPI_SUCCESS;
  if (to_nobody()) co_return error;
  if (!known_ && offering) {
    mp::Task taken = take_offer(error);
    co_await taken;
  }
  if (!known_) co_return error == MPI_SUCCESS ? MPI_ERR_PROC_FAILED : error;
  const std::size_t sent = offer.partitions * offer.size;
  shown_.arrival = {transfer.peer, transfer.tag, sent, false, false};
  if (sent > size() * static_cast<std::size_t>(partitions)) co_return MPI_ERR_TRUNCATE;
  post();
  for (mp::Request*& part : parts_) {
    co_await Done{part};
    error = std::max(error, conclude(process, part));
  }
  for (int i = 0; i < partitions && error == MPI_SUCCESS; ++i) unpack(i);
  staging_.reset();
  co_return error;
}

void PartitionedReceive::unpack(int partition) {
  const auto index = static_cast<std::size_t>(partition);
  if (unpacked_[index]) return;
  unpacked_[index] = true;
  const std::size_t all = offer.partitions * offer.size;
  const std::size_t from = index * size();
  if (contiguous(partitions) || from >= all) return;
  const std::size_t bytes = std::min(size(), all - from);
  process.fabric.processor.copy(nullptr, nullptr, bytes);
  if (!staging_) return;
  transfer.type->unpack(place(partition), transfer.count, 0,
                        std::span<const std::byte>(staging_.get() + from, bytes));
}

bool PartitionedReceive::has_arrived(int partition) {
  const auto index = static_cast<std::size_t>(partition);
  if (to_nobody() || unpacked_[index]) return true;
  if (!posted_) return false;
  // The sender's partitions that share bytes with this one.
  const std::size_t from = index * size();
  const std::size_t to = from + size();
  if (offer.size > 0 && to > from) {
    const std::size_t last = std::min<std::size_t>((to - 1) / offer.size + 1, parts_.size());
    for (std::size_t i = from / offer.size; i < last; ++i) {
      if (parts_[i] && !parts_[i]->done) return false;
    }
  }
  unpack(partition);
  return true;
}

}  // namespace weft::mpi
