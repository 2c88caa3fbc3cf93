// SPDX-License-Identifier: Apache-2.0
#include "weft/base/quantity.hpp"

#include <limits>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft {
namespace {

TEST(ParseDuration, KnowsItsUnits) {
  EXPECT_EQ(*parse_duration("140 ns"), Duration::ns(140));
  EXPECT_EQ(*parse_duration("140ns"), Duration::ns(140));
  EXPECT_EQ(*parse_duration(" 7 ps "), Duration::ps(7));
  EXPECT_EQ(*parse_duration("2.5 ns"), Duration::ps(2500));
  EXPECT_EQ(*parse_duration("3 us"), Duration::us(3));
  EXPECT_EQ(*parse_duration("3 µs"), Duration::us(3));
  EXPECT_EQ(*parse_duration("0.001 ms"), Duration::us(1));
  EXPECT_EQ(*parse_duration("1 s"), Duration::ms(1000));
  EXPECT_EQ(*parse_duration("2 min"), Duration::ms(120'000));
  EXPECT_EQ(*parse_duration("0.5 h"), Duration::ms(1'800'000));
  EXPECT_EQ(*parse_duration("0 s"), Duration::zero());
}

TEST(ParseBytes, KnowsItsUnits) {
  EXPECT_EQ(*parse_bytes("256 B"), Bytes{256});
  EXPECT_EQ(*parse_bytes("4 KiB"), Bytes{4096});
  EXPECT_EQ(*parse_bytes("4kB"), Bytes{4000});
  EXPECT_EQ(*parse_bytes("4 KB"), Bytes{4000});
  EXPECT_EQ(*parse_bytes("1.5 MiB"), Bytes{1'572'864});
  EXPECT_EQ(*parse_bytes("2 GB"), Bytes{2'000'000'000});
  EXPECT_EQ(*parse_bytes("1 TiB"), Bytes{1'099'511'627'776});
}

TEST(ParseRate, KnowsBitsFromBytes) {
  EXPECT_EQ(*parse_rate("8 GB/s"), Rate::gbit_per_s(64));
  EXPECT_EQ(*parse_rate("8GB/s"), Rate::gbit_per_s(64));
  EXPECT_EQ(*parse_rate("400 Gb/s"), Rate::gbit_per_s(400));
  EXPECT_EQ(*parse_rate("400 Gbit/s"), Rate::gbit_per_s(400));
  EXPECT_EQ(*parse_rate("0.5 B/s"), Rate::bit_per_s(4));
  EXPECT_EQ(*parse_rate("1 KiB/s"), Rate::bit_per_s(8192));
}

struct Refused {
  const char* text;
  const char* message;
};

TEST(ParseDuration, SaysWhatIsWrong) {
  const Refused cases[] = {
      {"140", "'140' needs a unit, e.g. '140 ns'"},
      {"0.0001 ps", "'0.0001 ps' is not a whole number of picoseconds"},
      {"-1 ns", "'-1 ns': a duration must not be negative"},
      {"4 KiB", "'4 KiB' is a size; a duration is needed, e.g. '140 ns'"},
      {"4 NS", "'4 NS': unknown unit 'NS'; did you mean 'ns'?"},
      {"9999999 h", "'9999999 h' is too large"},
      {"99999999999999999999999 ns", "'99999999999999999999999 ns' has too many digits"},
      {"", "a duration is needed, e.g. '140 ns'"},
      {"ns", "'ns' is not a number with a unit"},
      {"1.2.3 ns", "'1.2.3 ns' is not a number with a unit"},
      {"1. ns", "'1. ns' is not a number with a unit"},
      {".5 ns", "'.5 ns' is not a number with a unit"},
  };
  for (const Refused& c : cases) {
    const auto result = parse_duration(c.text);
    ASSERT_FALSE(result) << c.text;
    EXPECT_EQ(result.error().message(), c.message);
    EXPECT_EQ(result.error().broken(), Broken::input);
  }
}

TEST(ParseBytesAndRate, SayWhatIsWrong) {
  EXPECT_EQ(parse_bytes("256").error().message(), "'256' needs a unit, e.g. '256 B'");
  EXPECT_EQ(parse_bytes("0.5 B").error().message(), "'0.5 B' is not a whole number of bytes");
  EXPECT_EQ(parse_bytes("9223372036854775808 B").error().message(),
            "'9223372036854775808 B' is too large");
  EXPECT_EQ(parse_rate("8").error().message(), "'8' needs a unit, e.g. '8 GB/s'");
  EXPECT_EQ(parse_rate("8 GB").error().message(),
            "'8 GB' is a size; a rate is needed, e.g. '8 GB/s'");
  EXPECT_EQ(parse_rate("8 Gbps").error().message(),
            "'8 Gbps': unknown unit 'Gbps'; did you mean 'Gb/s'?");
}

// What the message about a rate of "25 UNIT" ends with.
std::string rate_remedy(const std::string& unit) {
  const std::string text = "25 " + unit;
  const auto result = parse_rate(text);
  if (result) return "a rate";
  const std::string begin = "'" + text + "': unknown unit '" + unit + "'; ";
  const std::string message = result.error().message();
  return message.rfind(begin, 0) == 0 ? message.substr(begin.size()) : message;
}

std::string meant(const std::string& unit) {
  return "did you mean '" + unit + "'?";
}

TEST(ParseRate, SuggestsBitsForBitsAndBytesForBytes) {
  for (const std::string prefix : {"k", "M", "G", "T"}) {
    const std::string bits = prefix + "b", spelled = prefix + "bit", bytes = prefix + "B";
    for (const std::string end : {"s", "ps", "p/s", "/sec", "/second", " per second"}) {
      EXPECT_EQ(rate_remedy(bits + end), meant(bits + "/s"));
      EXPECT_EQ(rate_remedy(bytes + end), meant(bytes + "/s"));
      EXPECT_EQ(rate_remedy(spelled + end), meant(spelled + "/s"));
      EXPECT_EQ(rate_remedy(prefix + "Byte" + end), meant(bytes + "/s"));
      EXPECT_EQ(rate_remedy(prefix + "byte" + end), meant(bytes + "/s"));
    }
    EXPECT_EQ(rate_remedy(bits), meant(bits + "/s"));
    EXPECT_EQ(rate_remedy(spelled), meant(spelled + "/s"));
    EXPECT_EQ(rate_remedy(spelled + "s"), meant(spelled + "/s"));
    EXPECT_EQ(rate_remedy(prefix + "BIT/S"), meant(spelled + "/s"));
    EXPECT_EQ(rate_remedy(bits + "\\s"), meant(bits + "/s"));
    EXPECT_EQ(rate_remedy(bytes + "\\s"), meant(bytes + "/s"));
  }
  for (const std::string prefix : {"Ki", "Mi", "Gi", "Ti"}) {
    EXPECT_EQ(rate_remedy(prefix + "Bs"), meant(prefix + "B/s"));
    EXPECT_EQ(rate_remedy(prefix + "Bps"), meant(prefix + "B/s"));
    EXPECT_EQ(rate_remedy(prefix + "b/s"),
              "did you mean '" + prefix + "B/s' (bytes, of 8 bits each)?");
  }
  EXPECT_EQ(rate_remedy("bps"), meant("b/s"));
  EXPECT_EQ(rate_remedy("Bps"), meant("B/s"));
  EXPECT_EQ(rate_remedy("bits/s"), meant("bit/s"));
  EXPECT_EQ(rate_remedy("bytes/s"), meant("B/s"));
}

TEST(ParseRate, NamesBothWhereCaseDoesNotTellBitsFromBytes) {
  for (const std::string prefix : {"M", "G", "T"}) {
    const std::string both =
        "did you mean '" + prefix + "b/s' (bits) or '" + prefix + "B/s' (bytes, 8 times as fast)?";
    const std::string low = prefix == "M" ? "m" : prefix == "G" ? "g" : "t";
    for (const std::string& unit : {low + "b/s", low + "bps", low + "b", low + "bs", prefix + "BPS",
                                    prefix + "B/S", prefix, prefix + "/s"})
      EXPECT_EQ(rate_remedy(unit), both) << unit;
  }
}

TEST(ParseBytes, SuggestsBytes) {
  const Refused cases[] = {
      {"4 gb", "'4 gb': unknown unit 'gb'; did you mean 'GB'?"},
      {"4 kib", "'4 kib': unknown unit 'kib'; did you mean 'KiB'?"},
      {"4 MBytes", "'4 MBytes': unknown unit 'MBytes'; did you mean 'MB'?"},
      {"4 K", "'4 K': unknown unit 'K'; did you mean 'kB' or 'KiB'?"},
      {"4 Mi", "'4 Mi': unknown unit 'Mi'; did you mean 'MiB'?"},
      {"4 Gb", "'4 Gb': unknown unit 'Gb'; did you mean 'GB' (bytes, of 8 bits each)?"},
      {"4 Mbit", "'4 Mbit': unknown unit 'Mbit'; did you mean 'MB' (bytes, of 8 bits each)?"},
      {"4 m", "'4 m' is a length; a size is needed, e.g. '256 B'"},
  };
  for (const Refused& c : cases) EXPECT_EQ(parse_bytes(c.text).error().message(), c.message);
}

TEST(ToText, IsWhatAPersonWouldWrite) {
  EXPECT_EQ(to_text(Duration::ns(140)), "140 ns");
  EXPECT_EQ(to_text(Duration::ns(1500)), "1.5 us");
  EXPECT_EQ(to_text(Duration::ps(1)), "1 ps");
  EXPECT_EQ(to_text(Duration::ms(2500)), "2.5 s");
  EXPECT_EQ(to_text(Duration::zero()), "0 s");
  EXPECT_EQ(to_text(Duration::ns(-3)), "-3 ns");
  EXPECT_EQ(to_text(Bytes{4096}), "4 KiB");
  EXPECT_EQ(to_text(Bytes{256}), "256 B");
  EXPECT_EQ(to_text(Bytes{1536}), "1.5 KiB");
  EXPECT_EQ(to_text(Bytes{1'000'000}), "1 MB");
  EXPECT_EQ(to_text(Bytes{1'000'001}), "1000001 B");
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Rate::gbyte_per_s(8)), "64 Gb/s");
  EXPECT_EQ(to_text(Rate::bit_per_s(1'544'000)), "1.544 Mb/s");
  EXPECT_EQ(to_text(Rate::bit_per_s(0)), "0 b/s");
}

TEST(ToText, IsReadBackExactly) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng = Rng(seed).stream("quantity");
  for (int i = 0; i < 20'000; ++i) {
    // Values of every magnitude, half of them with trailing zeros as in numbers that people write.
    auto value = static_cast<std::int64_t>(rng.next() >> (2 + rng.below(62)));
    for (std::uint64_t zeros = rng.below(6); zeros > 0 && value < 1'000'000'000'000; --zeros)
      value *= 10;
    if (rng.coin()) value = value >> 20 << 20;
    EXPECT_EQ(parse_duration(to_text(Duration::ps(value)))->in_ps(), value);
    EXPECT_EQ(parse_bytes(to_text(Bytes{value}))->count, value);
    EXPECT_EQ(parse_rate(to_text(Rate::bit_per_s(value)))->in_bit_per_s(), value);
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(*parse_duration(to_text(Duration::max())), Duration::max());
  EXPECT_EQ(parse_bytes(to_text(Bytes{most}))->count, most);
  EXPECT_EQ(parse_rate(to_text(Rate::bit_per_s(most)))->in_bit_per_s(), most);
}

}  // namespace
}  // namespace weft
