// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>
#include <weft/output/record/timeline.hpp>

namespace weft {
namespace {

class TimelineTest : public FolderTest {
 protected:
  static Timeline some() {
    Timeline timeline;
    const std::string one[] = {"MPI_Send", "MPI_Barrier"}, other[] = {"MPI_Barrier", "MPI_Recv"};
    const CallSpan first[] = {{0, 5, 1, 0}, {7, 9, 2, 1}}, second[] = {{3, 8, 0, 1}};
    timeline.add_rank(one, first, 0);
    timeline.add_rank(other, second, 4);
    return timeline;
  }
  static void expect_same(const Timeline& a, const Timeline& b) {
    EXPECT_EQ(a.calls, b.calls);
    EXPECT_EQ(a.first, b.first);
    EXPECT_EQ(a.spans, b.spans);
    EXPECT_EQ(a.bin_ps, b.bin_ps);
  }
};

TEST_F(TimelineTest, NumbersCallsOfAllRanksAlike) {
  const Timeline timeline = some();
  EXPECT_EQ(timeline.calls, (std::vector<std::string>{"MPI_Send", "MPI_Barrier", "MPI_Recv"}));
  ASSERT_EQ(timeline.of(1).size(), 1U);
  EXPECT_EQ(timeline.of(1)[0].call, 2U);
  EXPECT_EQ(timeline.bin_ps, 4);
}

TEST_F(TimelineTest, ComesBackFromEitherFile) {
  const Timeline timeline = some();
  EXPECT_FALSE(has_timeline(folder));
  ASSERT_TRUE(write_timeline_raw(folder, timeline));
  EXPECT_TRUE(has_timeline(folder));
  auto raw = read_timeline(folder);
  ASSERT_TRUE(raw) << raw.error().text();
  expect_same(*raw, timeline);
  ASSERT_TRUE(convert_timeline(folder));
  auto converted = read_timeline(folder);
  ASSERT_TRUE(converted) << converted.error().text();
  expect_same(*converted, timeline);
}

TEST_F(TimelineTest, ADamagedFileIsRefused) {
  ASSERT_TRUE(write_timeline_raw(folder, some()));
  std::ostringstream whole;
  whole << std::ifstream(folder + "/timeline.raw").rdbuf();
  const std::string text = whole.str();
  for (std::size_t size = 0; size < text.size(); ++size) {
    std::ofstream(folder + "/timeline.raw") << text.substr(0, size);
    EXPECT_FALSE(read_timeline_raw(folder)) << size;
  }
  for (std::size_t i = 8; i < text.size(); ++i) {  // No damage may crash the reader.
    std::string bad = text;
    bad[i] = static_cast<char>(bad[i] ^ 0xff);
    std::ofstream(folder + "/timeline.raw") << bad;
    const auto read = read_timeline_raw(folder);
    EXPECT_TRUE(!read || is_sound(*read));
  }
}

}  // namespace
}  // namespace weft
