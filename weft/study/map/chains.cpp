// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/base/pack.hpp>
#include <weft/study/map/chains.hpp>

namespace weft::map {

std::unique_ptr<Paths> ChainGround::paths() const {
  return *make_paths(problem.topology(), problem.routing());
}

bool Chain::tell(const ChainGround& ground, double value, const RankMap& map) {
  best = value;
  if (asked.exchange(false)) {
    const std::lock_guard lock(mutex);
    shown = {name, map, value};
  }
  const bool perfect = ground.is_perfect(value);
  if (winner != nullptr) {
    std::size_t first = winner->load();
    while (perfect && index < first && !winner->compare_exchange_weak(first, index)) {
    }
    if (winner->load() < index) return false;
  }
  return !perfect && !(ground.halt != nullptr && ground.halt->load());
}

std::unique_ptr<Chain> make_linear_chain(const ChainGround& ground, const LinearTask& task,
                                         Rng rng) {
  auto chain = std::make_unique<Chain>();
  chain->name = "linear, " + task.numbering.name;
  chain->planned = task.to - task.from;
  const PeerBytes begun = task.state != nullptr ? *task.state : PeerBytes();
  chain->run = [&ground, task, begun, rng](Chain& self) -> Candidate {
    LinearSearch linear(ground.problem, ground.objective, task.numbering, task.start, rng);
    if (!begun.empty()) {
      Unpacker reader(begun);
      linear.unpack(reader);
    }
    constexpr std::uint64_t stretch = 64;
    for (std::uint64_t at = task.from; at < task.to; at += stretch) {
      if (!self.tell(ground, linear.best_value(), linear.best())) break;
      linear.run(std::min(stretch, task.to - at), task.total, ground.halt);
      self.done = linear.evaluations() - task.from;
      self.acceptance = linear.acceptance();
    }
    Packer letter;
    linear.pack(letter);
    self.state = letter.take();
    const auto own = ground.paths();
    const double value = judge(ground.problem, linear.best(), ground.objective, *own).value;
    self.tell(ground, value, linear.best());
    return {self.name, linear.best(), value};
  };
  return chain;
}

std::unique_ptr<Chain> make_anneal_chain(const ChainGround& ground, const AnnealTask& task,
                                         Rng rng) {
  auto chain = std::make_unique<Chain>();
  const std::string& from = task.start.name;
  chain->name = from.ends_with(", annealed") ? from : from + ", annealed";
  chain->planned = task.tries;
  chain->run = [&ground, map = task.start.map, cooling = task.cooling, tries = task.tries,
                rng](Chain& self) -> Candidate {
    Annealer annealer(ground.problem, ground.objective, ground.paths(), rng);
    annealer.start(map, cooling);
    constexpr std::uint64_t stretch = 4096;
    for (std::uint64_t at = 0; at < tries; at += stretch) {
      if (!self.tell(ground, annealer.best_value(), annealer.best())) break;
      annealer.run(std::min(stretch, tries - at), tries, ground.halt);
      self.done = annealer.tries();
      self.acceptance = annealer.acceptance();
    }
    const auto own = ground.paths();
    const double value = judge(ground.problem, annealer.best(), ground.objective, *own).value;
    self.tell(ground, value, annealer.best());
    return {self.name, annealer.best(), value};
  };
  return chain;
}

bool exchange(Chains& chains, ProcessGroup& peers, bool halted) {
  const auto self = static_cast<std::size_t>(peers.self());
  const auto count = static_cast<std::size_t>(peers.count());
  Packer letter;
  for (std::size_t i = self; i < chains.size(); i += count) {
    letter.put_text(chains[i]->made.name);
    letter.put_list(chains[i]->made.map);
    letter.put(chains[i]->made.value);
    letter.put_list(chains[i]->state);
    letter.put(chains[i]->done.load());
  }
  letter.put(halted);
  const std::vector<PeerBytes> letters = peers.all_gather(letter.take());
  for (std::size_t p = 0; p < count; ++p) {
    Unpacker reader(letters[p]);
    for (std::size_t i = p; i < chains.size(); i += count) {
      Chain& chain = *chains[i];
      chain.made.name = reader.take_text();
      chain.made.map = reader.take_list<std::uint32_t>();
      chain.made.value = reader.take<double>();
      chain.state = reader.take_list<std::byte>();
      chain.done = reader.take<std::uint64_t>();
    }
    halted = reader.take<bool>() || halted;
  }
  return halted;
}

}  // namespace weft::map
