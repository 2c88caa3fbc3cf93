// SPDX-License-Identifier: Apache-2.0
// ProgramRanks where each rank is a process of its own: its fiber serves the process.
#include <algorithm>

#include <sys/wait.h>

#include <weft/program/simulated_run/ranks.hpp>

namespace weft {

void ProgramRanks::separate(SeparateRanks& processes, double compute_factor) {
  processes_of_ranks_ = &processes;
  compute_factor_ = compute_factor;
  servers_.resize(setup_.placement->ranks());
}

bool ProgramRanks::any_joined() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& one) { return one != nullptr && one->joined(); });
}

RankWelcome ProgramRanks::welcome(const Fabric& network) const {
  const NodeModel& node = setup_.machine.node;
  RankWelcome welcome;
  welcome.self = network.self;
  welcome.ranks = network.ranks;
  welcome.ordered = network.ordered;
  welcome.carries_data = network.carries_data;
  welcome.has_timeline = !timelines_.empty();
  welcome.call_overhead = node.call_overhead;
  welcome.request_overhead = node.request_overhead;
  welcome.collective_overhead = node.collective_overhead;
  welcome.compute_factor = compute_factor_;
  welcome.messages = setup_.machine.messages;
  welcome.processor_name = processor_name(network.self);
  for (std::uint32_t r = 0; r < network.ranks; ++r) welcome.nodes.push_back(node_of(RankId(r)));
  for (std::size_t i = 0; i < coll::operation_count; ++i) {
    const auto operation = static_cast<coll::Operation>(i);
    const coll::Algorithm forced = collectives_.forced(operation);
    if (forced == coll::Algorithm::automatic) continue;
    welcome.forced_algorithms.push_back(std::string(coll::name(operation)) + "=" +
                                        std::string(coll::name(forced)));
  }
  welcome.grid = collectives_.machine().extents;
  if (setup_.layout != nullptr) {
    for (std::uint32_t r = 0; r < network.ranks; ++r)
      welcome.groups.push_back(setup_.layout->group(RankId(r)));
    welcome.connections = setup_.connections;
  }
  return welcome;
}

// A process that ends without MPI_Finalize ends the job, as the others would wait for it forever.
// So does one that fails before MPI_Init.
void ProgramRanks::run_separately(const Fabric& fabric) {
  const RankId rank = fabric.self;
  mpi::CallListener* const listener = timelines_.empty() ? nullptr : timelines_[rank.index].get();
  servers_[rank.index] =
      std::make_unique<RankServer>(processes_of_ranks_->channel(rank), fabric,
                                   RankServer::Job{*this, welcome(fabric), listener});
  RankServer& server = *servers_[rank.index];
  Current::set(&fabric, nullptr);
  const int status = processes_of_ranks_->serve(server, fabric, console_);
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  const bool is_early = server.joined() && (!server.left() || server.report().running);
  if (is_early || WIFSIGNALED(status))
    abort(rank, code == 0 ? 1 : code,
          ending_text(status) + (is_early ? " and without MPI_Finalize" : ""));
  if (!server.joined() && code != 0)
    abort(rank, code, ending_text(status) + " before it called MPI");
  end_rank(fabric, code);
}

}  // namespace weft
