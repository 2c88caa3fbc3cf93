// SPDX-License-Identifier: Apache-2.0
// The description of a machine: network, links, routers, routing, network cards, nodes and message
// layer. Read here and nowhere else, for all commands: the same words and profile mean the same
// machine everywhere. A spec is a description of one line.
//
// A key that a description leaves out has the profile's value. Which profile that is, in this
// order: --profile, the description's `profile`, `cluster`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/network/route/policy.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/flits/flit_model.hpp>
#include <weft/simulate/flows/flow_model.hpp>
#include <weft/simulate/nodes/node_model.hpp>
#include <weft/simulate/nodes/storage_model.hpp>
#include <weft/simulate/router/hardware.hpp>

namespace weft {

// What a user says of a machine.
struct MachineWords {
  std::string net = {};                // A spec, a *.toml or a graph file.
  std::string profile = {};            // Empty: the description's, or else the usual one.
  std::string routing = {};            // Empty: the description's, or else what suits the network.
  std::vector<std::string> sets = {};  // "router.vcs=4": keys that go over the description.
  // The options that `net` and `routing` came from, for messages; empty: from no option.
  std::string net_option = "--net", routing_option = "--routing";
};

// What it means. Nothing is left to be filled in, apart from keys whose zero says "as another".
struct MachineDescription {
  std::string profile;
  std::shared_ptr<const Topology> topology;
  std::string routing;
  bool routing_given = false, vcs_given = false;  // Not by default.
  NetworkHardware hardware;
  NodeModel node;
  StorageModel storage;
  FlowModel flow;
  FlitModel flit;
  mp::Options messages;
  // Every key that was read, with its value, as a network file; defaults are marked. The same text
  // is the same machine, and reading it again gives this one.
  std::string text;
  // What holds what back, a line each; for the user to see once.
  std::vector<std::string> warnings;

  std::uint32_t nodes() const {
    return topology->graph.node_count() / static_cast<std::uint32_t>(node.rails);
  }
};

// Reads in steps, for callers that keep networks or change hardware before it is checked.
class MachineReader {
 public:
  // Reads the words, not yet what they mean.
  static Result<MachineReader> open(const MachineWords& words);

  // Whether the network is connected is for the caller, or for check_connected.
  Result<Topology> make_network() const;
  Status check_connected(const Topology& topology) const;

  // All tables but those of commands ([traffic]); any unknown key is an error.
  Result<MachineDescription> read(std::shared_ptr<const Topology> topology) const;

  // All of this: the network, which must be connected, and the rest, checked.
  Result<MachineDescription> read_all() const;

  // Whether its values fit together.
  Status check(const MachineDescription& machine) const;
  // Its routing, for the VCs it has.
  Result<std::unique_ptr<Policy>> make_policy(const MachineDescription& machine) const;

  // The unit that some options count in.
  Bytes flit() const;

  // For the tables of commands.
  const Config& config() const { return config_; }
  const MachineWords& words() const { return words_; }

 private:
  Status check_cards(const Topology& topology) const;
  MachineReader(MachineWords words, Config config, std::string profile);
  // The line that a spec stands for is in no file, so errors of it name no place.
  bool is_of_spec(const Error& error) const;
  Error placed(Error error) const;
  bool is_file() const;
  std::string folder() const;  // Where relative paths of the description begin.

  MachineWords words_;
  Config config_;
  std::string profile_;
};

// All steps. Errors name file and line, or the option.
Result<MachineDescription> read_machine(const MachineWords& words);

}  // namespace weft
