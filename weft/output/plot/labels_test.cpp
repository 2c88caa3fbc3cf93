// SPDX-License-Identifier: Apache-2.0
#include "weft/output/plot/labels.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Labels, StandBesideTheirLines) {
  const LineLabel labels[] = {{10, 30}, {100, 30}, {190, 30}};
  const auto placed = place_labels(labels, 0, 200);
  EXPECT_EQ(placed[0].x, 14);
  EXPECT_EQ(placed[1].x, 104);
  EXPECT_EQ(placed[2].x, 156);  // On the left, inside the chart.
  for (const PlacedLabel& label : placed) EXPECT_EQ(label.row, 0);
}

TEST(Labels, TheLeftOneOfTwoThatAreNearIsAbove) {
  const LineLabel labels[] = {{10, 30}, {20, 30}};
  const auto placed = place_labels(labels, 0, 200);
  EXPECT_EQ(placed[0].row, 1);
  EXPECT_EQ(placed[1].row, 0);
}

TEST(Labels, NeverMeetAndStayInside) {
  for (const int count : {1, 2, 3, 8, 16})
    for (const double step : {0.0, 0.5, 3.0, 20.0})
      for (const double width : {20.0, 80.0, 250.0}) {
        std::vector<LineLabel> labels;
        for (int i = 0; i < count; ++i) labels.push_back({std::min(100 + i * step, 320.0), width});
        const auto placed = place_labels(labels, 60, 320);
        for (std::size_t i = 0; i < placed.size(); ++i) {
          EXPECT_GE(placed[i].x, 60);
          EXPECT_LE(placed[i].x + width, 320);
          for (std::size_t j = 0; j < i; ++j)
            EXPECT_FALSE(placed[i].row == placed[j].row && placed[i].x < placed[j].x + width &&
                         placed[j].x < placed[i].x + width)
                << i << " and " << j << " of " << count << ", step " << step;
        }
      }
}

TEST(Labels, LettersAreCountedNotBytes) {
  EXPECT_EQ(text_width("\xc3\xa4\xc3\xb6", 10), text_width("ab", 10));
  EXPECT_EQ(text_width("", 10), 0);
}

}  // namespace
}  // namespace weft
