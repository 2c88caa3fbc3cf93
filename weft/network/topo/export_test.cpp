// SPDX-License-Identifier: Apache-2.0
#include "weft/network/topo/export.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weft/network/topo/graph_file.hpp>

namespace weft {
namespace {

Topology awkward() {
  return *read_graph_text(
      "weft-graph 1\nrouter a<\"&\\\nrouter b\nnode x a<\"&\\\nnode y b\n"
      "link a<\"&\\ b class=<c>\nlink a<\"&\\ b down\n",
      "f");
}

TEST(Export, DotQuotesNames) {
  EXPECT_EQ(*export_topology(awkward(), "dot"),
            "graph \"f\" {\n"
            "  node [shape=box];\n"
            "  r0 [label=\"a<\\\"&\\\\\"];\n"
            "  r1 [label=\"b\"];\n"
            "  node [shape=ellipse];\n"
            "  n0 [label=\"x\"];\n"
            "  n1 [label=\"y\"];\n"
            "  r0 -- r1 [class=\"<c>\"];\n"
            "  r0 -- r1 [class=\"link\", style=dashed, color=red];\n"
            "  n0 -- r0;\n"
            "  n1 -- r1;\n"
            "}\n");
}

TEST(Export, GraphmlIsBalancedAndEscaped) {
  const std::string text = *export_topology(awkward(), "graphml");
  EXPECT_NE(text.find("<data key=\"name\">a&lt;&quot;&amp;\\</data>"), std::string::npos);
  EXPECT_NE(text.find("<data key=\"class\">&lt;c&gt;</data><data key=\"up\">true</data>"),
            std::string::npos);
  EXPECT_NE(text.find("<data key=\"up\">false</data>"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '<'), std::count(text.begin(), text.end(), '>'));
}

TEST(Export, JsonCanBeReadBack) {
  const auto torus = make_topology("torus:3x4,p=2");
  const auto json = nlohmann::json::parse(*export_topology(*torus, "json"));
  EXPECT_EQ(json["format"], "weft-network 1");
  EXPECT_EQ(json["routers"].size(), 12u);
  EXPECT_EQ(json["nodes"].size(), 24u);
  EXPECT_EQ(json["cables"].size(), 24u);
  EXPECT_EQ(json["routers"][5]["coordinates"], (std::vector<int>{2, 1}));
  EXPECT_EQ(json["cables"][0]["class"], "x");
  EXPECT_TRUE(nlohmann::json::accept(*export_topology(awkward(), "json")));
}

TEST(Export, SameNetworkSameBytes) {
  for (const ExportFormat& format : export_formats())
    EXPECT_EQ(*export_topology(*make_topology("dragonfly:a=2,h=2"), format.name),
              *export_topology(*make_topology("dragonfly:a=2,h=2"), format.name));
}

TEST(Export, UnknownFormatIsTheCallersMistake) {
  const auto made = export_topology(awkward(), "dott");
  EXPECT_EQ(made.error().text(), "unknown export format 'dott'; did you mean 'dot'?");
  EXPECT_EQ(made.error().broken(), Broken::call);
}

}  // namespace
}  // namespace weft
