// SPDX-License-Identifier: Apache-2.0
#include "weft/workload/patterns/traffic_file.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/rng.hpp>
#include <weft/base/test_file.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

using Flows = std::vector<Flow>;

Flows flows_of(const Result<TrafficMatrix>& read) {
  if (!read) {
    ADD_FAILURE() << read.error().text();
    return {};
  }
  return {read->flows().begin(), read->flows().end()};
}

Flows read(std::string_view text, const std::string& name = "t",
           std::string_view format = "automatic") {
  return flows_of(read_traffic_text(text, name, {.format = *parse_traffic_format(format)}));
}

std::string refusal(std::string_view text, const std::string& name = "t", std::uint32_t ranks = 0) {
  const auto made = read_traffic_text(text, name, {.ranks = ranks});
  return made ? "accepted" : made.error().text();
}

TEST(TrafficFile, PlainText) {
  const Flows expected = {{0, 1, 2048, 1}, {1, 0, 65536, 3}};
  EXPECT_EQ(read("# a comment\n0 1 2048\n\n1\t0  64KiB 3 # and another\n"), expected);
  EXPECT_EQ(read("0 1 2048\r\n1 0 65536 3\r\n"), expected);
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "0 1 2.048e3\n1 0 65536 3"),
            expected);
  EXPECT_EQ(read("dst src bytes messages\n1 0 2048 1\n0 1 65536 3\n"), expected);
}

TEST(TrafficFile, NothingSentIsNoFlowUnlessMessagesAreCounted) {
  const Flows expected = {{0, 2, 0, 4}};
  EXPECT_EQ(read("0 1 0\n0 2 0 4\n"), expected);
}

TEST(TrafficFile, RanksAreThoseUsedSaidOrAskedFor) {
  const auto ranks = [](std::string_view text, std::uint32_t asked) {
    const auto made = read_traffic_text(text, "t", {.ranks = asked});
    return made ? made->ranks() : 0;
  };
  EXPECT_EQ(ranks("0 3 1\n", 0), 4u);
  EXPECT_EQ(ranks("0 3 1\n", 9), 9u);
  EXPECT_EQ(ranks("# weft traffic matrix, 7 ranks: from to bytes messages\n0 3 1 1\n", 0), 7u);
  EXPECT_EQ(ranks("# weft traffic matrix, 7 ranks: from to bytes messages\n", 0), 7u);
  EXPECT_EQ(ranks("# weft traffic matrix, 7 ranks: from to bytes messages\n", 8), 8u);
  EXPECT_EQ(ranks("# nobody talks\n", 5), 5u);
}

TEST(TrafficFile, Csv) {
  const Flows expected = {{0, 1, 2048, 1}, {1, 0, 65536, 3}};
  EXPECT_EQ(read("0,1,2048\n1, 0, 64 KiB, 3\n"), expected);
  EXPECT_EQ(read("Source,Target,Weight\n0,1,2048\n1,0,65536\n"),
            (Flows{{0, 1, 2048, 1}, {1, 0, 65536, 1}}));
  EXPECT_EQ(read("\"time\";\"bytes\";\"messages\";\"dst\";\"src\"\n0.5;2048;;1;0\n1;65536;3;0;1\n"),
            expected);
  EXPECT_EQ(read("0\t1\t2048\n1\t0\t65536\t3\n", "t.csv"), expected);
  EXPECT_EQ(read("# weft\n\"0\",\"1\",\"2048\",\n1,0,65536,3,\r\n", "t.csv"), expected);
}

TEST(TrafficFile, MatrixMarket) {
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n% x\n\n3 3 2\n1 2 10\n3 3 5\n"),
            (Flows{{0, 1, 10, 1}, {2, 2, 5, 1}}));
  EXPECT_EQ(
      read("%%MatrixMarket MATRIX coordinate real symmetric\r\n3 3 2\r\n2 1 9.6\r\n3 3 5\r\n"),
      (Flows{{0, 1, 10, 1}, {1, 0, 10, 1}, {2, 2, 5, 1}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n"),
            (Flows{{1, 0, 1, 1}}));
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n2 2\n0\n1e3\n2.5e3 0.0\n"),
            (Flows{{0, 1, 2500, 1}, {1, 0, 1000, 1}}));
  EXPECT_EQ(read("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"),
            (Flows{{0, 0, 1, 1}, {0, 1, 2, 1}, {1, 0, 2, 1}, {1, 1, 3, 1}}));
}

TEST(TrafficFile, Metis) {
  // A triangle and a vertex alone, whose line is empty.
  const Flows ones = {{0, 1, 1, 1}, {0, 2, 1, 1}, {1, 0, 1, 1},
                      {1, 2, 1, 1}, {2, 0, 1, 1}, {2, 1, 1, 1}};
  EXPECT_EQ(read("4 3\n2 3\n1 3\n1 2\n\n"), ones);
  EXPECT_EQ(read("% x\n4 3 000\n2 3\n% y\n1 3\n1 2\n\n\n\n", "t.graph"), ones);
  EXPECT_EQ(read("2 1 1\n2 70\n1 70\n", "t.graph"), (Flows{{0, 1, 70, 1}, {1, 0, 70, 1}}));
  EXPECT_EQ(read("2 1 011 2\n8 9 2 70\n8 9 1 70\n"), (Flows{{0, 1, 70, 1}, {1, 0, 70, 1}}));
  EXPECT_EQ(read("2 1 110 2\n4 8 9 2\n4 8 9 1\n", "", "metis"),
            (Flows{{0, 1, 1, 1}, {1, 0, 1, 1}}));
}

TEST(TrafficFile, BadTextNamesLineAndRemedy) {
  const std::string usage = "write: from to bytes [messages]";
  EXPECT_EQ(refusal(""), "t: the file is empty; write lines such as '0 1 2048' (from to bytes)");
  EXPECT_EQ(refusal("# none\n"),
            "t: no traffic in it; write lines such as '0 1 2048' (from to bytes)");
  EXPECT_EQ(refusal("0 1 5\n0 1\n"), "t:2: 2 columns ('0'...); " + usage);
  EXPECT_EQ(refusal("0 1 5 6 7\n"), "t:1: 5 columns ('0'...); " + usage);
  EXPECT_EQ(refusal("0 1 -5\n"), "t:1: '-5' is negative; what is sent is at least 0 bytes");
  EXPECT_EQ(refusal("0 -1 5\n"),
            "t:1: '-1' is not the rank that receives; write a whole number, 0 or more");
  EXPECT_EQ(refusal("0 1 nan\n"), "t:1: 'nan' is no amount; bytes must be finite");
  EXPECT_EQ(refusal("0 1 inf\n"), "t:1: 'inf' is no amount; bytes must be finite");
  EXPECT_EQ(refusal("0 1 99999999999999999999\n"),
            "t:1: '99999999999999999999' is too large; at most 2^62, so use a larger unit");
  EXPECT_EQ(refusal("0 1 1e999\n"), "t:1: '1e999' is out of range; bytes are from 0 to 2^62");
  EXPECT_EQ(refusal("0 1 0.2\n"),
            "t:1: '0.2' is less than half a byte; multiply all by the same large number");
  EXPECT_EQ(refusal("0 1 64 KiB\n"),
            "t:1: 'KiB' is not a number of messages; a unit stands beside its number without a "
            "blank: 64KiB");
  EXPECT_EQ(refusal("0 1 64KoB\n"), "t:1: '64KoB': unknown unit 'KoB'; did you mean 'kB'?");
  EXPECT_EQ(refusal("0 1 5 0\n"),
            "t:1: 5 bytes in 0 messages; give at least one, or leave the column out");
  EXPECT_EQ(refusal("0 1 4611686018427387904\n0 2 1\n"),
            "t:2: the bytes up to here add up to more than 2^62; use a larger unit");
  EXPECT_EQ(refusal("0 1 5\n# x\nhello\n"), "t:3: 'hello' is no flow; " + usage);
}

TEST(TrafficFile, RankOutOfRangeNamesTheLine) {
  const std::string title = "# weft traffic matrix, 4 ranks: from to bytes messages\n";
  EXPECT_EQ(refusal("0 1 5\n0 4 5\n", "t", 4),
            "t:2: rank 4, but 4 ranks are asked for, which count from 0; ask for 5 or more");
  EXPECT_EQ(refusal(title + "0 4 5 1\n"),
            "t:2: rank 4, but the file says that it has 4 ranks, which count from 0");
  EXPECT_EQ(refusal("0 4 5 1\n" + title),
            "t:2: rank 4, but the file says that it has 4 ranks, which count from 0");
  EXPECT_EQ(refusal(title, "t", 3),
            "t:1: this is the traffic of 4 ranks, but 3 are asked for; ask for 4 or more");
  EXPECT_EQ(refusal(title + title), "t:2: a second header; a file holds the traffic of one run");
  EXPECT_EQ(refusal("0 4000000000 5\n"),
            "t:1: rank 4000000000; the highest possible one is 67108863");
  EXPECT_EQ(refusal("0 18446744073709551615 5\n", "t", 4),
            "t:1: rank 18446744073709551615; the highest possible one is 67108863");
}

TEST(TrafficFile, BinaryIsNamedAndNeverPrinted) {
  EXPECT_EQ(refusal(std::string_view("\x1f\x8b\x08\0", 4)),
            "t: this is compressed; unpack it first");
  EXPECT_EQ(refusal(std::string_view("0 1\0 5", 6)),
            "t: binary data, not text; save it as UTF-8 text, or name its format");
  EXPECT_EQ(refusal("0 \x1b[2J\x80 5\n"),
            "t:1: '?[2J?' is not the rank that receives; write a whole number, 0 or more");
  EXPECT_EQ(refusal("x", "t.otf2"),
            "t.otf2: an OTF2 archive, which cannot be read here; give a text");
}

TEST(TrafficFile, BadCsv) {
  EXPECT_EQ(refusal("src,dst,byte\n"), "t:1: unknown column 'byte'; did you mean 'bytes'?");
  EXPECT_EQ(refusal("src,dst\n"),
            "t:1: the header has no column 'bytes'; write: from to bytes [messages], or name these "
            "columns");
  EXPECT_EQ(refusal("src,from,dst,bytes\n"),
            "t:1: columns 'src' and 'from' mean the same; keep one");
  EXPECT_EQ(refusal("src,dst,bytes\n0,1,5\nsrc,dst,bytes\n"),
            "t:3: the header stands here again; leave it out");
  EXPECT_EQ(refusal("src,dst,bytes\n0,1,1,024\n"),
            "t:2: 4 columns, but the header has 3; numbers have no commas");
  EXPECT_EQ(refusal("src,dst,bytes\n0,1\n"), "t:2: a number of bytes is missing");
  EXPECT_EQ(refusal("\"0,1,5\n", "t.csv"),
            "t.csv:1: a quotation mark is not closed; close it in the same line");
}

TEST(TrafficFile, BadMatrixMarket) {
  const std::string title = "%%MatrixMarket matrix coordinate integer general\n";
  EXPECT_EQ(refusal("1 2 3\n", "t.mtx"),
            "t.mtx:1: the first line must be like '%%MatrixMarket matrix coordinate integer "
            "general'");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate complex general\n"),
            "t:1: 'complex' values are no bytes; 'integer', 'real' or 'pattern' are");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real skew-symmetric\n"),
            "t:1: 'skew-symmetric' has no meaning for bytes; write it as 'general' or 'symmetric'");
  EXPECT_EQ(refusal(title), "t:1: cut off before the line of sizes; copy it anew");
  EXPECT_EQ(refusal(title + "2 3 1\n1 1 1\n"),
            "t:2: 2 rows and 3 columns; a rank has one of each, so they must be as many");
  EXPECT_EQ(refusal(title + "0 0 0\n"), "t:2: no ranks; at least one must be there");
  EXPECT_EQ(refusal(title + "2 2 3\n1 2 1\n"),
            "t:3: the file ends here, but 2 of 3 values are missing; copy it anew, or correct the "
            "number");
  EXPECT_EQ(refusal(title + "2 2 1\n1 2 1\n2 1 1\n"),
            "t:4: more than the 1 values that the header promises; correct the number");
  EXPECT_EQ(refusal(title + "2 2 1\n1 3 1\n"), "t:3: the column is 3; it must be from 1 to 2");
  EXPECT_EQ(refusal(title + "2 2 1\n0 1 1\n"), "t:3: the row is 0; it must be from 1 to 2");
  EXPECT_EQ(refusal(title + "2 2 1\n1 2 1.5\n"),
            "t:3: '1.5' is not a whole number, which the first line promises; write 'real' there");
  EXPECT_EQ(refusal(title + "2 2 1\n1 2 -1\n"),
            "t:3: '-1' is negative; what is sent is at least 0 bytes");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n"),
            "t:3: row 1 and column 2 are above the diagonal of a symmetric matrix; give the lower "
            "half, or write 'general'");
  EXPECT_EQ(refusal(title + "8 8 0\n", "t", 4),
            "t:2: this is the traffic of 8 ranks, but 4 are asked for; ask for 8 or more");
  EXPECT_EQ(refusal(title + "99999999999 99999999999 0\n"),
            "t:2: 99999999999 ranks; at most 67108864 are possible");
}

TEST(TrafficFile, BadMetis) {
  EXPECT_EQ(refusal("3 1\n2\n1\n", "t.graph"),
            "t.graph:3: the file ends here, after 2 of 3 vertices; copy it anew");
  EXPECT_EQ(refusal("2 2\n2\n1\n"),
            "t:1: the header promises 2 edges, so 4 neighbours in all, but there are 2; every edge "
            "stands in the lines of both its ends");
  EXPECT_EQ(refusal("2 1\n2\n3\n"), "t:3: neighbour 3 must be from 1 to 2, the vertices");
  EXPECT_EQ(refusal("2 1\n1\n1\n"), "t:2: vertex 1 is its own neighbour; leave that out");
  EXPECT_EQ(
      refusal("2 1 001\n2 5\n1 6\n"),
      "t:2: vertex 1 has neighbour 2 with weight 5, but there it is 6; an edge stands in both "
      "lines with one weight");
  EXPECT_EQ(
      refusal("3 1\n2\n3\n\n"),
      "t:2: vertex 1 has neighbour 2 with weight 1, but there it is 0; an edge stands in both "
      "lines with one weight");
  EXPECT_EQ(refusal("2 1 001\n2 5\n1\n"), "t:3: neighbour 1 has no weight, which fmt promises");
  EXPECT_EQ(refusal("2 1\n2\n1\n2\n"),
            "t:4: a line more than the 2 vertices of the header; correct the number");
  EXPECT_EQ(refusal("2 1 7\n2\n1\n", "t.graph"),
            "t.graph:1: fmt '7' must be up to three digits 0 or 1: sizes, vertex weights, edge "
            "weights");
}

TEST(TrafficFile, FormatsByName) {
  const auto found = parse_traffic_format("matrix-market");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->name, "matrix-market");
  const auto unknown = parse_traffic_format("cvs");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().text(), "unknown traffic format 'cvs'; did you mean 'csv'?");
}

TEST(TrafficFile, FromDisk) {
  const std::string path = test_file("traffic.txt");
  ASSERT_TRUE(write_file(path, "0 1 5\n0 2\n"));
  const auto broken = read_traffic(path, {});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().text(),
            path + ":2: 2 columns ('0'...); write: from to bytes [messages]");
  EXPECT_EQ(broken.error().broken(), Broken::input);
  const auto missing = read_traffic(path + ".not", {});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("cannot read"), std::string::npos);
}

TrafficMatrix random_matrix(Rng& rng, bool both_ways) {
  const auto ranks = static_cast<std::uint32_t>(1 + rng.below(12));
  Flows flows;
  for (std::uint64_t i = rng.below(30); i > 0; --i) {
    const auto from = static_cast<std::uint32_t>(rng.below(ranks));
    const auto to = static_cast<std::uint32_t>(rng.below(ranks));
    const std::uint64_t bytes = rng.below(std::uint64_t{1} << (1 + rng.below(50)));
    if (both_ways && from == to) continue;
    flows.push_back({from, to, bytes, 1 + rng.below(5)});
    if (both_ways) flows.push_back({to, from, bytes, flows.back().messages});
  }
  auto made = TrafficMatrix::make(ranks, std::move(flows));
  EXPECT_TRUE(made);
  return *std::move(made);
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string as_csv(const TrafficMatrix& m) {
  std::string out = "messages,to,bytes,from\n";
  for (const Flow& f : m.flows())
    out += number(f.messages) + "," + number(f.to) + "," + number(f.bytes) + "," + number(f.from) +
           "\n";
  return out;
}

std::string as_matrix_market(const TrafficMatrix& m) {
  std::string out = "%%MatrixMarket matrix coordinate integer general\n";
  out += number(m.ranks()) + " " + number(m.ranks()) + " " + number(m.flows().size()) + "\n";
  for (const Flow& f : m.flows())
    out += number(f.from + 1) + " " + number(f.to + 1) + " " + number(f.bytes) + "\n";
  return out;
}

std::string as_metis(const TrafficMatrix& m) {
  std::string out = number(m.ranks()) + " " + number(m.flows().size() / 2) + " 001\n";
  for (std::uint32_t r = 0; r < m.ranks(); ++r) {
    for (const Flow& f : m.from(r)) out += number(f.to + 1) + " " + number(f.bytes) + " ";
    out += "\n";
  }
  return out;
}

// Matrix Market and METIS know no messages: one for each pair that sends something.
Flows without_messages(const TrafficMatrix& m) {
  Flows flows;
  for (Flow f : m.flows())
    if (f.bytes > 0) flows.push_back({f.from, f.to, f.bytes, 1});
  return flows;
}

TEST(TrafficFile, WhatIsWrittenIsReadBack) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    const TrafficMatrix m = random_matrix(rng, round % 2 == 0);
    const Flows all(m.flows().begin(), m.flows().end());
    const auto back = read_traffic_text(write_traffic_text(m), "t", {});
    ASSERT_EQ(flows_of(back), all);
    EXPECT_EQ(back->ranks(), m.ranks());
    EXPECT_EQ(back->bytes(), m.bytes());
    const auto csv = read_traffic_text(as_csv(m), "t", {.ranks = m.ranks()});
    EXPECT_EQ(flows_of(csv), all);
    EXPECT_EQ(read(as_matrix_market(m)), without_messages(m));
    if (round % 2 == 0) {
      EXPECT_EQ(read(as_metis(m), "t.graph"), without_messages(m));
    }
  }
}

// Whatever happens to a file, it is read or refused in one printable line.
TEST(TrafficFile, DamagedInputIsReadOrRefused) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  constexpr std::string_view bits[] = {"-", "\n", " ",   ",",  "\"", "#",    "%",   "0",
                                       "9", ".",  "nan", "e9", "\r", "\xff", "KiB", "src"};
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const TrafficMatrix m = random_matrix(rng, true);
    const std::string texts[] = {write_traffic_text(m), as_csv(m), as_matrix_market(m),
                                 as_metis(m)};
    std::string text = texts[round % 4];
    for (std::uint64_t change = 1 + rng.below(4); change > 0 && !text.empty(); --change) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(4)) {
        case 0:
          text.erase(at, 1 + rng.below(5));
          break;
        case 1:
          text.insert(at, bits[rng.below(std::size(bits))]);
          break;
        case 2:
          text[at] = static_cast<char>(rng.below(256));
          break;
        default:
          text.resize(at);
          break;
      }
    }
    for (const char* name : {"t", "t.graph"}) {
      const auto made = read_traffic_text(text, name, {});
      if (made) continue;
      ++refused;
      const std::string said = made.error().text();
      EXPECT_TRUE(std::all_of(said.begin(), said.end(), [](char c) { return c >= 0x20; })) << said;
      EXPECT_LT(said.size(), 300u) << said;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace weft
