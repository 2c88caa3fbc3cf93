// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/printer.hpp"

#include <array>

#include <gtest/gtest.h>
#include <unistd.h>

namespace weft::launch {
namespace {

class PrinterTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends.data()), 0); }
  void TearDown() override {
    for (const int end : ends) ::close(end);
  }
  // The output so far.
  std::string printed(Printer& printer) {
    while (printer.writing()) printer.write_now();
    std::string all;
    std::array<char, 4096> bytes;
    const char mark = '\0';
    EXPECT_EQ(::write(ends[1], &mark, 1), 1);
    while (all.empty() || all.back() != mark) {
      const ssize_t size = ::read(ends[0], bytes.data(), bytes.size());
      if (size <= 0) break;
      all.append(bytes.data(), static_cast<std::size_t>(size));
    }
    all.pop_back();
    return all;
  }
  std::array<int, 2> ends{};
};

TEST_F(PrinterTest, TellsWhatItPrints) {
  std::string heard;
  Printer printer(ends[1], true, [&](std::uint32_t rank, int stream, std::string_view text) {
    EXPECT_EQ(stream, ends[1]);
    heard += std::to_string(rank) + ":" + std::string(text);
  });
  printer.add(0, "one ");
  printer.add(1, "two\n");
  printer.add(0, "line\n");
  printer.add(2, "cut");
  printer.end_all();
  EXPECT_EQ(heard, "1:two\n0:one line\n2:cut");
  EXPECT_EQ(printed(printer), "[1] two\n[0] one line\n[2] cut\n");
}

TEST_F(PrinterTest, KeepsLinesWhole) {
  Printer printer(ends[1], false);
  printer.add(0, "one ");
  printer.add(1, "two\nthr");
  printer.add(0, "line\n");
  printer.add(1, "ee\n");
  EXPECT_EQ(printed(printer), "two\none line\nthree\n");
}

TEST_F(PrinterTest, LabelsLines) {
  Printer printer(ends[1], true);
  printer.add(10, "a\nb\nc");
  printer.add(3, "\n");
  EXPECT_EQ(printed(printer), "[10] a\n[10] b\n[3] \n");
  printer.end(10);
  EXPECT_EQ(printed(printer), "[10] c\n");
}

TEST_F(PrinterTest, LetsOutWhatARankLeftOpen) {
  Printer printer(ends[1], false);
  printer.add(0, "no end");
  EXPECT_EQ(printed(printer), "");
  EXPECT_TRUE(printer.next().set());
  printer.end(0);
  EXPECT_EQ(printed(printer), "no end");
  EXPECT_EQ(printer.backlog(), 0u);
}

TEST_F(PrinterTest, ShowsAPromptThatWaits) {
  Printer printer(ends[1], false);
  printer.add(0, "name? ");
  std::string seen;
  while (seen.empty()) {
    ::usleep(1000);
    printer.pump();
    seen = printed(printer);
  }
  EXPECT_EQ(seen, "name? ");
  printer.add(1, "another\n");
  printer.add(0, "given\n");
  EXPECT_EQ(printed(printer), "given\nanother\n");
}

TEST_F(PrinterTest, CutsLinesWithoutEnd) {
  Printer printer(ends[1], true);
  printer.add(0, std::string(100'000, 'x'));
  EXPECT_LT(printer.backlog(), 200'000u);
  EXPECT_TRUE(printer.writing());
}

TEST_F(PrinterTest, SaysItsOwnWordsOnLinesOfTheirOwn) {
  Printer printer(ends[1], false);
  printer.add(0, "x\n");
  printer.say("weft run: y");
  EXPECT_EQ(printed(printer), "x\nweft run: y\n");
}

TEST(Printer, DropsAllOnceNobodyReads) {
  Printer printer(-1, false);
  printer.add(0, "x\n");
  EXPECT_FALSE(printer.write_now());
  printer.add(0, "y\n");
  printer.say("z");
  EXPECT_FALSE(printer.writing());
}

}  // namespace
}  // namespace weft::launch
