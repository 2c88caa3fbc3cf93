// SPDX-License-Identifier: Apache-2.0
// What is sealed opens once, in order, on the other side of the same connection, and nowhere else.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <weft/real/wire/protection.hpp>
#include <weft/real/wire/regions.hpp>
#include <weft/real/wire/stream.hpp>

namespace weft::wire {
namespace {

SessionKeys keys_of(bool accepting, std::uint64_t connection = 1) {
  JobSecret secret = {};
  const Challenge asked = {std::byte{1}};
  const AnswerBytes said = answer(secret, asked, {std::byte{2}}, {.connection = connection});
  return session_keys(secret, asked, said, accepting);
}

std::vector<std::byte> bytes(std::size_t size) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>(i * 7 + i / 253);
  return made;
}

struct Chunks {
  explicit Chunks(Cipher cipher) : out(keys_of(false).out, cipher), in(keys_of(true).in, cipher) {}
  ChunkCipher out, in;
  std::vector<std::byte> plain = std::vector<std::byte>(ChunkCipher::most_plain);
  std::vector<std::byte> seal(const std::vector<std::byte>& data) {
    std::vector<std::byte> chunk(ChunkCipher::most_sealed);
    chunk.resize(out.seal(data, chunk.data()));
    return chunk;
  }
};

// With each cipher that this processor has.
class Protects : public testing::TestWithParam<Cipher> {};
std::vector<Cipher> ciphers() {
  std::vector<Cipher> all = {Cipher::chacha20_poly1305};
  if (best_cipher() != all[0]) all.push_back(best_cipher());
  return all;
}
std::string name_of(const testing::TestParamInfo<Cipher>& test) {
  return test.param == Cipher::aes256_gcm ? "aes" : "chacha";
}
INSTANTIATE_TEST_SUITE_P(Ciphers, Protects, testing::ValuesIn(ciphers()), name_of);

TEST(Protection, KeysDifferByDirectionAndConnection) {
  std::set<SessionKey> keys;
  for (std::uint64_t connection = 1; connection <= 3; ++connection) {
    const SessionKeys here = keys_of(false, connection), there = keys_of(true, connection);
    EXPECT_EQ(here.out, there.in);
    EXPECT_EQ(here.in, there.out);
    keys.insert(here.out);
    keys.insert(here.in);
  }
  EXPECT_EQ(keys.size(), 6u);
}

TEST_P(Protects, ChunksOfAllSizesOpen) {
  Chunks chunks(GetParam());
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{95}, std::size_t{4096},
                                 ChunkCipher::most_plain}) {
    const auto data = bytes(size);
    const auto chunk = chunks.seal(data);
    ASSERT_EQ(chunks.in.size_of(chunk.data()), chunk.size());
    ASSERT_TRUE(chunks.in.open(chunk, chunks.plain.data()));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), chunks.plain.begin()));
  }
}

TEST_P(Protects, EveryChangedBitIsNoticed) {
  constexpr std::size_t size = ChunkCipher::head_size + 20 + ChunkCipher::tag_size;
  for (std::size_t bit = 0; bit < size * 8; ++bit) {
    Chunks chunks(GetParam());
    auto chunk = chunks.seal(bytes(20));
    ASSERT_EQ(chunk.size(), size);
    chunk[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    // Of the head it is noticed before anybody waits for the rest.
    EXPECT_EQ(chunks.in.size_of(chunk.data()), bit / 8 < ChunkCipher::head_size ? 0 : size);
    EXPECT_FALSE(chunks.in.open(chunk, chunks.plain.data())) << "bit " << bit;
  }
}

TEST_P(Protects, NothingOpensTwiceOrOutOfOrder) {
  Chunks repeated(GetParam());
  const auto first = repeated.seal(bytes(100)), second = repeated.seal(bytes(100));
  EXPECT_NE(first, second);
  ASSERT_TRUE(repeated.in.open(first, repeated.plain.data()));
  EXPECT_EQ(repeated.in.size_of(first.data()), 0u);
  EXPECT_FALSE(repeated.in.open(first, repeated.plain.data()));
  Chunks moved(GetParam());
  EXPECT_EQ(moved.in.size_of(second.data()), 0u);
  EXPECT_FALSE(moved.in.open(second, moved.plain.data()));
}

TEST_P(Protects, NothingOpensWhereItCameFromOrElsewhere) {
  Chunks chunks(GetParam());
  const auto chunk = chunks.seal(bytes(100));
  ChunkCipher back(keys_of(false).in, GetParam()), other(keys_of(true, 2).in, GetParam());
  EXPECT_FALSE(back.open(chunk, chunks.plain.data()));
  EXPECT_FALSE(other.open(chunk, chunks.plain.data()));
}

// Beyond the chunks of one key.
TEST(Protection, KeysOfAesAreReplaced) {
  if (best_cipher() != Cipher::aes256_gcm) GTEST_SKIP() << "no instructions for AES";
  Chunks chunks(Cipher::aes256_gcm);
  const auto data = bytes(1);
  std::vector<std::byte> chunk(ChunkCipher::most_sealed);
  for (std::uint64_t i = 0; i < ChunkCipher::chunks_per_key + 2; ++i) {
    const std::size_t size = chunks.out.seal(data, chunk.data());
    ASSERT_TRUE(chunks.in.open(std::span(chunk).first(size), chunks.plain.data())) << i;
  }
}

// Two sealed streams with somebody between them.
struct Path {
  explicit Path(Cipher cipher) : table(std::make_unique<RegionTable>()), regions(*table) {
    int one[2], other[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, one), 0);
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, other), 0);
    near = std::make_unique<Stream>(Descriptor(one[0]), Stream::Facts{1, true, 1 << 20});
    far = std::make_unique<Stream>(Descriptor(other[0]), Stream::Facts{1, false, 1 << 20});
    near->protect(keys_of(false), cipher);
    far->protect(keys_of(true), cipher);
    from_near = Descriptor(one[1]);
    to_far = Descriptor(other[1]);
  }
  void push(std::uint64_t sequence, std::size_t size) {
    Outgoing out;
    out.record.sequence = sequence;
    out.record.size = size;
    out.owned = std::make_unique<std::byte[]>(size);
    const auto data = bytes(size);
    if (size > 0) std::memcpy(out.owned.get(), data.data(), size);
    out.data = out.owned.get();
    near->push(std::move(out));
  }
  // All that near sends, as it goes over the wire.
  std::vector<std::byte> take() {
    std::vector<std::byte> all;
    std::byte room[4096];
    while (near->has_unsent()) {
      EXPECT_TRUE(near->pump_out());
      for (ssize_t got; (got = ::recv(from_near.get(), room, sizeof room, MSG_DONTWAIT)) > 0;)
        all.insert(all.end(), room, room + got);
    }
    return all;
  }
  // Gives far these bytes in small pieces; returns the sequences of frames that came.
  std::vector<std::uint64_t> give(const std::vector<std::byte>& wire) {
    std::vector<std::uint64_t> came;
    for (std::size_t at = 0; at < wire.size() && !over;) {
      const std::size_t count = std::min<std::size_t>(wire.size() - at, 1013);
      EXPECT_EQ(::send(to_far.get(), wire.data() + at, count, 0), static_cast<ssize_t>(count));
      at += count;
      for (int i = 0; i < 2 && !over; ++i) {
        Incoming in;
        for (Stream::Got got; (got = far->next(in, regions)) != Stream::Got::nothing; in = {}) {
          over = got != Stream::Got::record;
          if (over) break;
          const auto data = bytes(in.record.size);
          const std::byte* const here = in.lent != nullptr ? in.lent : in.owned.get();
          EXPECT_TRUE(std::equal(data.begin(), data.end(), here));
          came.push_back(in.record.sequence);
        }
      }
    }
    return came;
  }
  std::unique_ptr<RegionTable> table;
  Regions regions;
  std::unique_ptr<Stream> near, far;
  Descriptor from_near, to_far;
  bool over = false;
};

TEST_P(Protects, StreamCarriesRecordsOfAllSizesAndShowsNone) {
  Path path(GetParam());
  std::uint64_t count = 0;
  for (const std::size_t size : {0, 1, 100, 16'000, 16'384, 70'000, 300'000, 3}) {
    path.push(count++, static_cast<std::size_t>(size));
  }
  const auto wire = path.take();
  const auto data = bytes(100);
  EXPECT_EQ(std::search(wire.begin(), wire.end(), data.begin(), data.end()), wire.end());
  EXPECT_EQ(path.give(wire).size(), count);
  EXPECT_FALSE(path.over);
}

TEST_P(Protects, StreamAChangedByteEndsIt) {
  for (const std::size_t at : {0, 2, 3, 4, 11, 12, 50, 20'000, 40'000}) {
    Path path(GetParam());
    for (std::uint64_t i = 0; i < 5; ++i) path.push(i, 10'000);
    auto wire = path.take();
    wire[static_cast<std::size_t>(at)] ^= std::byte{1};
    EXPECT_LT(path.give(wire).size(), 5u);
    EXPECT_TRUE(path.far->changed()) << "byte " << at;
  }
}

TEST_P(Protects, StreamARepeatedChunkEndsIt) {
  Path path(GetParam());
  path.push(1, 10);
  const auto wire = path.take();
  EXPECT_EQ(path.give(wire).size(), 1u);
  EXPECT_EQ(path.give(wire).size(), 0u);
  EXPECT_TRUE(path.far->changed());
}

TEST(RegionKeys, NeverRepeatAndCannotBeGuessed) {
  const auto table = std::make_unique<RegionTable>(), another = std::make_unique<RegionTable>();
  Regions regions(*table), others(*another);
  std::byte memory[8];
  std::set<std::uint64_t> keys;
  std::uint64_t before = 0;
  int close = 0, same = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = regions.add(memory, sizeof memory);
    EXPECT_TRUE(keys.insert(key).second);
    EXPECT_NE(regions.find(key, 0, 8).data, nullptr);
    close += (key >> 32) - (before >> 32) < 1000 ? 1 : 0;
    same += others.add(memory, sizeof memory) == key ? 1 : 0;
    before = key;
    regions.remove(key);
    EXPECT_EQ(regions.find(key, 0, 8).data, nullptr);
  }
  EXPECT_LT(close, 3);
  EXPECT_LT(same, 3);
}

}  // namespace
}  // namespace weft::wire
