// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/frame.hpp"

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::launch {
namespace {

TEST(Fields, ComeBackAsTheyWere) {
  FieldWriter out;
  out.byte(7);
  out.number(0x0123456789abcdef);
  out.text(std::string("a\0b", 3));
  out.texts({"", "x"});
  const std::string bytes = out.take();
  EXPECT_EQ(bytes.substr(1, 2), "\xef\xcd");
  FieldReader in(bytes);
  EXPECT_EQ(in.byte(), 7);
  EXPECT_EQ(in.number(), 0x0123456789abcdefu);
  EXPECT_EQ(in.text(), std::string("a\0b", 3));
  EXPECT_EQ(in.texts(), (std::vector<std::string>{"", "x"}));
  EXPECT_TRUE(in.whole());
}

TEST(Fields, NoticeWhatIsMissingOrTooMuch) {
  FieldWriter out;
  out.texts({"one", "two"});
  const std::string bytes = out.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    FieldReader in(std::string_view(bytes).substr(0, size));
    static_cast<void>(in.texts());
    EXPECT_FALSE(in.whole()) << size;
  }
  FieldReader more(bytes);
  static_cast<void>(more.number());
  EXPECT_FALSE(more.whole());
  const std::string huge(8, '\xff');
  FieldReader text(huge), texts(huge), limited(huge);
  EXPECT_EQ(text.text(), "");
  EXPECT_TRUE(text.broken());
  EXPECT_TRUE(texts.texts().empty());
  EXPECT_TRUE(texts.broken());
  EXPECT_EQ(limited.number_up_to(9), 0u);
  EXPECT_TRUE(limited.broken());
}

TEST(Frames, ComeOutWholeHoweverTheyArrive) {
  std::string stream = "Welcome to this machine!\nstart\n";
  append_frame(stream, 1, "one");
  append_frame(stream, 2, "");
  append_frame(stream, 255, std::string(100'000, 'x'));
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    FrameReader reader("start\n");
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      const auto part = std::string_view(stream).substr(at, step);
      reader.add(part.data(), part.size());
      for (Frame frame;;) {
        const auto got = reader.next(frame);
        ASSERT_TRUE(got);
        if (!*got) break;
        frames.push_back(frame);
      }
    }
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].body, "one");
    EXPECT_EQ(frames[1].kind, 2);
    EXPECT_EQ(frames[2].body.size(), 100'000u);
    EXPECT_FALSE(reader.in_frame());
  }
}

TEST(Frames, RefuseImpossibleLengths) {
  for (const std::string& bytes : {std::string(8, '\xff'), std::string(8, '\0')}) {
    FrameReader reader;
    reader.add(bytes.data(), bytes.size());
    Frame frame;
    EXPECT_FALSE(reader.next(frame));
    EXPECT_FALSE(reader.next(frame));
  }
  FrameReader never("start\n");
  const std::string noise(100'000, 'x');
  never.add(noise.data(), noise.size());
  Frame frame;
  EXPECT_FALSE(never.next(frame));
}

TEST(Frames, SurviveWhateverComes) {
  Rng rng = Rng(test_seed()).stream("frames", 0);
  for (int i = 0; i < 2000; ++i) {
    FrameReader reader;
    std::string bytes;
    append_frame(bytes, 3, "body");
    for (std::uint64_t change = rng.below(4); change < 4; ++change)
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    reader.add(bytes.data(), bytes.size());
    for (Frame frame;;) {
      const auto got = reader.next(frame);
      if (!got || !*got) break;
      ASSERT_LE(frame.body.size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace weft::launch
