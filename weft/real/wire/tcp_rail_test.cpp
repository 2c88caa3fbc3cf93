// SPDX-License-Identifier: Apache-2.0
// One TCP rail against a peer that is a bare stream: what our kernel has acknowledged is delivered,
// however the connection ends, because the peer has forgotten it.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <weft/real/wire/clock.hpp>
#include <weft/real/wire/tcp_rail.hpp>

namespace weft::wire {
namespace {

constexpr std::uint64_t connection = 77;

locality::Interface loopback() {
  locality::Interface interface;
  interface.name = "lo";
  interface.address.bytes = {127, 0, 0, 1};
  interface.loopback = true;
  return interface;
}

struct SocketPair {
  SocketPair() {
    const auto listener = listen_on(loopback());
    const auto port = port_of(*listener);
    far = connect_from(loopback(), loopback().address, *port).value();
    locality::Address from;
    bool local = false;
    while (!near) near = accept_from(*listener, from, local);
  }
  Descriptor near, far;
};

SessionKeys keys_of(bool accepting) {
  return session_keys({}, {}, answer({}, {}, {}, {.connection = connection}), accepting);
}

// Both ends of one rail, protected or not. The far one can be made deaf to data, and still hears
// acknowledgements.
class TcpRailWorkers : public testing::TestWithParam<bool>, public LinkRailHost {
 protected:
  TcpRailWorkers() {
    setting_.lost_after = Duration::ms(500);
    SocketPair sockets;
    far_ = stream_of(std::move(sockets.far));
    rail_.admit(std::move(sockets.near), {.connection = connection}, keys_of(true), now());
  }
  static std::unique_ptr<Stream> stream_of(Descriptor socket) {
    prepare(socket, Duration::ms(500));
    auto stream =
        std::make_unique<Stream>(std::move(socket), Stream::Facts{connection, true, 1 << 20});
    if (GetParam()) stream->protect(keys_of(false), best_cipher());
    return stream;
  }
  static Outgoing frame(std::uint64_t sequence, std::size_t size) {
    Outgoing out;
    out.record.sequence = sequence;
    out.record.size = size;
    out.cookie = sequence;
    out.owned = std::make_unique<std::byte[]>(size);
    std::memset(out.owned.get(), static_cast<int>(sequence), size);
    out.data = out.owned.get();
    return out;
  }
  // Sends from the far end, and waits until our kernel has acknowledged all of it.
  void send_acknowledged(Outgoing&& out) {
    far_->push(std::move(out));
    std::vector<std::uint64_t> done;
    const Time limit = now() + Duration::ms(5000);
    while (done.empty() && now() < limit) {
      ASSERT_TRUE(far_->pump_out());
      far_->settle(done, now());
    }
    ASSERT_FALSE(done.empty());
    ASSERT_FALSE(far_->has_unacknowledged());
  }
  void send_frames() {
    send_acknowledged(frame(1, 0));
    send_acknowledged(frame(2, 100));
    send_acknowledged(frame(3, 70'000));  // More than the buffer of a stream.
  }
  void expect_frames() {
    EXPECT_TRUE(readable_);
    for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
      Completion out;
      Arrival arrival;
      ASSERT_TRUE(rail_.poll(out, arrival)) << "frame " << sequence << " is lost";
      EXPECT_EQ(arrival.record.sequence, sequence);
      ASSERT_EQ(out.size, sequence == 1 ? 0u : sequence == 2 ? 100u : 70'000u);
      const std::byte* const data = out.lent != nullptr ? out.lent : out.data.get();
      if (out.size > 0) {
        EXPECT_EQ(data[out.size - 1], std::byte(sequence));
      }
    }
    Completion out;
    Arrival arrival;
    EXPECT_FALSE(rail_.poll(out, arrival));
  }
  void make_far_end_deaf() {
    // Accept packets of at most 60 bytes: a head without data.
    sock_filter steps[] = {{BPF_LD | BPF_W | BPF_LEN, 0, 0, 0},
                           {BPF_JMP | BPF_JGT | BPF_K, 0, 1, 60},
                           {BPF_RET | BPF_K, 0, 0, 0},
                           {BPF_RET | BPF_K, 0, 0, 0xffff}};
    const sock_fprog filter = {4, steps};
    ASSERT_EQ(
        ::setsockopt(far_->socket().get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter),
        0);
  }

  // LinkRailHost
  RankId peer() const override { return RankId(1); }
  Time now() const override { return real_now(); }
  const Regions& regions() const override { return regions_; }
  void watch(const LinkRail&, int, bool) override {}
  void readable(const LinkRail&) override { readable_ = true; }
  void rail_up(LinkRail&) override {}
  void data_changed(const LinkRail&) override { data_changed_ = true; }
  void rail_down(LinkRail&, std::vector<Outgoing>&& left, const EndedConnection& ended) override {
    readable_ = false;  // As a link does.
    left_ = std::move(left);
    ended_ = ended;
  }
  void report(const LinkRail&, Completion::Kind, std::uint64_t) override {}
  void send_control(const Record&, const std::string&) override {}
  bool may_connect() const override { return false; }
  void no_descriptor(Time) override {}
  void peer_answers(Time) override {}
  bool others_up(const LinkRail&) const override { return true; }
  bool closing() const override { return closing_; }
  bool may_close(Time) const override { return closing_; }

  TcpSetting setting_;
  std::unique_ptr<RegionTable> table_ = std::make_unique<RegionTable>();
  Regions regions_{*table_};
  bool data_changed_ = false;
  EndedConnection ended_;
  bool readable_ = false, closing_ = false;
  std::vector<Outgoing> left_;
  std::unique_ptr<Stream> far_;
  TcpRail rail_{setting_,
                {loopback(), loopback().address, 1, 0, GetParam() ? best_cipher() : Cipher::none},
                *this};
};

TEST_P(TcpRailWorkers, DeliversWhatItAcknowledgedBeforeThePeerGaveItUp) {
  send_frames();
  rail_.reported_broken({connection}, now());
  EXPECT_FALSE(rail_.up());
  expect_frames();
}

// That there was no more when it read last says nothing of now.
TEST_P(TcpRailWorkers, DeliversWhatItAcknowledgedSinceItHadReadAll) {
  send_acknowledged(frame(7, 100));
  Completion out;
  Arrival arrival;
  ASSERT_TRUE(rail_.poll(out, arrival));
  send_frames();
  rail_.reported_broken({connection, far_->settled()}, now());
  EXPECT_FALSE(data_changed_);
  expect_frames();
}

TEST_P(TcpRailWorkers, DeliversWhatItAcknowledgedBeforeItStalled) {
  make_far_end_deaf();
  rail_.forward(frame(9, 1000));
  rail_.tend(now());
  send_frames();
  const Time limit = now() + Duration::ms(5000);
  // The process computes meanwhile: nothing is polled.
  for (; rail_.up() && now() < limit; rail_.tend(now())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_FALSE(rail_.up());
  ASSERT_EQ(left_.size(), 1u);
  EXPECT_EQ(left_[0].record.sequence, 9u);
  expect_frames();
}

TEST_P(TcpRailWorkers, DeliversWhatItAcknowledgedBeforeItWasReplaced) {
  send_frames();
  SocketPair sockets;
  rail_.admit(std::move(sockets.near), {.connection = 78, .replaces = connection}, keys_of(true),
              now());
  EXPECT_TRUE(rail_.up());
  expect_frames();
}

TEST_P(TcpRailWorkers, DeliversWhatItAcknowledgedBeforeItClosed) {
  send_frames();
  closing_ = true;
  rail_.tend(now());
  EXPECT_FALSE(rail_.up());
  expect_frames();
}

// The write itself is in memory; its notice must come, too, unless that memory has been closed.
TEST_P(TcpRailWorkers, DeliversWritesThatItAcknowledged) {
  for (const bool open : {true, false}) {
    std::vector<std::byte> memory(40'000);
    const std::uint64_t key = regions_.add(memory.data(), memory.size());
    Outgoing out = frame(5, memory.size());
    out.record.kind = RecordKind::write;
    out.record.sequence = 0;
    out.record.key = key;
    send_acknowledged(std::move(out));
    rail_.reported_broken({connection}, now());
    EXPECT_EQ(memory.back(), std::byte{5});
    if (!open) regions_.remove(key);
    Completion in;
    Arrival arrival;
    ASSERT_TRUE(rail_.poll(in, arrival));
    EXPECT_EQ(in.kind, Completion::Kind::written);
    EXPECT_EQ(arrival.kept, open);
    SocketPair sockets;
    far_ = stream_of(std::move(sockets.far));
    rail_.admit(std::move(sockets.near), {.connection = connection}, keys_of(true), now());
  }
}

// What is there only in part has not been acknowledged as a whole: it comes again.
TEST_P(TcpRailWorkers, LeavesOutWhatCameInPart) {
  send_acknowledged(frame(1, 0));
  Record half;
  half.size = 1000;
  std::vector<std::byte> sent(sizeof half);
  std::memcpy(sent.data(), &half, sizeof half);
  if (GetParam()) {
    ChunkCipher cipher(keys_of(false).out, best_cipher());
    std::vector<std::byte> chunk(ChunkCipher::most_sealed);
    cipher.seal(sent, chunk.data());  // As the first one was.
    cipher.seal(sent, chunk.data());
    std::copy_n(chunk.begin(), sent.size(), sent.begin());
  }
  ASSERT_EQ(::send(far_->socket().get(), sent.data(), sent.size(), 0), ssize_t{sizeof half});
  while (unacknowledged(far_->socket()) > 0) {
  }
  rail_.reported_broken({connection}, now());
  Completion out;
  Arrival arrival;
  EXPECT_TRUE(rail_.poll(out, arrival));
  EXPECT_FALSE(rail_.poll(out, arrival));
}

// Only what our kernel acknowledged is read: if the peer was told more, it was not by us.
TEST_P(TcpRailWorkers, NoticesWhatSomebodyElseAcknowledged) {
  send_frames();
  rail_.reported_broken({connection, far_->settled()}, now());
  expect_frames();
  EXPECT_FALSE(data_changed_);
  rail_.reported_broken({connection + 1, far_->settled() + 1}, now());
  EXPECT_FALSE(data_changed_);
  rail_.reported_broken({connection, far_->settled() + 1}, now());
  EXPECT_EQ(data_changed_, GetParam());
}

TEST_P(TcpRailWorkers, TellsHowMuchWasAcknowledged) {
  rail_.forward(frame(9, 1000));
  const Time limit = now() + Duration::ms(5000);
  while (rail_.outstanding() && now() < limit) rail_.tend(now());
  far_->drop();
  Completion out;
  Arrival arrival;
  while (rail_.up() && now() < limit) rail_.poll(out, arrival);
  EXPECT_EQ(ended_.name, GetParam() ? connection : 0);
  EXPECT_EQ(
      ended_.settled,
      GetParam() ? ChunkCipher::head_size + sizeof(Record) + 1000 + ChunkCipher::tag_size : 0);
}

INSTANTIATE_TEST_SUITE_P(Protected, TcpRailWorkers, testing::Bool());

// The port of a rank that has ended may become that of a call to it.
TEST(Dial, DoesNotTalkToItself) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
  ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
  ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
  const JobSecret secret = {};
  Dial dial(std::move(socket), secret, {}, real_now());
  EXPECT_EQ(dial.advance(), Step::failed);
}

}  // namespace
}  // namespace weft::wire
