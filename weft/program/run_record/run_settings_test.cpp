// SPDX-License-Identifier: Apache-2.0
#include "weft/program/run_record/run_settings.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>

namespace weft {
namespace {

std::string value_of(const RunSettings& run, const std::string& key) {
  const auto found = std::find_if(run.settings.begin(), run.settings.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  return found == run.settings.end() ? "(none)" : found->second;
}

TEST(RunSettings, TakesADescriptionApart) {
  RunSettings run;
  add_machine(run,
              "profile = \"cluster\"\n\n[network]\ntopology = \"graph:a \\\"b\\\".graph\"\n"
              "# nodes_per_router is not given\ndown = [\"a-b\", \"c-d\"]\n\n[link]\n"
              "rate = \"25 GB/s\"                     # default\n\n[link.\"A.1-B.2\"]\n"
              "rate = \"1 GB/s # slow\"\n");
  EXPECT_EQ(run.settings.size(), 5u);
  EXPECT_EQ(value_of(run, "profile"), "cluster");
  EXPECT_EQ(value_of(run, "network.topology"), "graph:a \"b\".graph");
  EXPECT_EQ(value_of(run, "network.down"), "[\"a-b\", \"c-d\"]");
  EXPECT_EQ(value_of(run, "link.rate"), "25 GB/s");
  EXPECT_EQ(value_of(run, "link.\"A.1-B.2\".rate"), "1 GB/s # slow");
}

TEST(RunSettings, ComesBackFromItsFile) {
  const TestPlace folder;
  RunSettings run;
  run.kind = "sim";
  run.command = {"weft", "sim", "--net", "ring:4", "a b"};
  run.folder = "/somewhere";
  add_host(run);
  add_program(run, {"./halo", "3", "x y"}, "/proc/self/exe");
  add_machine(run, "[link]\nrate = \"1 GB/s\"\n");
  ASSERT_TRUE(write_file(folder.path + "/" + settings_file_name, to_json(run)));
  const auto read = read_run_settings(folder.path);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->kind, run.kind);
  EXPECT_EQ(read->command, run.command);
  EXPECT_EQ(read->folder, run.folder);
  EXPECT_EQ(read->program, run.program);
  EXPECT_EQ(read->settings, run.settings);
  EXPECT_EQ(read->circumstances, run.circumstances);
  EXPECT_EQ(read->machine, run.machine);
  EXPECT_EQ(value_of(*read, "program"), "halo");
  EXPECT_EQ(value_of(*read, "program.arguments"), "3 x y");
  EXPECT_EQ(value_of(*read, "program.fingerprint").size(), 16u);
}

TEST(RunSettings, RefusesADamagedFile) {
  const TestPlace folder;
  ASSERT_TRUE(write_file(folder.path + "/" + settings_file_name, "{\"weft\": \"sim\"}"));
  const auto read = read_run_settings(folder.path);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text().find("settings.json is damaged"), std::string::npos);
}

TEST(RunSettings, LinesOfAJob) {
  RunSettings run;
  add_job_lines(run, "rails=eth0,eth1\nrecord=/tmp/x\nplaces=y\ngroups=" + std::string(500, 'g'));
  EXPECT_EQ(run.settings.size(), 2u);
  EXPECT_EQ(value_of(run, "rails"), "eth0,eth1");
  EXPECT_EQ(value_of(run, "groups"), "contents " + fingerprint(std::string(500, 'g')));
}

TEST(RunSettings, FingerprintsTellContentsApart) {
  EXPECT_NE(fingerprint("a"), fingerprint("b"));
  EXPECT_EQ(fingerprint_of_file("/nowhere/at/all"), "");
  EXPECT_FALSE(own_command_line().empty());
}

}  // namespace
}  // namespace weft
