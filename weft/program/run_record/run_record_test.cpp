// SPDX-License-Identifier: Apache-2.0
#include "weft/program/run_record/run_record.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>

namespace weft {
namespace {

RankNumbers numbers_of(std::uint32_t rank, std::int64_t end_us) {
  RankNumbers numbers;
  numbers.row.rank = RankId(rank);
  numbers.row.node = rank / 2;
  numbers.row.end_ps = end_us * 1'000'000;
  numbers.row.counts.ended = Time::zero() + Duration::us(end_us);
  numbers.row.counts.waited = Duration::us(rank + 1);
  numbers.row.counts.messages = 3;
  numbers.row.counts.bytes = 100;
  numbers.host = rank < 2 ? "a" : "b";
  numbers.calls["MPI_Send"] = {3, 100, Duration::us(2), {}, {}};
  numbers.pairs = {{RankId(rank), RankId(0), 1, 40}, {RankId(rank), RankId(1), 2, 60}};
  numbers.rails = {{"rail 0", 100, 80, Duration::us(1), rank}};
  numbers.connections = rank + 1;
  if (rank < 2) numbers.algorithms = {{"allreduce=ring", 2}, {"alltoall=linear", rank}};
  return numbers;
}

RunRecord record_of(std::uint32_t ranks) {
  RunRecord record;
  record.program = "p";
  record.ranks = ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    // As rank 0 receives them.
    record.add(unpack_numbers(pack(numbers_of(rank, 10 + rank))));
  }
  return record;
}

// Memory between fields is nobody's, and would carry what this process had there before.
TEST(RunRecord, OnlyFieldsTravel) {
  RankNumbers numbers;
  const std::size_t empty = pack(numbers).size();
  numbers.calls["MPI_Send"] = {3, 4, Duration::ps(5), Duration::ps(6), RankId{7}};
  EXPECT_EQ(pack(numbers).size() - empty, (8 + 8) + 4 * 8 + 4u);
  numbers.managed.refused = 8;
  numbers.managed.repeated = 9;
  const RankNumbers back = unpack_numbers(pack(numbers));
  EXPECT_EQ(back.calls.at("MPI_Send").longest.in_ps(), 6);
  EXPECT_EQ(back.calls.at("MPI_Send").longest_rank, RankId{7});
  EXPECT_EQ(back.managed.refused, 8u);
  EXPECT_EQ(back.managed.repeated, 9u);
  EXPECT_EQ(back.managed.neighbours, 0u);
}

TEST(RunRecord, AddsUpWhatRanksTell) {
  const auto json = nlohmann::json::parse(to_json(record_of(3)));
  EXPECT_EQ(json["weft"], "run");
  EXPECT_EQ(json["ranks"], 3);
  EXPECT_EQ(json["ranks_heard"], 3);
  EXPECT_EQ(json["nodes"], 2);
  EXPECT_EQ(json["hosts"][1]["name"], "b");
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["program_time_ps"], 12'000'000);
  EXPECT_EQ(json["messages"], 9);
  EXPECT_EQ(json["bytes"], 300);
  EXPECT_EQ(json["waiting_ps"]["mean"], 2'000'000);
  EXPECT_EQ(json["waiting_ps"]["least"], 1'000'000);
  EXPECT_EQ(json["waiting_ps"]["most_rank"], 2);
  EXPECT_EQ(json["calls"]["MPI_Send"]["count"], 9);
  EXPECT_EQ(json["rails"].size(), 2u);
  EXPECT_EQ(json["rails"][0]["bytes"], 200);
  EXPECT_EQ(json["rails"][0]["downs"], 1);
  EXPECT_EQ(json["rails"][0]["mean_byte_per_s"], 80e6);
  EXPECT_EQ(json["connections"]["all"], 6);
  EXPECT_EQ(json["connections"]["most"], 3);
}

TEST(RunRecord, NamesTheAlgorithmsOfCollectives) {
  const RunRecord record = record_of(3);
  EXPECT_EQ(nlohmann::json::parse(to_json(record))["algorithms"],
            nlohmann::json::parse(R"({"allreduce": {"ring": 4}, "alltoall": {"linear": 1}})"));
  EXPECT_NE(to_table(record).find(
                "algorithms            allreduce: ring (4 calls); alltoall: linear (1)"),
            std::string::npos)
      << to_table(record);
  EXPECT_EQ(algorithms_text({{"bcast=binomial", 1}, {"bcast=pipeline", 7}}),
            "bcast: binomial (1 call), pipeline (7)");
  EXPECT_EQ(to_table(record_of(0)).find("algorithms"), std::string::npos);
}

TEST(RunRecord, NamesTheRankThatWasInACallForLongest) {
  CallTable calls;
  add_rank(calls, RankId(2), {{"MPI_Recv", {1, 0, Duration::us(5), {}, {}}}});
  add_rank(calls, RankId(1), {{"MPI_Recv", {1, 0, Duration::us(5), {}, {}}}});
  add_rank(calls, RankId(0), {{"MPI_Recv", {3, 0, Duration::us(4), {}, {}}}});
  const CallTotals& receive = calls.at("MPI_Recv");
  EXPECT_EQ(receive.count, 5u);
  EXPECT_EQ(receive.inside, Duration::us(14));
  EXPECT_EQ(receive.longest, Duration::us(5));
  EXPECT_EQ(receive.longest_rank, RankId(1));  // The lower of equals, whoever comes first.
  EXPECT_EQ(uneven_call(calls, 3, Duration::us(9)), "");
  add_rank(calls, RankId(7), {{"MPI_Send", {1, 0, Duration::us(8), {}, {}}}});
  EXPECT_EQ(uneven_call(calls, 100, Duration::us(9)),
            "rank 7 is in MPI_Send for 8 us, ranks on average for 80 ns; others may wait for it");
  EXPECT_EQ(uneven_call(calls, 100, Duration::us(90)), "");  // Not a good part of the run.
  EXPECT_EQ(uneven_call({}, 100, Duration::us(90)), "");
  EXPECT_NE(calls_table(calls, 3).find("5 us        1"), std::string::npos);
}

TEST(RunRecord, WritesItsFiles) {
  const std::string folder = test_file("record");
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_record(folder, record_of(2)));
  EXPECT_EQ(*read_file(folder + "/traffic.txt"),
            "# weft traffic matrix, 2 ranks: from to bytes messages\n0 0 40 1\n0 1 60 2\n1 0 40 1\n"
            "1 1 60 2\n");
  EXPECT_EQ(*read_file(folder + "/ranks.csv"),
            "rank,node,end_ps,waited_ps,spent_ps,messages,bytes\n0,0,10000000,1000000,0,3,100\n"
            "1,0,11000000,2000000,0,3,100\n");
  EXPECT_EQ(*read_file(folder + "/calls.csv"),
            "call,count,bytes,time_ps,longest_ps,longest_rank\nMPI_Send,6,200,4000000,2000000,0\n");
  EXPECT_EQ(*read_file(folder + "/summary.txt"), to_table(record_of(2)));
}

TEST(RunRecord, OfNobodyIsARecordToo) {
  RunRecord record;
  record.ending = "aborted";
  record.program = "\xff";  // A name may contain any bytes.
  const auto json = nlohmann::json::parse(to_json(record));
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["waiting_ps"]["least"], 0);
  EXPECT_NE(to_table(record).find("(aborted)"), std::string::npos);
}

}  // namespace
}  // namespace weft
