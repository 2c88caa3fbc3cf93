// SPDX-License-Identifier: Apache-2.0
// How a job grows: answers requests of ranks, which may start further processes and meet others.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weft/real/launch/agents.hpp>
#include <weft/real/launch/job_outcome.hpp>
#include <weft/real/launch/launcher.hpp>
#include <weft/real/launch/ports.hpp>
#include <weft/real/launch/requests.hpp>
#include <weft/real/launch/worlds.hpp>

namespace weft::launch {

class Growth {
 public:
  struct Parts {
    const LaunchJob& job;
    const Secret& secret;
    Agents& agents;
    Worlds& worlds;
    JobOutcome& outcome;
    std::function<Status(HostAgent& agent)> start;  // The agent of a host that had no ranks.
  };
  explicit Growth(const Parts& parts) : parts_(parts) {}

  // A rank's share of the job, without what differs between ranks.
  HostJob share_of(const HostRanks& host) const;

  // FromAgent::request and FromAgent::started.
  void hear_request(FieldReader& in);
  void hear_started(FieldReader& in);
  // Perhaps all of the world's ranks can be reached now, and who asked for them may hear of it.
  void hear_cards(const World& world);
  // The rank has left, or ended.
  void forget(std::uint32_t rank);
  // A rank is no part of the job any more, for this reason. true: its world had not begun its work,
  // so that all of this world ends, and who asked for it hears why; nobody else is concerned.
  bool ends_start(std::uint32_t rank, const std::string& why);
  // All ranks of a world are to end, and how they do does not count.
  void end_world(World& world, int ms_until_kill);

 private:
  struct Asking {
    std::uint32_t rank = 0;
    std::uint64_t number = 0;
  };
  // Processes that agents start.
  struct Start {
    std::uint32_t number = 0;
    std::uint32_t first = 0;
    Asking asking;
    std::size_t awaited = 0;  // Answers of agents.
    std::string trouble;
  };
  void answer(const Asking& to, Verdict verdict, std::string_view rest);
  void refuse(const Asking& to, Verdict verdict, const std::string& why);
  void refuse_all(const std::vector<Ports::Visitor>& visitors);
  void handle(const Asking& from, Request kind, FieldReader& in);
  void acquaint(const Asking& from, FieldReader& in);
  void connect(const Asking& from, FieldReader& in);
  void answer_finalizing();
  void visit(const Asking& from, bool accepts, const std::string& port);
  void start(const Asking& from, FieldReader& in);
  Result<std::vector<std::size_t>> place(const StartRequest& request) const;
  void order(const Start& start, const StartRequest& request,
             const std::vector<std::size_t>& places);
  void fail(World& world, const std::string& why);

  const Parts parts_;
  Mail mail_;
  Ports ports_{fresh_tag()};
  std::list<Start> starts_;
  std::map<std::uint32_t, Asking> finalizing_;  // By rank.
  std::uint32_t meetings_ = 0;
  static std::string fresh_tag();
};

}  // namespace weft::launch
