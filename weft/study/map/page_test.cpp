// SPDX-License-Identifier: Apache-2.0
#include "weft/study/map/page.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/study/map/test_problem.hpp>

namespace weft::map {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++times;
  return times;
}

ReportSide side(const Problem& p, const std::string& name, const RankMap& map) {
  const auto paths = make_paths(p.topology(), p.routing());
  return {name, judge(p, map, Objective{}, **paths), p.to_nodes(map)};
}

MapReport sample(const Problem& p) {
  RankMap other = p.in_order();
  std::swap(other[0], other[5]);
  MapReport r;
  r.network = p.topology().name;
  r.objective = "paper";
  r.ranks = p.ranks();
  r.before = side(p, "x,y,z order", p.in_order());
  r.after = side(p, "other <1>", other);
  r.bounds.hops = static_cast<double>(r.after.judgement.hops) / 2;
  r.candidates = {{"worse, much", 30}, {"best", 10}, {"say \"so\"", 15}};
  r.facts = {{"seed", "3"}};
  r.warnings = {"router.buffer holds links back"};
  return r;
}

TEST(MapPage, TableIsAlignedAndComplete) {
  const Problem p = test_problem("torus:4x4", 16, {});
  const MapReport r = sample(p);
  const std::string text = table(r);
  for (const char* word : {"network: torus:4x4\n", "seed: 3\n", "hops ", "hop-bytes ",
                           "busiest link ", "mean link ", "objective ", "  2.000\n", "best "})
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  EXPECT_LT(text.find("best"), text.find("say"));
  EXPECT_LT(text.find("say"), text.find("worse, much"));
  // The second column of the summary ends at the same place in every line.
  std::istringstream lines(text.substr(text.find("\n\n") + 2));
  std::string heading, line;
  std::getline(lines, heading);
  const std::size_t end = heading.find("x,y,z order") + 11;
  while (std::getline(lines, line) && !line.empty()) {
    EXPECT_NE(line.at(end - 1), ' ') << line;
    EXPECT_EQ(line.at(end), ' ') << line;
  }
}

TEST(MapPage, SaysWhatSimulatedTimeIs) {
  const Problem p = test_problem("torus:4x4", 16, {});
  MapReport r = sample(p);
  const std::string words = "simulated time: all messages of the traffic sent at once, as one step";
  EXPECT_EQ(table(r).find(words), std::string::npos);
  r.before.seconds = 2;
  r.after.seconds = 1;
  EXPECT_NE(table(r).find("\n" + words), std::string::npos) << table(r);
  EXPECT_NE(to_html(r, p).find("<p>" + words), std::string::npos);
  const auto notes = nlohmann::json::parse(to_json(r))["notes"];
  EXPECT_TRUE(notes.back().get<std::string>().starts_with(words));
  EXPECT_NE(table(r).find("gains less or more"), std::string::npos) << table(r);
}

// A map at its bound need not be the fastest.
TEST(MapPage, SaysThatBoundsAreNotOfTime) {
  const Problem p = test_problem("torus:4x4", 16, {});
  MapReport r = sample(p);
  const std::string words = "The bounds are of bytes over links, not of time";
  r.after.judgement.link_max = r.after.judgement.value = 100;
  r.bounds.link_max = r.bounds.value = 50;
  EXPECT_EQ(table(r).find(words), std::string::npos) << table(r);
  r.bounds.link_max = 98;
  EXPECT_NE(table(r).find(words), std::string::npos) << table(r);
}

TEST(MapPage, ABoundThatSaysNothingIsNotShown) {
  const Problem p = test_problem("torus:4x4", 16, {});
  MapReport r = sample(p);
  r.bounds.link_max = r.after.judgement.link_max / 1'000'000;
  const std::string text = table(r);
  const std::size_t line = text.find("busiest link ");
  EXPECT_TRUE(text.substr(line, text.find('\n', line) - line).ends_with(" none known")) << text;
  EXPECT_EQ(to_html(r, p).find("(dotted)"), std::string::npos);
  r.bounds.link_max = r.after.judgement.link_max / 100;
  EXPECT_EQ(table(r).find("none known"), std::string::npos) << table(r);
  EXPECT_NE(to_html(r, p).find("(dotted)"), std::string::npos);
}

TEST(MapPage, MarksWhatGotWorseThoughItIsNotMinimised) {
  const Problem p = test_problem("torus:4x4", 16, {});
  MapReport r = sample(p);
  r.objective = "link-max";
  r.before.judgement.hops = 100;
  r.after.judgement.hops = 122;
  r.before.judgement.value = r.before.judgement.link_max = 50;
  r.after.judgement.value = r.after.judgement.link_max = 60;
  r.after.judgement.hop_bytes = r.before.judgement.hop_bytes - 1;
  r.after.judgement.link_mean = r.before.judgement.link_mean;
  const std::string text = table(r);
  EXPECT_NE(text.find("+22.0 % *"), std::string::npos) << text;
  EXPECT_NE(text.find("\n* got worse: only the objective (link-max) is minimised.\n"),
            std::string::npos);
  EXPECT_EQ(count(text, " % *"), 1u) << "the objective itself has no mark\n" << text;
  EXPECT_EQ(nlohmann::json::parse(to_json(r))["notes"].size(), 1u);
}

TEST(MapPage, NothingToCompareIsFine) {
  const Problem p = test_problem("mesh:2x2", 0, {});
  MapReport r;
  r.before = side(p, "before", p.in_order());
  r.after = side(p, "after", p.in_order());
  EXPECT_NE(table(r).find("0 %"), std::string::npos);
  EXPECT_NE(to_html(r, p).find("</html>"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(to_json(r)));
  EXPECT_EQ(to_csv({}), "name,value,ratio\n");
}

TEST(MapPage, JsonHoldsTheNumbers) {
  const Problem p = test_problem("torus:4x4", 16, {});
  const MapReport r = sample(p);
  const auto json = nlohmann::json::parse(to_json(r));
  EXPECT_EQ(json["before"]["hops"], r.before.judgement.hops);
  EXPECT_EQ(json["after"]["link_max"], r.after.judgement.link_max);
  EXPECT_EQ(json["after"]["nodes"].get<std::vector<std::uint32_t>>(), r.after.nodes);
  EXPECT_EQ(json["bounds"].size(), 1u);
  EXPECT_EQ(json["bounds"]["hops"], *r.bounds.hops);
  EXPECT_EQ(json["candidates"][0]["name"], "best");
  EXPECT_EQ(json["facts"]["seed"], "3");
  EXPECT_EQ(json["warnings"].get<std::vector<std::string>>(), r.warnings);
}

TEST(MapPage, CsvQuotesNames) {
  const Problem p = test_problem("torus:4x4", 16, {});
  EXPECT_EQ(to_csv(sample(p).candidates),
            "name,value,ratio\nbest,10,1\n\"say \"\"so\"\"\",15,1.500\n\"worse, much\",30,3.000\n");
}

TEST(MapPage, HistogramCountsLinksThatAreThere) {
  const Problem p = test_problem("mesh:3", 3, {});
  const Judgement j = side(p, "", p.in_order()).judgement;
  // Two cables, each with 100 bytes either way; of the six ports, two are unplugged.
  EXPECT_EQ(load_histogram(j, p.topology().graph, 100, 4),
            (std::vector<std::uint64_t>{0, 0, 0, 4}));
  EXPECT_EQ(load_histogram(j, p.topology().graph, 200, 4),
            (std::vector<std::uint64_t>{0, 0, 4, 0}));
}

TEST(MapPage, HtmlHoldsItselfAndLoadsNothing) {
  const Problem p = test_problem("torus:4x4x4", 64, {});
  const std::string page = to_html(sample(p), p);
  EXPECT_EQ(count(page, "<svg "), 2u);
  EXPECT_EQ(count(page, "<table>"), 2u);
  EXPECT_EQ(count(page, "class=\"area\""), 2u);
  EXPECT_EQ(count(page, "<1>"), 0u);
  EXPECT_EQ(count(page, "src="), 0u);
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg"));
}

}  // namespace
}  // namespace weft::map
