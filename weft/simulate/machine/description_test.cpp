// SPDX-License-Identifier: Apache-2.0
#include "weft/simulate/machine/description.hpp"

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/simulate/machine/profiles.hpp>

namespace weft {
namespace {

class Description : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test_file(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& text, const std::string& name = "net.toml") const {
    std::string path = (folder_ / name).string();
    EXPECT_TRUE(write_file(path, text));
    return path;
  }
  std::filesystem::path folder_;
};

MachineDescription read(const MachineWords& words) {
  auto machine = read_machine(words);
  EXPECT_TRUE(machine) << machine.error().text();
  return *std::move(machine);
}

std::string refusal(const MachineWords& words) {
  const auto machine = read_machine(words);
  return machine ? "" : machine.error().text();
}

// Without the marks of defaults.
std::string values(const std::string& text) {
  std::string out;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = text.find('\n', start);
    std::string line = text.substr(start, end - start);
    line = line.substr(0, line.find('#'));
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
    start = end + 1;
  }
  return out;
}

TEST_F(Description, OfOneLineIsItsSpec) {
  for (const char* const spec :
       {"torus:8x8x8", "mesh:4x4,p=2", "fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2"}) {
    const std::string path = file("[network]\ntopology = \"" + std::string(spec) + "\"\n");
    for (const char* const profile : {"", "cluster", "nsim", "textbook"}) {
      MachineWords words{.net = spec, .profile = profile};
      const MachineDescription by_spec = read(words);
      words.net = path;
      EXPECT_EQ(read(words).text, by_spec.text) << spec << " " << profile;
    }
  }
}

TEST_F(Description, TakesTheProfileOfTheOptionThenTheFile) {
  const std::string silent = file("[network]\ntopology = \"ring:4\"\n");
  const std::string named =
      file("profile = \"textbook\"\n[network]\ntopology = \"ring:4\"\n", "named.toml");
  EXPECT_EQ(read({.net = silent}).profile, "cluster");
  EXPECT_EQ(read({.net = named}).profile, "textbook");
  EXPECT_EQ(read({.net = named}).hardware.switch_delay, Duration::ns(1));
  EXPECT_EQ(read({.net = named, .profile = "nsim"}).hardware.switch_delay, Duration::ns(140));
  EXPECT_EQ(read({.net = "ring:4", .sets = {"profile=textbook"}}).profile, "textbook");
  EXPECT_EQ(refusal({.net = "ring:4", .profile = "nism"}),
            "--profile: unknown profile 'nism'; did you mean 'nsim'?");
  const std::string wrong = file("[network]\ntopology = \"ring:4\"\n", "wrong.toml");
  ASSERT_TRUE(write_file(wrong, "profile = \"booksim\"\n[network]\ntopology = \"ring:4\"\n"));
  EXPECT_EQ(refusal({.net = wrong}),
            wrong + ":1: unknown profile 'booksim'; known: cluster, nsim, textbook");
  for (const Profile& profile : profiles())
    EXPECT_NE(list_profiles().find(std::string(profile.name) + " "), std::string::npos);
}

TEST_F(Description, ReadAgainIsTheSame) {
  const std::vector<std::string> sets = {"router.buffer=8 KiB",    "link.global.delay=300 ns",
                                         "node.sockets=2",         "messages.eager_limit=1 KiB",
                                         "router.arbitration=age", "nic.inject_rate=4 GB/s",
                                         "routing.policy=valiant", "news.mode=none"};
  for (const char* const profile : {"cluster", "nsim", "textbook"}) {
    const MachineDescription first =
        read({.net = "dragonfly:a=4,h=2,p=2", .profile = profile, .sets = sets});
    const MachineDescription again = read({.net = file(first.text)});
    EXPECT_EQ(values(again.text), values(first.text));
    EXPECT_EQ(again.profile, profile);
    EXPECT_EQ(again.hardware.cabling("global").credit_delay, Duration::ns(300));
    EXPECT_EQ(again.messages.credit, first.messages.credit);
  }
}

TEST_F(Description, ShowsWhatIsGivenAndWhatIsDefault) {
  const std::string text =
      read({.net = "torus:4x4", .routing = "dor:up", .sets = {"link.delay=50 ns"}}).text;
  EXPECT_TRUE(text.starts_with("profile = \"cluster\"\n\n[network]\ntopology = \"torus:4x4\"\n"))
      << text;
  EXPECT_NE(text.find("\npolicy = \"dor:up\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ndelay = \"50 ns\"\n"), std::string::npos) << text;
  // What follows from other keys is shown as it follows.
  EXPECT_NE(values(text).find("\ncredit_delay = \"50 ns\"\n"), std::string::npos) << text;
  EXPECT_NE(values(text).find("\nvcs = 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# default\n"), std::string::npos) << text;
}

TEST_F(Description, SwitchesOfTodayDoNotBlockAtTheHeadOfInputs) {
  for (const char* const spec :
       {"fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2", "hyperx:4x4,p=2"}) {
    const NetworkHardware made = read({.net = spec}).hardware;
    EXPECT_EQ(made.output_buffer, made.buffer) << spec;
    EXPECT_EQ(made.switch_rate, Rate::gbyte_per_s(50)) << spec;
  }
  for (const char* const spec : {"torus:4x4", "hyperx:4x4"})  // A router of each node's own.
    EXPECT_EQ(read({.net = spec}).hardware.output_buffer, Bytes{0}) << spec;
  for (const char* const profile : {"nsim", "textbook"})
    EXPECT_EQ(read({.net = "fattree:k=4,levels=2", .profile = profile}).hardware.output_buffer,
              Bytes{0});
  const MachineWords given = {.net = "fattree:k=4,levels=2", .sets = {"router.output_buffer=0 B"}};
  EXPECT_EQ(read(given).hardware.output_buffer, Bytes{0});
}

TEST_F(Description, OneLineSaysSocketsAndCards) {
  const auto node = [&](const std::string& layout, std::vector<std::string> sets = {}) {
    sets.insert(sets.begin(), "node.layout=" + layout);
    return read({.net = "torus:4x4,p=4", .sets = std::move(sets)}).node;
  };
  const NodeModel two = node("2 sockets x 2 cards");
  EXPECT_EQ(two.sockets, 2);
  EXPECT_EQ(two.rails, 4);
  EXPECT_EQ(two.card_socket, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(two.far_latency, Duration::ns(120));
  EXPECT_EQ(two.far_transactions, 32);
  EXPECT_EQ(two.memory_rate, Rate::gbyte_per_s(100));
  EXPECT_EQ(node("2 sockets x 1 card").rails, 2);
  EXPECT_EQ(node("1 socket x 2 cards").far_latency, Duration::zero());
  EXPECT_EQ(node("4 cards").sockets, 1);
  // A faster link has as many transactions under way as it needs; what is said is as it is said.
  EXPECT_EQ(node("2 sockets x 2 cards", {"link.rate=100 GB/s"}).far_transactions, 94);
  EXPECT_EQ(node("2 sockets x 2 cards", {"node.far_latency=200 ns"}).far_transactions, 40);
  EXPECT_EQ(node("2 sockets x 2 cards", {"node.card_socket=[1,1,0,0]"}).card_socket,
            (std::vector<int>{1, 1, 0, 0}));
  const std::string shown =
      read({.net = "torus:4x4,p=4", .sets = {"node.layout=2 sockets x 2 cards"}}).text;
  EXPECT_EQ(values(read({.net = file(shown)}).text), values(shown));
}

TEST_F(Description, LayoutsThatMakeNoSense) {
  const std::string head = "[network]\ntopology = \"torus:4x4,p=4\"\n[node]\n";
  for (const char* const text : {"two sockets", "2 sockets", "2 cards x 2 sockets", "0 cards",
                                 "4 sockets x 5 cards", "2 sockets x 2 cards x 2", "2 x 2", " "}) {
    const std::string path = file(head + "layout = \"" + text + "\"\n");
    EXPECT_EQ(refusal({.net = path}),
              path +
                  ":4: layout must look like \"2 sockets x 2 cards\" (cards of each socket), "
                  "with at most 16 cards in all")
        << text;
  }
  const std::string path = file(head + "layout = \"2 sockets x 2 cards\"\nsockets = 4\n");
  EXPECT_EQ(refusal({.net = path}), path + ":5: sockets = 4, but layout says 2; leave sockets out");
  const std::string twice = file(head + "cards = 2\nrails = 2\n");
  EXPECT_EQ(refusal({.net = twice}),
            twice + ":5: rails and cards are two words for the same; keep cards");
}

TEST_F(Description, ReadsEveryTable) {
  const std::string head = "[network]\ntopology = \"torus:4x4\"\n";
  const std::map<std::string, std::string> wrong = {
      {"[rooter]\nvcs = 2\n", ":3: unknown table [rooter]; did you mean 'router'?"},
      {"[router]\nvsc = 2\n", ":4: unknown key 'vsc' in [router]; did you mean 'vcs'?"},
      {"[node]\ncard = 2\n", ":4: unknown key 'card' in [node]; did you mean 'cards'?"},
      {"[messages]\nsplitt = \"equal\"\n",
       ":4: unknown key 'splitt' in [messages]; did you mean 'split'?"},
      {"[routing]\npolicy = 3\n",
       ":4: 'policy' in [routing] must be text in quotes, not a whole "
       "number"},
      {"[link]\nrate = 25\n", ":4: 'rate' in [link]: '25' needs a unit, e.g. '8 GB/s'"},
      {"[node]\nrails = 3\n", ":4: the network's 16 ends are no multiple of the rails"},
      {"[node]\nlayout = \"3 cards\"\n",
       ":4: the network's 16 ends are no multiple of the cards of a node"},
      {"[router]\nbuffer = \"8 B\"\n",
       ":4: router.buffer of 8 B is smaller than one packet of 4 KiB; virtual cut-through needs "
       "room for a whole packet"},
  };
  for (const auto& [text, message] : wrong) {
    const std::string path = file(head + text);
    EXPECT_EQ(refusal({.net = path}), path + message);
  }
  const std::string path = file("speed = 3\n" + head);
  EXPECT_EQ(refusal({.net = path}),
            path + ":1: unknown key 'speed' outside all tables; known: profile");
}

TEST_F(Description, ErrorsOfASpecNameTheOption) {
  EXPECT_EQ(refusal({.net = "toruss:4x4"}),
            "--net: unknown kind of network 'toruss'; did you mean 'torus'?");
  EXPECT_EQ(refusal({.net = "toruss:4x4", .net_option = ""}),
            "unknown kind of network 'toruss'; did you mean 'torus'?");
  EXPECT_EQ(refusal({.net = "nowhere"}),
            "--net: 'nowhere' is neither a file nor a network spec such as torus:4x4x4");
  EXPECT_EQ(refusal({.net = "torus:4x4", .sets = {"router.vsc=1"}}),
            "option 'router.vsc=1': unknown key 'vsc' in [router]; did you mean 'vcs'?");
  EXPECT_TRUE(refusal({}).starts_with("which network?"));
}

TEST_F(Description, SetsOfTheNetworkCountForSpecs) {
  EXPECT_EQ(read({.net = "torus:4x4", .sets = {"network.nodes_per_router=2"}}).nodes(), 32u);
  EXPECT_EQ(read({.net = "torus:4x4", .sets = {"network.down=[\"(0,0)-(1,0)\"]"}})
                .topology->graph.down_count(),
            1u);
}

TEST_F(Description, CablesHaveRatesOfTheirOwnByName) {
  const MachineWords words{
      .net = "dragonfly:a=4,h=2,p=2",
      .sets = {"link.global.rate=4 GB/s", "link.global.delay=300 ns",
               "link(g0.r1,g0.r0).rate=1 GB/s", "link(g0.r0,g1.r0).rate=2 GB/s"}};
  const MachineDescription machine = read(words);
  const NetworkHardware& hardware = machine.hardware;
  const Graph& graph = machine.topology->graph;
  const auto cable = [&](RouterId a, RouterId b) -> const Cabling& {
    for (const Port& port : graph.ports(a))
      if (port.peer == b) return hardware.cabling(graph.link_classes()[port.link_class]);
    ADD_FAILURE() << "no cable";
    return hardware.link;
  };
  EXPECT_EQ(cable(RouterId(0), RouterId(1)).rate, Rate::gbyte_per_s(1));
  EXPECT_EQ(cable(RouterId(1), RouterId(0)).rate, Rate::gbyte_per_s(1));
  EXPECT_EQ(cable(RouterId(0), RouterId(2)).rate, hardware.link.rate);
  // What is not said is as in the class that the cable is of.
  EXPECT_EQ(cable(RouterId(0), RouterId(4)).rate, Rate::gbyte_per_s(2));
  EXPECT_EQ(cable(RouterId(0), RouterId(4)).delay, Duration::ns(300));
  // The description shows it, and means the same when read again.
  EXPECT_NE(machine.text.find("[link.\"g0.r1-g0.r0\"]"), std::string::npos) << machine.text;
  const MachineDescription again = read({.net = file(machine.text)});
  EXPECT_EQ(values(again.text), values(machine.text));
  EXPECT_EQ(refusal({.net = "torus:4x4", .sets = {"link((0,0),(2,0)).rate=1 GB/s"}}),
            "option 'link((0,0),(2,0)).rate=1 GB/s': there is no cable '(0,0)-(2,0)'; those "
            "of (0,0) lead to (1,0), (3,0), (0,1), (0,3)");
}

TEST_F(Description, CablesBreakByOption) {
  const std::string path = file("[network]\ntopology = \"torus:4x4\"\ndown = [\"(0,0)-(1,0)\"]\n");
  const MachineDescription machine =
      read({.net = path, .sets = {"network.down+=(0,0)-(0,1)", "network.down+=random:2"}});
  EXPECT_EQ(machine.topology->graph.down_count(), 4u);
  EXPECT_EQ(machine.routing, "dor-around");
  EXPECT_EQ(refusal({.net = "torus:4x4", .sets = {"network.down+=(0,0)-(9,9)"}}),
            "--fail: no router '(9,9)' in torus:4x4; they are called '(0,0)' to '(3,3)'");
  EXPECT_EQ(refusal({.net = "torus:4x4", .sets = {"network.down+=random"}}),
            "--fail: 'random' must look like random:3 or random:3,seed=2");
}

TEST_F(Description, GraphFilesNeedNoDescription) {
  const std::string path =
      file("weft-graph 1\nrouter a\nrouter b\nnode x a\nnode y b\nlink a b\n", "a,b=c.graph");
  EXPECT_EQ(read({.net = path}).topology->graph.cable_count(), 1u);
  const std::string beside = file("[network]\ntopology = \"graph:a,b=c.graph\"\n");
  EXPECT_EQ(read({.net = beside}).topology->graph.cable_count(), 1u);
  const std::string wrong = file("weft-graph 1\nrouter a\nnode x b\n", "wrong.graph");
  EXPECT_TRUE(refusal({.net = wrong}).starts_with(wrong + ":3: router 'b' is not declared"));
  const std::string split =
      file("weft-graph 1\nrouter a\nrouter b\nnode x a\nnode y b\n", "split.graph");
  EXPECT_TRUE(refusal({.net = split}).starts_with(split + ": node 'y' cannot be reached"));
}

TEST_F(Description, PolicyErrorsNameTheirCause) {
  const auto why = [](const MachineWords& words) {
    const auto reader = MachineReader::open(words);
    const auto machine = reader->read_all();
    EXPECT_TRUE(machine);
    const auto policy = reader->make_policy(*machine);
    return policy ? "" : policy.error().text();
  };
  EXPECT_EQ(why({.net = "torus:4x4", .routing = "door"}),
            "--routing: unknown routing 'door'; did you mean 'dor'?");
  EXPECT_TRUE(why({.net = "torus:4x4", .sets = {"router.vcs=1"}})
                  .starts_with("option 'router.vcs=1': routing 'dor' on torus:4x4 needs"));
  const std::string path =
      file("[network]\ntopology = \"torus:4x4\"\n[routing]\npolicy = \"dest-down\"\n");
  EXPECT_TRUE(why({.net = path}).starts_with(path + ":4: routing 'dest-down' does not fit"));
}

}  // namespace
}  // namespace weft
