// SPDX-License-Identifier: Apache-2.0
// All-to-all where ranks form groups: the blocks for another group go in one bundle to the rank
// there that this rank has picked, which distributes them in its group together with what others
// sent it. Each rank exchanges few messages with few partners: those to which managed connections
// (conn) always exist. Long blocks go separately, directly from source to target.
// If sizes are not known beforehand, a bundle starts with them, and contains nothing else if its
// blocks are long; these follow in a message of their own.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <weft/base/groups.hpp>
#include <weft/message/coll/algorithms.hpp>
#include <weft/message/coll/choose.hpp>

namespace weft::coll {

namespace {

constexpr std::size_t together_max = 512;  // Bytes of blocks that travel with their sizes.

// Blocks between this rank and one other, contiguous.
struct Bundle {
  int partner = 0;
  std::vector<std::uint64_t> sizes;
  Buffer head, body;
  mp::Request* head_request = nullptr;
  mp::Request* body_request = nullptr;

  std::size_t head_size() const { return sizes.size() * sizeof sizes[0]; }
};

class Grouped {
 public:
  Grouped(const Team& team, const Alltoallv& args, bool known)
      : s_(team),
        heads_(internal(team)),
        groups_(*team.groups),
        args_(args),
        known_(known),
        self_(static_cast<std::uint32_t>(team.rank)) {
    if (args.in_place) step_aside();
  }

  void expect_all();
  void send_to_groups();
  void hand_out();
  void place_all();
  bool has_alone() const { return !alone_.empty(); }
  Alltoallv alone();
  int error() const { return s_.error(); }
  void copy_own_block() { coll::copy_own_block(s_, args_); }

  mp::Task take_from_clients() { return take(clients_); }
  mp::Task take_from_mates() { return take(mates_); }
  mp::Task finish_sends();

 private:
  static Team internal(Team team) {
    team.internal = true;
    return team;
  }
  void note(int error) {
    s_.note(error);
    heads_.note(error);
  }
  bool goes_alone(std::size_t size) const { return !known_ && size > bundled_block_max; }
  std::size_t packed(const Bundle& bundle) const;
  const std::byte* data_of(const Bundle& bundle) const;
  // Ranks outside of a rank's group that have picked it.
  template <typename Do>
  void for_clients_of(std::uint32_t rank, Do&& act) const;
  void step_aside();
  void expect(Bundle& bundle, std::size_t blocks);
  void read_head(Bundle& bundle, std::size_t size);
  template <typename Fill>
  void send(Bundle&& bundle, Fill&& fill);
  mp::Task take(std::vector<Bundle>& bundles);
  std::size_t place(std::uint32_t source, std::size_t size, const std::byte* data);

  Participant s_, heads_;
  const Groups& groups_;
  Alltoallv args_;
  Buffer copy_;  // A copy of the send data if results overwrite it.
  const bool known_;
  const std::uint32_t self_;
  std::vector<Bundle> clients_, mates_, sent_;
  // By source: whether it sends its long blocks separately. Empty: none does.
  std::vector<bool> alone_;
};

template <typename Do>
void Grouped::for_clients_of(std::uint32_t rank, Do&& act) const {
  const std::uint32_t own = groups_.group(rank);
  for (std::uint32_t g = 0; g < groups_.count(); ++g) {
    if (g == own) continue;
    const auto members = groups_.members(g);
    for (std::size_t i = groups_.number(rank); i < members.size(); i += groups_.size(own))
      act(members[i]);
  }
}

void Grouped::step_aside() {
  std::ptrdiff_t end = 0;
  for (int i = 0; i < s_.size(); ++i) {
    const Blocks::Block block = args_.receive_blocks[i];
    end = std::max(end, block.offset + static_cast<std::ptrdiff_t>(block.size));
  }
  copy_ = s_.buffer(static_cast<std::size_t>(end));
  s_.copy(copy_.get(), bytes(args_.receive), static_cast<std::size_t>(end));
  args_.send = copy_.get();
  args_.send_blocks = args_.receive_blocks;
  args_.in_place = false;
}

std::size_t Grouped::packed(const Bundle& bundle) const {
  std::size_t sum = 0;
  for (const std::uint64_t size : bundle.sizes) sum += goes_alone(size) ? 0 : size;
  return sum;
}

const std::byte* Grouped::data_of(const Bundle& bundle) const {
  if (!s_.carries()) return nullptr;
  return bundle.body != nullptr || known_ ? bundle.body.get()
                                          : at(bundle.head.get(), bundle.head_size());
}

void Grouped::expect(Bundle& bundle, std::size_t blocks) {
  bundle.sizes.assign(blocks, known_ ? args_.receive_blocks.size : 0);
  if (known_) {
    const std::size_t size = packed(bundle);
    bundle.body = s_.buffer(size);
    bundle.body_request = s_.receive(bundle.partner, bundle.body.get(), size);
    return;
  }
  const std::size_t most = bundle.head_size() + together_max;
  bundle.head = heads_.buffer(most);
  bundle.head_request = heads_.receive(bundle.partner, bundle.head.get(), most);
}

void Grouped::expect_all() {
  const std::uint32_t own = groups_.group(self_);
  for_clients_of(self_, [&](std::uint32_t client) {
    clients_.push_back({static_cast<int>(client), {}, {}, {}});
    expect(clients_.back(), groups_.size(own));
  });
  for (const std::uint32_t mate : groups_.members(own)) {
    if (mate == self_) continue;
    std::size_t blocks = 1;
    for_clients_of(mate, [&](std::uint32_t) { ++blocks; });
    mates_.push_back({static_cast<int>(mate), {}, {}, {}});
    expect(mates_.back(), blocks);
  }
}

// `fill(to)` stores the blocks that are not sent separately, contiguously.
template <typename Fill>
void Grouped::send(Bundle&& bundle, Fill&& fill) {
  const std::size_t data = packed(bundle);
  const bool together = !known_ && data <= together_max;
  s_.charge(data);
  if (!known_) {
    const std::size_t size = bundle.head_size() + (together ? data : 0);
    bundle.head = heads_.buffer(size);
    std::memcpy(bundle.head.get(), bundle.sizes.data(), bundle.head_size());
    if (together && s_.carries()) fill(at(bundle.head.get(), bundle.head_size()));
    bundle.head_request = heads_.send(bundle.partner, bundle.head.get(), size);
  }
  if (known_ || (!together && s_.error() == ok)) {
    bundle.body = s_.buffer(data);
    if (s_.carries()) fill(bundle.body.get());
    bundle.body_request = s_.send(bundle.partner, bundle.body.get(), data);
  }
  sent_.push_back(std::move(bundle));
}

void Grouped::send_to_groups() {
  for (std::uint32_t step = 1; step < groups_.count(); ++step) {
    // Start with different groups, so that not all ranks send to the same one at once.
    const std::uint32_t g = (groups_.group(self_) + step) % groups_.count();
    const auto members = groups_.members(g);
    Bundle bundle{static_cast<int>(groups_.pick(self_, g)), {}, {}, {}};
    for (const std::uint32_t to : members)
      bundle.sizes.push_back(args_.send_blocks[static_cast<int>(to)].size);
    send(std::move(bundle), [&](std::byte* place) {
      for (const std::uint32_t to : members) {
        const Blocks::Block block = args_.send_blocks[static_cast<int>(to)];
        if (goes_alone(block.size)) continue;
        s_.move(place, at(bytes(args_.send), block.offset), block.size);
        place += block.size;
      }
    });
  }
}

void Grouped::read_head(Bundle& bundle, std::size_t size) {
  // A rank with an error sends nothing.
  if (size < bundle.head_size()) {
    note(incomplete);
    return;
  }
  std::memcpy(bundle.sizes.data(), bundle.head.get(), bundle.head_size());
  const std::size_t data = packed(bundle);
  if (data <= together_max) {
    if (size != bundle.head_size() + data) note(incomplete);
    return;
  }
  bundle.body = s_.buffer(data);
  bundle.body_request = s_.receive(bundle.partner, bundle.body.get(), data);
}

mp::Task Grouped::take(std::vector<Bundle>& bundles) {
  for (Bundle& bundle : bundles) {
    if (bundle.head_request == nullptr) continue;
    std::size_t size = 0;
    co_await heads_.finish_short(bundle.head_request, size);
    if (heads_.error() != ok) note(heads_.error());
    read_head(bundle, size);
  }
  for (Bundle& bundle : bundles) {
    if (bundle.body_request != nullptr) co_await s_.finish(bundle.body_request);
  }
  if (s_.error() != ok) note(s_.error());
  co_return s_.error();
}

mp::Task Grouped::finish_sends() {
  for (Bundle& bundle : sent_) {
    if (bundle.head_request != nullptr) co_await heads_.finish(bundle.head_request);
    if (bundle.body_request != nullptr) co_await s_.finish(bundle.body_request);
  }
  if (heads_.error() != ok) note(heads_.error());
  co_return s_.error();
}

void Grouped::hand_out() {
  const auto mates = groups_.members(groups_.group(self_));
  // The position of each client's next block.
  std::vector<const std::byte*> next;
  for (const Bundle& client : clients_) next.push_back(data_of(client));
  for (std::size_t i = 0; i < mates.size(); ++i) {
    const auto skip = [&](std::size_t k) {
      const std::size_t size = clients_[k].sizes[i];
      if (next[k] != nullptr && !goes_alone(size)) next[k] += size;
    };
    if (mates[i] == self_) {
      for (std::size_t k = 0; k < clients_.size(); ++k) {
        place(static_cast<std::uint32_t>(clients_[k].partner), clients_[k].sizes[i], next[k]);
        skip(k);
      }
      continue;
    }
    const Blocks::Block own = args_.send_blocks[static_cast<int>(mates[i])];
    Bundle bundle{static_cast<int>(mates[i]), {own.size}, {}, {}};
    for (const Bundle& client : clients_) bundle.sizes.push_back(client.sizes[i]);
    send(std::move(bundle), [&](std::byte* to) {
      if (!goes_alone(own.size)) {
        s_.move(to, at(bytes(args_.send), own.offset), own.size);
        to += own.size;
      }
      for (std::size_t k = 0; k < clients_.size(); ++k) {
        const std::size_t size = clients_[k].sizes[i];
        if (goes_alone(size)) continue;
        s_.move(to, next[k], size);
        to += size;
      }
    });
    for (std::size_t k = 0; k < clients_.size(); ++k) skip(k);
  }
}

// Stores what a source has sent to this rank; returns how much of it was at `data`.
std::size_t Grouped::place(std::uint32_t source, std::size_t size, const std::byte* data) {
  const Blocks::Block block = args_.receive_blocks[static_cast<int>(source)];
  if (size > block.size) note(truncated);
  if (size < block.size) note(incomplete);
  if (goes_alone(size)) {
    alone_.resize(static_cast<std::size_t>(s_.size()));
    alone_[source] = true;
    return 0;
  }
  const std::size_t fits = std::min(size, block.size);
  s_.charge(fits);
  if (data != nullptr) s_.move(at(bytes(args_.receive), block.offset), data, fits);
  return size;
}

void Grouped::place_all() {
  for (const Bundle& bundle : mates_) {
    const auto mate = static_cast<std::uint32_t>(bundle.partner);
    const std::byte* data = data_of(bundle);
    std::size_t i = 0;
    const auto next = [&](std::uint32_t source) {
      const std::size_t size = place(source, bundle.sizes[i++], data);
      if (data != nullptr) data += size;
    };
    next(mate);
    for_clients_of(mate, next);
  }
  for (int i = 0; i < s_.size() && alone_.empty(); ++i) {
    if (goes_alone(args_.send_blocks[i].size)) alone_.resize(static_cast<std::size_t>(s_.size()));
  }
}

// The rest: long blocks.
Alltoallv Grouped::alone() {
  Alltoallv rest = args_;
  rest.send_blocks = Blocks::described(
      [](const void* arg, int index) {
        const auto& self = *static_cast<const Grouped*>(arg);
        const Blocks::Block block = self.args_.send_blocks[index];
        return self.goes_alone(block.size) ? block : Blocks::Block{block.offset, 0};
      },
      this);
  rest.receive_blocks = Blocks::described(
      [](const void* arg, int index) {
        const auto& self = *static_cast<const Grouped*>(arg);
        const Blocks::Block block = self.args_.receive_blocks[index];
        return self.alone_[static_cast<std::size_t>(index)] ? block
                                                            : Blocks::Block{block.offset, 0};
      },
      this);
  return rest;
}

}  // namespace

mp::Task alltoall_grouped(Team team, Alltoallv args, bool equal) {
  Grouped exchange(team, args, equal);
  exchange.expect_all();
  exchange.send_to_groups();
  mp::Task came = exchange.take_from_clients();
  co_await came;
  exchange.hand_out();
  mp::Task rest = exchange.take_from_mates();
  co_await rest;
  exchange.place_all();
  exchange.copy_own_block();
  int error = ok;
  if (exchange.has_alone()) {
    mp::Task alone = alltoall_linear(team, exchange.alone());
    error = co_await alone;
  }
  mp::Task sent = exchange.finish_sends();
  co_await sent;
  co_return exchange.error() != ok ? exchange.error() : error;
}

}  // namespace weft::coll
