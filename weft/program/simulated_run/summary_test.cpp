// SPDX-License-Identifier: Apache-2.0
#include "weft/program/simulated_run/summary.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

using Json = nlohmann::json;

// Ranks of one node send nothing over the network.
TEST(Summary, SaysNothingOfLatenciesThatNobodyMeasured) {
  const RunSummary none;
  EXPECT_EQ(to_table(none).find("latency"), std::string::npos);
  EXPECT_EQ(Json::parse(to_json(none)).at("latency"), Json::parse(R"({"count":0,"buckets":[]})"));
  RunSummary some;
  some.latencies_ps.add(700'000);
  EXPECT_NE(to_table(some).find("p50 700 ns"), std::string::npos) << to_table(some);
  const Json latency = Json::parse(to_json(some)).at("latency");
  for (const char* key : {"min_ps", "p50_ps", "p90_ps", "p99_ps", "p999_ps", "max_ps"})
    EXPECT_EQ(latency.at(key), 700'000) << key;
  EXPECT_EQ(latency.at("buckets").size(), 1U);
}

TEST(Summary, NamesCablesThatAreDown) {
  RunSummary run;
  EXPECT_EQ(to_table(run).find("cables down"), std::string::npos);
  EXPECT_FALSE(Json::parse(to_json(run)).contains("cables_down_names"));
  run.cables_down = {"L1.11-L2.0", "L1.2-L2.1"};
  EXPECT_NE(to_table(run).find("cables down           2: L1.11-L2.0, L1.2-L2.1\n"),
            std::string::npos)
      << to_table(run);
  EXPECT_EQ(Json::parse(to_json(run)).at("cables_down_names"),
            Json::parse(R"(["L1.11-L2.0","L1.2-L2.1"])"));
}

TEST(Summary, NamesTheBusiestNodeLinkAndItsDirection) {
  RunSummary run;
  EXPECT_EQ(to_table(run).find("node link"), std::string::npos);
  run.injected = {8, 2000, 1000, 1e9, 0.1, 0.25, "n1 to (0,1)"};
  run.ejected = {8, 2000, 1500, 1e9, 0.1, 0.75, "(0,0) to n0"};
  EXPECT_NE(
      to_table(run).find("busiest node link     (0,0) to n0: 1500 bytes, 75.00 % of capacity"),
      std::string::npos)
      << to_table(run);
  const Json json = Json::parse(to_json(run)).at("node_links");
  EXPECT_EQ(json.at("busiest"), "(0,0) to n0");
  EXPECT_EQ(json.at("busiest_direction"), "ejection");
  EXPECT_EQ(json.at("injection").at("busiest_efficiency"), 0.25);
}

TEST(Summary, NamesTheAlgorithmsOfCollectives) {
  RunSummary run;
  EXPECT_EQ(to_table(run).find("algorithms"), std::string::npos);
  run.algorithms = {{"allreduce=rabenseifner", 1}, {"allreduce=ring", 3}, {"alltoall=linear", 2}};
  EXPECT_NE(to_table(run).find("algorithms            allreduce: rabenseifner (1 call), ring (3); "
                               "alltoall: linear (2)\n"),
            std::string::npos)
      << to_table(run);
  EXPECT_EQ(Json::parse(to_json(run)).at("algorithms"),
            Json::parse(R"({"allreduce": {"rabenseifner": 1, "ring": 3},
                            "alltoall": {"linear": 2}})"));
}

TEST(Summary, SaysHowMessagesWereSent) {
  RunSummary run;
  EXPECT_EQ(to_table(run).find("protocols"), std::string::npos);
  run.protocols = {3066, 511, 510};
  run.eager_limit = Bytes{16384};
  EXPECT_NE(to_table(run).find("protocols             3066 eager (up to 16 KiB), 511 by "
                               "rendezvous; 510 came before their receive\n"),
            std::string::npos)
      << to_table(run);
  EXPECT_EQ(Json::parse(to_json(run)).at("protocols"),
            Json::parse(R"({"eager": 3066, "rendezvous": 511, "unexpected": 510,
                            "eager_limit_bytes": 16384})"));
}

TEST(Summary, SaysWhatProcessorsSpentInMpi) {
  RunSummary run;
  EXPECT_EQ(to_table(run).find("processor in MPI"), std::string::npos);
  run.program_time = Time::zero() + Duration::us(800);
  run.in_mpi_mean = Duration::us(600);
  run.in_mpi_max = Duration::us(650);
  run.in_mpi_max_rank = RankId(3);
  EXPECT_NE(to_table(run).find("processor in MPI      mean 600 us, max 650 us (rank 3): copies of "
                               "messages (node.memory_rate) and calls, 75.00 % of the program "
                               "time\n"),
            std::string::npos)
      << to_table(run);
  EXPECT_EQ(Json::parse(to_json(run)).at("processor_in_mpi_ps"),
            Json::parse(R"({"mean": 600000000, "most": 650000000, "most_rank": 3})"));
  run.connections.mode = "full";  // Opening them takes the processor, too.
  EXPECT_NE(
      to_table(run).find("copies of messages (node.memory_rate), calls, connections, 75.00 %"),
      std::string::npos);
}

TEST(Summary, SaysWhatPacketsWaitedFor) {
  RunSummary run;
  run.packets = 4;
  run.packet_waiting.resize(2);
  EXPECT_EQ(to_table(run).find("waiting per packet"), std::string::npos);
  PacketWaiting& links = run.packet_waiting[0];
  links.kind = "links";
  LinkCount count;
  count.waited_in_queue = Duration::ns(4);
  count.waited_for_turn = Duration::ns(40);
  count.waited_for_room = Duration::ns(60);
  links.add(count, [] { return std::string("a to b"); });
  count = {};
  count.waited_for_room = Duration::ns(20);
  links.add(count, [] { return std::string("b to a"); });
  PacketWaiting& injection = run.packet_waiting[1];
  injection.kind = "injection";
  count.waited_for_room = Duration::ns(124);
  injection.add(count, [] { return std::string("n0 to a"); });
  const std::string table = to_table(run);
  EXPECT_NE(table.find("waiting per packet    mean 62 ns: links 1 ns in queues, 10 ns for a turn, "
                       "20 ns for room; injection 31 ns for room"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("most waited for       n0 to a: 50.00 % of that"), std::string::npos)
      << table;
  const Json json = Json::parse(to_json(run)).at("packet_waiting");
  EXPECT_EQ(json.at("mean_ps"), 62'000);
  EXPECT_EQ(json.at("kinds").at(0).at("room_ps"), 80'000);
  EXPECT_EQ(json.at("kinds").at(0).at("most"), "a to b");
}

}  // namespace
}  // namespace weft
