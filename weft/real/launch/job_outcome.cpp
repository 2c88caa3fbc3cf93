// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/job_outcome.hpp"

#include <algorithm>
#include <cstring>

#include <sys/wait.h>

namespace weft::launch {

int code_of(int status) {
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string JobOutcome::name(std::uint32_t rank) const {
  return "rank " + std::to_string(rank) + " on host " + hosts_[rank];
}

void JobOutcome::note(std::uint32_t rank, const std::string& reason, int code) {
  // The first lost rank may be seen to end after ranks that ended because of it.
  if (reason_.empty() && (first_lost_ == nobody || first_lost_ == rank)) reason_ = reason;
  code_ = std::max(code_, code);
}

void JobOutcome::add(const std::vector<std::string>& hosts) {
  hosts_.insert(hosts_.end(), hosts.begin(), hosts.end());
  ranks_.resize(hosts_.size());
}

bool JobOutcome::goes_on(const Among& among) const {
  std::uint32_t running = 0, know_of_it = 0, recover = 0;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    const State& rank = ranks_[i];
    if (rank.ended || rank.lost || rank.left || !among(i)) continue;
    if (rank.resilience == Resilience::none) return false;
    ++running;
    if (rank.resilience == Resilience::noticed) ++know_of_it;
    if (rank.resilience == Resilience::recovers) ++recover;
  }
  return running > 0 && (recover > 0 || know_of_it == 0);
}

bool JobOutcome::others_run(std::uint32_t rank, const Among& among) const {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    if (i != rank && !ranks_[i].ended && among(i)) return true;
  return false;
}

bool JobOutcome::all_ended(const Among& among) const {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    if (!ranks_[i].ended && among(i)) return false;
  return true;
}

void JobOutcome::discard(std::uint32_t rank) {
  if (!ranks_[rank].ended) ++ended_;
  ranks_[rank].ended = true;
}

bool JobOutcome::lost(std::uint32_t rank, bool others) {
  State& state = ranks_[rank];
  if (state.lost || state.ended) return false;
  state.lost = true;
  // If it was the last one, no other rank can miss it.
  state.missed = others;
  if (state.missed && first_lost_ == nobody) first_lost_ = rank;
  return state.missed;
}

bool JobOutcome::ended(std::uint32_t rank, int status, bool counts) {
  State& state = ranks_[rank];
  if (state.ended) return false;
  state.ended = true;
  ++ended_;
  // The rank that failed first counts even if its end is reported late, while others are being
  // ended.
  if (!counts && rank != first_lost_) return false;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    note(rank,
         name(rank) + " was ended by signal " + std::to_string(number) + " (" +
             ::strsignal(number) + ")",
         128 + number);
  } else if (const int code = code_of(status); code != 0) {
    note(rank, name(rank) + " ended with code " + std::to_string(code), code);
  } else if (state.missed) {
    note(rank, name(rank) + " ended with code 0, but without leaving the job (MPI_Finalize)", 1);
  } else {
    return false;
  }
  return true;
}

void JobOutcome::failed(std::uint32_t rank, const std::string& reason) {
  note(rank, reason, 1);
  if (!ranks_[rank].ended) ++ended_;
  ranks_[rank].ended = true;
}

std::string JobOutcome::reason_of_loss() const {
  if (first_lost_ == nobody) return {};
  return name(first_lost_) + " was lost: its program ended without leaving the job (MPI_Finalize)";
}

}  // namespace weft::launch
