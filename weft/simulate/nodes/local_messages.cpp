// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/message/port/copy_stretch.hpp>
#include <weft/simulate/nodes/local_messages.hpp>
#include <weft/simulate/nodes/machinery.hpp>
#include <weft/simulate/nodes/rank.hpp>

namespace weft {

namespace {

Bytes bytes_of(std::size_t size) {
  return Bytes{static_cast<std::int64_t>(size)};
}

}  // namespace

bool LocalMessages::reach(RankId peer) const {
  const Machinery& machinery = rank_.machinery_of();
  return peer != rank_.self() && machinery.node_of(peer) == machinery.node_of(rank_.self());
}

void LocalMessages::spend_on_sending(std::size_t size) {
  const NodeModel& node = rank_.machinery_of().setup.node;
  rank_.spend_in_mpi(node.local.send_overhead + node.local_copy_extra(bytes_of(size)));
}

void LocalMessages::spend_on_receiving(std::size_t size) {
  const NodeModel& node = rank_.machinery_of().setup.node;
  rank_.spend_in_mpi(node.local.receive_overhead + node.local_copy_extra(bytes_of(size)));
}

// One half of the cache holds what is read, the other what is written.
bool LocalMessages::finds_in_cache(const std::byte* target, std::size_t size) {
  const auto cache = static_cast<std::uint64_t>(rank_.machinery_of().setup.node.cache.count);
  if (cache == 0 || target == nullptr) return true;
  constexpr std::size_t known_max = 4096;
  if (written_at_ == nullptr) written_at_ = std::make_unique<WriteTimes>();
  if (written_at_->size() > known_max) written_at_->clear();
  const auto [known, fresh] = written_at_->try_emplace(target, written_);
  const bool cached = !fresh && (written_ - known->second) * 2 <= cache;
  known->second = written_;
  written_ += size;
  return cached;
}

bool LocalMessages::writes(RankId peer, Parcel* parcel) {
  if (rank_.machinery_of().setup.node.local.write_times.empty()) return false;
  if (peer != rank_.self() && !reach(peer)) return false;
  peer == rank_.self() ? write_to_self(parcel) : write(parcel);
  return true;
}

void LocalMessages::write_to_self(Parcel* parcel) {
  Machinery& machinery = rank_.machinery_of();
  if (parcel->source != nullptr && parcel->target != nullptr)
    std::memmove(parcel->target, parcel->source, parcel->size);
  parcel->source = nullptr;
  const NodeModel& node = machinery.setup.node;
  const Bytes size = bytes_of(parcel->size);
  const bool cached = finds_in_cache(parcel->target, parcel->size);
  const Duration alone = cached
                             ? node.copy_time(size)
                             : std::max(node.copy_time(size), serialise(size, node.uncached_rate));
  const Machinery::CopyWork work{parcel->size, alone, cached && node.cache.count > 0};
  rank_.spend_in_mpi(machinery.copy_end(rank_.self(), rank_.now(), work) - rank_.now());
  rank_.settle();
  const RankId self = rank_.self();
  machinery.report_sent(self, self, parcel->cookie, rank_.now());
  machinery.hand_over_locally(parcel, rank_.now() + machinery.local_latency(self, self, 0));
}

// The data moves at once: nobody looks at it before the notice.
void LocalMessages::write(Parcel* parcel) {
  Machinery& machinery = rank_.machinery_of();
  rank_.spend_in_mpi(machinery.setup.node.local.send_overhead +
                     machinery.setup.node.local.write_overhead);
  if (parcel->source != nullptr && parcel->target != nullptr)
    std::memcpy(parcel->target, parcel->source, parcel->size);
  parcel->source = nullptr;
  const auto copy = std::make_shared<LocalCopy>();
  copy->from = rank_.self();
  copy->to = parcel->to;
  copy->cookie = parcel->cookie;
  copy->size = parcel->size;
  copy->cached = machinery.ranks[copy->to.index]->local.finds_in_cache(parcel->target, copy->size);
  rank_.settle();
  const Duration latency = machinery.local_latency(copy->from, copy->to, 0);
  if (copy->size < shared_copy_min) {
    work_on(*copy);
    machinery.hand_over_locally(parcel, rank_.now() + latency);
    return;
  }
  parcel->copy = copy;
  machinery.hand_over_locally(parcel, rank_.now() + latency);
  work_on(*copy);
}

// Takes stretches until none is left. Whoever ends the last one tells the other.
void LocalMessages::work_on(LocalCopy& copy) {
  Machinery& machinery = rank_.machinery_of();
  const NodeModel& node = machinery.setup.node;
  const Duration latency = machinery.local_latency(copy.from, copy.to, 0);
  const std::size_t stretch =
      copy.size < shared_copy_min ? copy.size : std::size_t{copy_stretch(copy.size)};
  while (copy.claimed < copy.size) {
    const std::size_t size = std::min(stretch, copy.size - copy.claimed);
    copy.claimed += size;
    const Machinery::CopyWork work{size, node.local_write_time(bytes_of(size), copy.cached),
                                   copy.cached && node.cache.count > 0};
    rank_.spend_in_mpi(machinery.copy_end(rank_.self(), rank_.now(), work) - rank_.now());
    rank_.settle();
    copy.copied += size;
    if (!copy.done()) continue;
    const Time seen = rank_.self() == copy.from ? rank_.now() : rank_.now() + latency;
    machinery.report_sent(copy.from, copy.to, copy.cookie, seen);
    if (copy.notice != nullptr)
      machinery.hand_over_locally(copy.notice.release(), rank_.now() + latency);
  }
}

bool LocalMessages::finish(std::unique_ptr<Parcel>& parcel) {
  const std::shared_ptr<LocalCopy> copy = std::exchange(parcel->copy, nullptr);
  work_on(*copy);
  if (copy->done()) return true;
  copy->notice = std::move(parcel);
  return false;
}

}  // namespace weft
