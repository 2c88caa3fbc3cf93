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
  EXPECT_LT(text.find("say"), text.find("worse"));
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
