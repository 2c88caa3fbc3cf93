// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <weft/real/wire/stream.hpp>

namespace weft::wire {
namespace {

// Both ends of a connection, and memory that is open at one of them.
struct Pair {
  Pair() : table(std::make_unique<RegionTable>()), regions(*table) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    near = std::make_unique<Stream>(Descriptor(ends[0]), Stream::Facts{1, true, 1 << 20});
    far = std::make_unique<Stream>(Descriptor(ends[1]), Stream::Facts{1, false, 1 << 20});
  }

  void push_write(const std::vector<std::byte>& data, std::uint64_t key, std::uint64_t cookie) {
    Outgoing out;
    out.record.kind = RecordKind::write;
    out.record.size = data.size();
    out.record.key = key;
    out.record.head[0] = std::byte{42};
    out.data = data.data();
    out.cookie = cookie;
    near->push(std::move(out));
  }
  void push_frame(std::uint64_t sequence) {
    Outgoing out;
    out.record.sequence = sequence;
    near->push(std::move(out));
  }
  void send_raw(const Record& record, std::size_t size) {
    ASSERT_EQ(::send(near->socket().get(), &record, size, 0), static_cast<ssize_t>(size));
  }
  // What came, until nothing more does.
  std::vector<Record> drain(bool* kept = nullptr) {
    std::vector<Record> all;
    for (int idle = 0; idle < 50; ++idle) {
      EXPECT_TRUE(near->pump_out());
      for (Incoming in; far->next(in, regions) == Stream::Got::record; in = {}) {
        all.push_back(in.record);
        if (kept != nullptr) *kept = in.kept;
        idle = 0;
      }
    }
    return all;
  }

  std::unique_ptr<RegionTable> table;
  Regions regions;
  std::unique_ptr<Stream> near, far;
};

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
  return data;
}

// With memory for a write that no socket takes at once.
struct LargeWrite : Pair {
  LargeWrite() { near->set_room(4096); }
  const std::vector<std::byte> data = pattern(1 << 20);
  std::vector<std::byte> memory = std::vector<std::byte>(data.size());
  const std::uint64_t key = regions.add(memory.data(), memory.size());
};

TEST(Stream, AFrameGoesBetweenThePiecesOfAWrite) {
  LargeWrite pair;
  pair.push_write(pair.data, pair.key, 5);
  ASSERT_TRUE(pair.near->pump_out());  // As much as the socket takes.
  ASSERT_TRUE(pair.near->has_unsent());
  pair.push_frame(9);
  const std::vector<Record> came = pair.drain();
  ASSERT_EQ(came.size(), 2u);
  EXPECT_EQ(came[0].kind, RecordKind::frame);
  EXPECT_EQ(came[0].sequence, 9u);
  EXPECT_EQ(came[1].kind, RecordKind::write);
  EXPECT_EQ(came[1].size, pair.data.size());
  EXPECT_EQ(came[1].offset, 0u);
  EXPECT_EQ(came[1].key, pair.key);
  EXPECT_EQ(came[1].head[0], std::byte{42});
  EXPECT_EQ(pair.memory, pair.data);
}

// Many wait, of all sizes, and the socket takes now more and now less than one of them.
TEST(Stream, FramesThatWaitGoTogetherAndInOrder) {
  Pair pair;
  const std::vector<std::byte> data = pattern(9000);
  for (std::uint64_t i = 0; i < 500; ++i) {
    Outgoing out;
    out.record.sequence = i;
    out.record.size = i % 3 == 0 ? 0 : i * 37 % data.size();
    out.data = data.data() + i % 100;
    out.record.size -= std::min<std::uint64_t>(out.record.size, 100);
    out.cookie = i + 1;
    pair.near->push(std::move(out));
  }
  std::uint64_t next = 0;
  for (int idle = 0; idle < 3; ++idle) {
    ASSERT_TRUE(pair.near->pump_out());
    for (Incoming in; pair.far->next(in, pair.regions) == Stream::Got::record; in = {}) {
      ASSERT_EQ(in.record.sequence, next);
      EXPECT_EQ(
          in.record.size == 0 ? 0 : std::memcmp(in.lent, data.data() + next % 100, in.record.size),
          0);
      ++next;
      idle = 0;
    }
  }
  EXPECT_EQ(next, 500u);
  EXPECT_FALSE(pair.near->has_unsent());
}

// A socket that keeps calls apart shows it.
TEST(Stream, FramesThatWaitGoInOneCall) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  Stream near{Descriptor(ends[0]), Stream::Facts{1, true, 1 << 20}};
  const Descriptor far(ends[1]);
  const std::vector<std::byte> data = pattern(5000);
  for (const std::size_t size : {std::size_t{0}, data.size(), std::size_t{0}}) {
    Outgoing out;
    out.record.size = size;
    out.data = data.data();
    near.push(std::move(out));
  }
  ASSERT_TRUE(near.pump_out());
  std::vector<std::byte> came(20'000);
  const std::size_t all = 3 * length_of(RecordKind::frame) + data.size();
  EXPECT_EQ(::recv(far.get(), came.data(), came.size(), 0), static_cast<ssize_t>(all));
  EXPECT_EQ(::recv(far.get(), came.data(), came.size(), 0), -1);
}

TEST(Stream, FramesThatHaveNotAllLeftComeBackInOrder) {
  Pair pair;
  const std::vector<std::byte> data = pattern(200'000);
  for (std::uint64_t i = 0; i < 40; ++i) {
    Outgoing out;
    out.record.sequence = i;
    out.record.size = data.size();
    out.data = data.data();
    pair.near->push(std::move(out));
  }
  ASSERT_TRUE(pair.near->pump_out());
  ASSERT_TRUE(pair.near->has_unsent());
  const std::vector<Outgoing> back = pair.near->give_up();
  ASSERT_EQ(back.size(), 40u);  // None of them has been acknowledged.
  for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(back[i].record.sequence, i);
  EXPECT_FALSE(pair.near->has_unsent());
}

int wakes_from(const Stream& stream) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  EXPECT_EQ(::getsockopt(stream.socket().get(), SOL_SOCKET, SO_RCVLOWAT, &bytes, &size), 0);
  return bytes;
}

// A reader is not woken for each packet of a long record, only for its last one.
TEST(Stream, IsWokenForPartsOfALongRecord) {
  LargeWrite pair;
  pair.near->set_room(pair.data.size());
  pair.push_write(pair.data, pair.key, 5);
  ASSERT_TRUE(pair.near->pump_out());  // Not all of it.
  Incoming in;
  ASSERT_EQ(pair.far->next(in, pair.regions), Stream::Got::nothing);
  EXPECT_GT(wakes_from(*pair.far), 4000);
  EXPECT_LT(wakes_from(*pair.far), 100'000);
  ASSERT_EQ(pair.drain().size(), 1u);
  EXPECT_EQ(wakes_from(*pair.far), 1);
  // Never for more than is to come.
  Record record;
  record.size = 6000;
  record.kind = RecordKind::frame;
  pair.send_raw(record, length_of(record.kind));
  ASSERT_EQ(pair.far->next(in, pair.regions), Stream::Got::nothing);
  EXPECT_EQ(wakes_from(*pair.far), 6000);
}

TEST(Stream, WritesComeOneAfterTheOther) {
  Pair pair;
  pair.near->set_room(1000);
  const std::vector<std::byte> data = pattern(4500);
  std::vector<std::byte> memory(3 * data.size());
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t key = pair.regions.add(memory.data() + i * data.size(), data.size());
    pair.push_write(data, key, i + 1);
  }
  const std::vector<Record> came = pair.drain();
  ASSERT_EQ(came.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(came[i].size, data.size());
    EXPECT_EQ(std::memcmp(memory.data() + i * data.size(), data.data(), data.size()), 0);
  }
}

TEST(Stream, AWriteThatHasBegunIsNotTakenBackAndComesBackWhole) {
  LargeWrite pair;
  pair.push_write(pair.data, pair.key, 5);
  pair.push_write(pair.data, pair.key, 6);
  ASSERT_TRUE(pair.near->pump_out());
  std::uint64_t region = 0;
  EXPECT_FALSE(pair.near->take_back(5, region));
  EXPECT_TRUE(pair.near->take_back(6, region));
  std::vector<std::uint64_t> cookies;
  for (const Outgoing& out : pair.near->give_up()) {
    if (out.cookie != 0) cookies.push_back(out.cookie);
  }
  EXPECT_EQ(cookies, std::vector<std::uint64_t>{5});
}

TEST(Stream, AWriteWhoseMemoryClosesInTheMiddleIsNotKept) {
  LargeWrite pair;
  pair.push_write(pair.data, pair.key, 5);
  ASSERT_TRUE(pair.near->pump_out());
  Incoming in;
  EXPECT_EQ(pair.far->next(in, pair.regions), Stream::Got::nothing);
  pair.regions.remove(pair.key);
  bool kept = true;
  EXPECT_EQ(pair.drain(&kept).size(), 1u);
  EXPECT_FALSE(kept);
}

TEST(Stream, PiecesOutOfPlaceAreFaults) {
  Record more;
  more.kind = RecordKind::more;
  Record write;
  write.kind = RecordKind::write;
  write.goes_on = 1;
  Record odd;
  odd.goes_on = 1;
  Incoming in;
  {
    Pair pair;
    pair.send_raw(more, short_record);
    EXPECT_EQ(pair.far->next(in, pair.regions), Stream::Got::broken);
  }
  {
    Pair pair;
    pair.send_raw(write, sizeof write);
    pair.send_raw(write, sizeof write);
    EXPECT_EQ(pair.far->next(in, pair.regions), Stream::Got::broken);
  }
  {
    Pair pair;
    pair.send_raw(odd, sizeof odd);
    EXPECT_EQ(pair.far->next(in, pair.regions), Stream::Got::broken);
  }
}

}  // namespace
}  // namespace weft::wire
