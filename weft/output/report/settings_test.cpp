// SPDX-License-Identifier: Apache-2.0
#include "weft/output/report/settings.hpp"

#include <gmock/gmock.h>

#include <weft/output/report/load.hpp>
#include <weft/output/report/tables.hpp>
#include <weft/output/report/test_record.hpp>

namespace weft::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class Settings : public TestRecord {
 protected:
  RunView view_of(const std::string& name, const std::string& settings) {
    write_record();
    write("settings.json", R"({"weft":"sim","version":1,"command":["weft","sim","a b"],)"
                           R"("folder":"/f","program":["./p"],"circumstances":{"threads":"2"},)"
                           R"("settings":)" +
                               settings + "}");
    auto view = load(folder, {});
    EXPECT_TRUE(view) << view.error().text();
    view->name = name;
    return *std::move(view);
  }
};

TEST_F(Settings, OfOneRunAreATable) {
  const RunView view = view_of("a", R"({"link.rate":"25 GB/s","seed":"1"})");
  EXPECT_EQ(*table_csv(view, "settings"),
            "setting,value,can change results\nlink.rate,25 GB/s,yes\nseed,1,yes\nthreads,2,no\n"
            "command,weft sim a b,no\nfolder,/f,no\n");
}

TEST_F(Settings, DifferencesStandInTheSummary) {
  std::vector<RunView> views = {view_of("a", R"({"link.rate":"25 GB/s","seed":"1","x":""})"),
                                view_of("b", R"({"link.rate":"1 GB/s","seed":"1","y":"2"})")};
  add_differences(views);
  const std::string text = summary_text(views);
  EXPECT_THAT(text, HasSubstr("Setting: link.rate      25 GB/s   1 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("Setting: x              (none)    -\n"));
  EXPECT_THAT(text, HasSubstr("Setting: y              -         2\n"));
  EXPECT_THAT(text, Not(HasSubstr("seed")));
  EXPECT_THAT(*side_by_side_csv(views, "summary"),
              HasSubstr("settings.link.rate,25 GB/s,1 GB/s\n"));
  EXPECT_THAT(*side_by_side_csv(views, "settings"), HasSubstr("seed,1,1\nx,,\ny,,2\n"));
  EXPECT_FALSE(side_by_side_csv(views, "calls"));
  const Json json = Json::parse(to_json(views));
  ASSERT_EQ(json["differing_settings"].size(), 3U);
  EXPECT_EQ(json["differing_settings"][0]["setting"], "link.rate");
  EXPECT_EQ(json["differing_settings"][0]["values"][1], "1 GB/s");
  EXPECT_TRUE(json["differing_settings"][2]["values"][0].is_null());
}

TEST(Summary, ShowsTheChangeBetweenTwoRuns) {
  const auto run = [](const char* name, double time, const char* shown, const char* share) {
    RunView view;
    view.name = name;
    view.facts = {{"time", "Time", shown, time, "less"}, {"use", "Use", share, 0.5}};
    view.facts.push_back({"ranks", "Ranks", "8", 8});
    return view;
  };
  std::vector<RunView> views = {run("a", 2e6, "2 us", "10 %"), run("b", 3e6, "3 us", "20 %")};
  EXPECT_EQ(summary_text(views),
            "       a     b     change\n"
            "Time   2 us  3 us  +50.0 %\n"
            "Use    10 %  20 %\n"
            "Ranks  8     8\n");
  views.push_back(views[0]);
  EXPECT_THAT(summary_text(views), Not(HasSubstr("change")));
}

TEST_F(Settings, RunsOfTwoKindsAreComparedInWhatBothHave) {
  std::vector<RunView> views = {view_of("a", R"({"program":"p","ranks":"4","link.rate":"1"})"),
                                view_of("b", R"({"program":"p","ranks":"8","rails":"eth0"})")};
  views[1].kind = "run";
  const auto found = differing_settings(views);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "ranks");
}

TEST_F(Settings, OldRecordsAreNotCompared) {
  std::vector<RunView> views = {view_of("a", R"({"seed":"1"})"), view_of("b", R"({"seed":"1"})")};
  std::filesystem::remove(folder + "/settings.json");
  auto old = load(folder, {});
  ASSERT_TRUE(old);
  EXPECT_TRUE(old->settings.empty());
  views[1] = *std::move(old);
  views[1].name = "b";
  add_differences(views);
  EXPECT_THAT(summary_text(views), HasSubstr("b: The record has no settings.json"));
}

TEST_F(Settings, OutputOfTheProgramIsATable) {
  write("program-output.txt",
        "# weft output: time_ps rank stream text\n12 0 1 hello, world\n13 1 2 \n");
  const RunView view = view_of("a", "{}");
  EXPECT_EQ(*table_csv(view, "output"),
            "time [ps],rank,stream,text\n12,0,1,\"hello, world\"\n13,1,2,\n");
  write("program-output.txt", "# weft output\n12 zero\n");
  const auto damaged = load(folder, {});
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().text(), HasSubstr("program-output.txt:2: the line is not"));
}

}  // namespace
}  // namespace weft::report
