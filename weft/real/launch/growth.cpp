// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/growth.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include <sys/random.h>

#include <weft/base/check.hpp>

namespace weft::launch {
namespace {

constexpr std::uint32_t any_number = std::numeric_limits<std::uint32_t>::max();
constexpr int failed_ms =
    500;  // Time between asking ranks of a failed start to end and killing them.

}  // namespace

// Not secret: it tells ports of one job from those of another.
std::string Growth::fresh_tag() {
  std::array<unsigned char, 8> bytes = {};
  static_cast<void>(::getrandom(bytes.data(), bytes.size(), 0));
  std::string tag = "weft-port:";
  for (const unsigned char byte : bytes) {
    tag += "0123456789abcdef"[byte >> 4];
    tag += "0123456789abcdef"[byte & 15];
  }
  return tag;
}

HostJob Growth::share_of(const HostRanks& host) const {
  const LaunchJob& job = parts_.job;
  HostJob part;
  part.birth.universe = job.universe;
  part.birth.spans_hosts = job.hosts.size() + job.spare_hosts.size() > 1;
  part.words = job.words;
  part.environment = host.local ? std::vector<std::string>() : job.remote_environment;
  part.environment.insert(part.environment.end(), job.environment.begin(), job.environment.end());
  part.folder = job.folder;
  part.secret = parts_.secret;
  part.settings = to_text(job.settings);
  part.bind = job.bind;
  part.machine = job.machine;
  part.explain = job.explain;
  return part;
}

void Growth::answer(const Asking& to, Verdict verdict, std::string_view rest) {
  HostAgent* const agent = parts_.agents.of(to.rank);
  if (agent == nullptr || agent->gone) return;
  std::string text(1, static_cast<char>(verdict));
  text += rest;
  for (const CardPart& part : split_card(to.rank, to.number, text)) {
    FieldWriter body;
    write(body, part);
    agent->send(ToAgent::answer, body.take());
  }
}

void Growth::refuse(const Asking& to, Verdict verdict, const std::string& why) {
  FieldWriter text;
  text.text(why);
  answer(to, verdict, text.take());
}

void Growth::refuse_all(const std::vector<Ports::Visitor>& visitors) {
  for (const Ports::Visitor& visitor : visitors)
    refuse({visitor.rank, visitor.request}, Verdict::no_port, "the port was closed");
}

void Growth::hear_request(FieldReader& in) {
  const CardPart part = read_card_part(in);
  if (!in.whole() || part.rank >= parts_.worlds.ranks()) return;
  const auto whole = mail_.add(part);
  if (!whole || parts_.worlds.of(part.rank).life == World::Life::ending) return;
  FieldReader request(*whole);
  const auto kind = static_cast<Request>(request.byte());
  handle({part.rank, part.round}, kind, request);
}

void Growth::handle(const Asking& from, Request kind, FieldReader& in) {
  if (kind == Request::start) return start(from, in);
  if (kind == Request::acquaint) return acquaint(from, in);
  if (kind == Request::connected) return connect(from, in);
  if (kind == Request::finalize) {
    finalizing_[from.rank] = from;
    return answer_finalizing();
  }
  if (kind == Request::open_port) {
    FieldWriter name;
    name.text(ports_.open(from.rank));
    return answer(from, Verdict::granted, name.take());
  }
  const std::string name = in.text();
  if (kind == Request::close_port) {
    if (!ports_.is_open(name)) return refuse(from, Verdict::no_port, "it is not open");
    refuse_all(ports_.close(name));
    return answer(from, Verdict::granted, "");
  }
  if (kind == Request::accept || kind == Request::connect)
    return visit(from, kind == Request::accept, name);
  if (kind == Request::publish) {
    if (ports_.publish(from.rank, name, in.text())) return answer(from, Verdict::granted, "");
    return refuse(from, Verdict::service_is_taken, "the name is published already");
  }
  if (kind == Request::unpublish) {
    if (ports_.unpublish(name)) return answer(from, Verdict::granted, "");
    return refuse(from, Verdict::no_name, "the name is not published");
  }
  if (kind == Request::look_up) {
    const auto port = ports_.look_up(name);
    if (!port) return refuse(from, Verdict::no_name, "nobody in this job has published the name");
    FieldWriter text;
    text.text(*port);
    return answer(from, Verdict::granted, text.take());
  }
  refuse(from, Verdict::not_understood, "weft run does not know this request");
}

void Growth::acquaint(const Asking& from, FieldReader& in) {
  FieldWriter out;
  while (!in.empty() && !in.broken() && out.size() < card_size_max / 2) {
    const std::uint32_t rank = in.number_up_to(parts_.worlds.ranks() - 1);
    if (in.broken()) break;
    const World& world = parts_.worlds.of(rank);
    const bool gone = parts_.outcome.gone(rank) || parts_.outcome.has_left(rank);
    write(out, Acquaintance{rank, world.first, gone, world.exchanges.card(rank, 0),
                            world.exchanges.card(rank, 1)});
  }
  answer(from, Verdict::granted, out.take());
}

// Who speaks of its connections has met the rank that asked for it.
void Growth::connect(const Asking& from, FieldReader& in) {
  std::vector<std::uint32_t> firsts;
  while (!in.empty() && !in.broken()) firsts.push_back(in.number_up_to(any_number));
  World& world = parts_.worlds.of(from.rank);
  if (world.life == World::Life::starting) world.life = World::Life::running;
  parts_.worlds.connect(from.rank, firsts);
  answer(from, Verdict::granted, "");
  answer_finalizing();
}

// A rank that others are connected to leaves together with them.
void Growth::answer_finalizing() {
  for (auto it = finalizing_.begin(); it != finalizing_.end();) {
    const auto together = parts_.worlds.together(parts_.worlds.of(it->first));
    const bool all = parts_.worlds.connected_are(
        together, [&](std::uint32_t rank) { return finalizing_.contains(rank); });
    if (!all) {
      ++it;
      continue;
    }
    // They may ask at different times, but all of them have asked.
    for (auto other = finalizing_.begin(); other != finalizing_.end();) {
      const World* const world = &parts_.worlds.of(other->first);
      if (std::find(together.begin(), together.end(), world) == together.end()) {
        ++other;
        continue;
      }
      answer(other->second, Verdict::granted, "");
      parts_.worlds.forget(other->first);
      other = finalizing_.erase(other);
    }
    it = finalizing_.begin();
  }
}

void Growth::visit(const Asking& from, bool accepts, const std::string& port) {
  if (!ports_.is_open(port)) {
    return refuse(from, Verdict::no_port,
                  "no rank of this job has it open; ports connect programs of one weft run");
  }
  const auto couple = ports_.visit(port, accepts, {from.rank, from.number});
  if (!couple) return;
  const std::uint32_t number = ++meetings_;
  const auto tell = [&](const Ports::Visitor& one, const Ports::Visitor& other) {
    FieldWriter out;
    write(out, Meeting{other.rank, 1, number});
    answer({one.rank, one.request}, Verdict::granted, out.take());
  };
  tell(couple->accepts, couple->connects);
  tell(couple->connects, couple->accepts);
}

// For each rank its agent: those with the fewest ranks that run, or the host that was named.
Result<std::vector<std::size_t>> Growth::place(const StartRequest& request) const {
  const std::vector<HostAgent>& agents = parts_.agents.list;
  std::vector<std::size_t> running(agents.size(), 0);
  for (std::size_t i = 0; i < agents.size(); ++i)
    for (const std::uint32_t rank : agents[i].ranks)
      running[i] += parts_.outcome.gone(rank) ? 0 : 1;
  std::vector<std::size_t> places;
  for (const StartCommand& command : request.commands) {
    std::vector<std::size_t> chosen;
    for (std::uint32_t i = 0; i < command.count; ++i) {
      std::size_t best = agents.size();
      for (std::size_t k = 0; k < agents.size(); ++k) {
        const bool fits = command.host.empty() || agents[k].host->name == command.host ||
                          (agents[k].host->local && command.host == "localhost");
        if (!agents[k].usable() || !fits) continue;
        if (best == agents.size() || running[k] < running[best]) best = k;
      }
      if (best == agents.size()) {
        return Error::input("host " + command.host +
                            " is not one of this job: name it with --hosts of weft run");
      }
      ++running[best];
      chosen.push_back(best);
    }
    std::sort(chosen.begin(), chosen.end());  // Neighbours in rank are neighbours on a host.
    places.insert(places.end(), chosen.begin(), chosen.end());
  }
  return places;
}

void Growth::start(const Asking& from, FieldReader& in) {
  const auto request = parse_start_request(in);
  if (!request) return refuse(from, Verdict::not_understood, request.error().text());
  std::uint64_t count = 0;
  for (const StartCommand& command : request->commands) count += command.count;
  const std::uint32_t first = parts_.worlds.ranks();
  if (count == 0 || first + count > ranks_max) {
    return refuse(from, Verdict::not_started,
                  std::to_string(count) + " processes: a job has at most " +
                      std::to_string(ranks_max) + " in all");
  }
  const auto places = place(*request);
  if (!places) return refuse(from, Verdict::not_started, places.error().text());
  for (const std::size_t place : *places) {
    HostAgent& agent = parts_.agents.list[place];
    if (agent.link != nullptr) continue;
    if (Status started = parts_.start(agent); !started)
      return refuse(from, Verdict::not_started, started.error().text());
  }
  parts_.worlds.add(static_cast<std::uint32_t>(count), from.rank);
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < places->size(); ++i) {
    HostAgent& agent = parts_.agents.list[(*places)[i]];
    hosts.push_back(agent.host->name);
    agent.ranks.push_back(first + static_cast<std::uint32_t>(i));
  }
  parts_.outcome.add(hosts);
  Start& made = starts_.emplace_back();
  made.number = ++meetings_;
  made.first = first;
  made.asking = from;
  std::set<std::pair<std::size_t, std::size_t>> shares;  // Command and agent.
  std::size_t rank = 0;
  for (std::size_t c = 0; c < request->commands.size(); ++c)
    for (std::uint32_t i = 0; i < request->commands[c].count; ++i)
      shares.emplace(c, (*places)[rank++]);
  made.awaited = shares.size();
  order(made, *request, *places);
}

// Each agent is told once for each command.
void Growth::order(const Start& start, const StartRequest& request,
                   const std::vector<std::size_t>& places) {
  std::size_t from = 0;
  for (std::size_t c = 0; c < request.commands.size(); ++c) {
    const StartCommand& command = request.commands[c];
    for (std::size_t k = 0; k < parts_.agents.list.size(); ++k) {
      HostAgent& agent = parts_.agents.list[k];
      HostJob part = share_of(*agent.host);
      for (std::size_t i = from; i < from + command.count; ++i)
        if (places[i] == k) part.here.push_back(start.first + static_cast<std::uint32_t>(i));
      if (part.here.empty()) continue;
      part.ranks = static_cast<std::uint32_t>(places.size());
      part.birth.first = start.first;
      part.birth.application = static_cast<std::uint32_t>(c);
      part.birth.has_parent = true;
      part.birth.parent = start.asking.rank;
      part.birth.meeting = start.number;
      part.start = start.number;
      part.words = command.words;
      if (!command.folder.empty()) part.folder = command.folder;
      part.path = command.path;
      part.bind = "none";
      part.explain = false;
      agent.send(ToAgent::more, to_bytes(part));
    }
    from += command.count;
  }
}

void Growth::hear_started(FieldReader& in) {
  const std::uint32_t number = in.number_up_to(any_number);
  const std::string trouble = in.text();
  const auto found = std::find_if(starts_.begin(), starts_.end(),
                                  [&](const Start& one) { return one.number == number; });
  if (!in.whole() || found == starts_.end()) return;
  if (found->trouble.empty()) found->trouble = trouble;
  if (--found->awaited > 0) return;
  World& world = parts_.worlds.of(found->first);
  if (!found->trouble.empty()) return fail(world, found->trouble);
  hear_cards(world);
}

void Growth::hear_cards(const World& world) {
  const auto found = std::find_if(starts_.begin(), starts_.end(), [&](const Start& one) {
    return one.first == world.first && one.awaited == 0;
  });
  if (found == starts_.end() || world.exchanges.card(world.first, 1).empty()) return;
  FieldWriter out;
  write(out, Meeting{world.first, world.ranks, found->number});
  answer(found->asking, Verdict::granted, out.take());
  starts_.erase(found);
}

bool Growth::ends_start(std::uint32_t rank, const std::string& why) {
  World& world = parts_.worlds.of(rank);
  if (world.life == World::Life::starting) fail(world, why);
  return world.life == World::Life::ending;
}

void Growth::fail(World& world, const std::string& why) {
  end_world(world, failed_ms);
  for (std::uint32_t rank = world.first; rank < world.first + world.ranks; ++rank) {
    parts_.outcome.discard(rank);
    parts_.agents.send_to_all(ToAgent::lost, {rank});
    forget(rank);
  }
  const auto found = std::find_if(starts_.begin(), starts_.end(),
                                  [&](const Start& one) { return one.first == world.first; });
  if (found == starts_.end()) return;
  refuse(found->asking, Verdict::not_started, why);
  starts_.erase(found);
}

void Growth::end_world(World& world, int ms_until_kill) {
  world.life = World::Life::ending;
  parts_.agents.send_to_all(ToAgent::end_world,
                            {world.first, static_cast<std::uint64_t>(ms_until_kill)});
}

void Growth::forget(std::uint32_t rank) {
  parts_.worlds.forget(rank);
  finalizing_.erase(rank);
  refuse_all(ports_.forget(rank));
  answer_finalizing();
}

}  // namespace weft::launch
