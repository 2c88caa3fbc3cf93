// SPDX-License-Identifier: Apache-2.0
// Tests the PMI-1 client against a small server in threads.
#include "weft/real/launch/pmi_store.hpp"

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>

namespace weft::launch {
namespace {

std::string word(const std::string& line, const std::string& name) {
  const std::size_t at = (" " + line).find(" " + name + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// Shared by all ranks of a job.
struct Space {
  explicit Space(int count) : ranks(count) {}
  std::string answer(const std::string& line);

  const int ranks;
  std::string limits = "keylen_max=64 vallen_max=64";
  std::mutex mutex;
  std::condition_variable met;
  int waiting = 0, rounds = 0;
  std::map<std::string, std::string> values;
  int finalized = 0;
};

std::string Space::answer(const std::string& line) {
  const std::string command = word(line, "cmd");
  std::unique_lock<std::mutex> lock(mutex);
  if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
  if (command == "get_maxes") return "cmd=maxes kvsname_max=256 " + limits;
  if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_1";
  if (command == "put") {
    const bool fits = word(line, "key").size() <= 64 && word(line, "value").size() <= 64;
    if (!fits || word(line, "kvsname") != "kvs_1") return "cmd=put_result rc=-1 msg=refused";
    values[word(line, "key")] = word(line, "value");
    return "cmd=put_result rc=0 msg=success";
  }
  if (command == "get") {
    const auto found = values.find(word(line, "key"));
    if (found == values.end()) return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
    return "cmd=get_result rc=0 msg=success value=" + found->second;
  }
  if (command == "barrier_in") {
    const int round = rounds;
    if (++waiting == ranks) {
      waiting = 0;
      ++rounds;
      met.notify_all();
    }
    met.wait(lock, [&] { return rounds > round; });
    return "cmd=barrier_out";
  }
  if (command == "finalize") {
    ++finalized;
    return "cmd=finalize_ack";
  }
  return "";
}

// Answers one rank until it disconnects; an empty answer closes the connection.
void serve(int socket, const std::function<std::string(const std::string&)>& answer) {
  std::string line;
  for (char c = 0; ::read(socket, &c, 1) == 1;) {
    if (c != '\n') {
      line += c;
      continue;
    }
    const std::string text = answer(line);
    if (text.empty()) break;
    line.clear();
    const std::string whole = text + "\n";
    if (::send(socket, whole.data(), whole.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::close(socket);
}

std::array<int, 2> make_pair_of_sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

Result<std::unique_ptr<Seat>> sit(const PmiStart& start) {
  auto store = open_pmi_store(start);
  if (!store) return std::move(store).error();
  return take_store_seat(*std::move(store));
}

TEST(PmiStore, BringsRanksTogether) {
  constexpr int ranks = 4;
  Space space(ranks);
  std::vector<std::thread> threads;
  std::array<Secret, ranks> secrets{};
  for (int rank = 0; rank < ranks; ++rank) {
    const auto ends = make_pair_of_sockets();
    threads.emplace_back([&space, socket = ends[0]] {
      serve(socket, [&](const std::string& line) { return space.answer(line); });
    });
    threads.emplace_back([&secrets, rank, socket = ends[1]] {
      auto seat = sit({socket, static_cast<std::uint32_t>(rank), ranks});
      ASSERT_TRUE(seat) << seat.error().text();
      secrets[static_cast<std::size_t>(rank)] = (*seat)->secret();
      for (const std::size_t size : {0u, 1u, 31u, 32u, 500u}) {
        const auto cards =
            (*seat)->exchange(std::string(size, static_cast<char>('a' + rank)) + '\0');
        ASSERT_TRUE(cards) << cards.error().text();
        for (int i = 0; i < ranks; ++i)
          EXPECT_EQ((*cards)[static_cast<std::size_t>(i)],
                    std::string(size, static_cast<char>('a' + i)) + '\0');
      }
      Notice notice;
      EXPECT_FALSE((*seat)->next_notice(notice));
      (*seat)->leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(space.finalized, ranks);
  EXPECT_NE(secrets[0], Secret{});
  for (const Secret& secret : secrets) EXPECT_EQ(secret, secrets[0]);
}

// The error that results from such answers; it must come soon.
std::string said_after(const std::function<std::string(const std::string&)>& answer,
                       int wait_ms = 20'000) {
  const auto ends = make_pair_of_sockets();
  std::thread server([&] { serve(ends[0], answer); });
  std::string said = "nothing";
  {
    const auto seat = sit({ends[1], 0, 1, wait_ms});
    if (!seat) said = seat.error().text();
  }
  server.join();
  return said;
}

TEST(PmiStore, SaysWhatWasExpected) {
  EXPECT_EQ(said_after([](const std::string&) { return "hello"; }),
            "the launcher's PMI server: 'cmd=response_to_init' was expected after 'init', not "
            "'hello'");
  EXPECT_EQ(said_after([](const std::string&) { return ""; }),
            "init: the launcher's PMI server: is gone");
  EXPECT_EQ(said_after([](const std::string&) { return "cmd=response_to_init rc=-1"; }),
            "the launcher's PMI server: 'init' failed: cmd=response_to_init rc=-1");
  for (const char* const limits :
       {"", "keylen_max=64 vallen_max=-4", "keylen_max=1 vallen_max=9"}) {
    Space space(1);
    space.limits = limits;
    const std::string said = said_after([&](const std::string& l) { return space.answer(l); });
    EXPECT_NE(said.find("limits make no sense"), std::string::npos) << said;
  }
}

TEST(PmiStore, DoesNotWaitForEver) {
  const auto ends = make_pair_of_sockets();
  const auto seat = sit({ends[1], 0, 1, 50});
  ASSERT_FALSE(seat);
  EXPECT_EQ(seat.error().text(), "init: the launcher's PMI server: gives no answer");
  ::close(ends[0]);
}

TEST(PmiStore, SurvivesWhateverComes) {
  Rng rng = Rng(test_seed()).stream("pmi", 0);
  for (int i = 0; i < 200; ++i) {
    Space space(1);
    const std::string said = said_after([&](const std::string& line) {
      std::string answer = space.answer(line);
      if (rng.below(3) == 0 && !answer.empty())
        answer[rng.below(answer.size())] = static_cast<char>(32 + rng.below(90));
      return answer;
    });
    EXPECT_FALSE(said.empty());
  }
}

TEST(PmiStore, NoticesTheEndOfItsServer) {
  const auto ends = make_pair_of_sockets();
  Space space(1);
  std::thread server([&] {
    serve(ends[0], [&](const std::string& line) {
      return line == "cmd=get kvsname=kvs_1 key=weft-1-0-0" ? "" : space.answer(line);
    });
  });
  const auto seat = sit({ends[1], 0, 1});
  ASSERT_TRUE(seat) << seat.error().text();
  EXPECT_FALSE((*seat)->exchange("x"));
  server.join();
  Notice notice;
  EXPECT_TRUE((*seat)->next_notice(notice));
  EXPECT_EQ(notice.kind, Notice::Kind::end);
  EXPECT_FALSE((*seat)->next_notice(notice));
}

TEST(FindPmi, LooksAtVariables) {
  const auto ends = make_pair_of_sockets();
  ::setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
  ::setenv("PMI_RANK", "2", 1);
  ::setenv("PMI_SIZE", "2", 1);
  EXPECT_TRUE(seat_kept());
  EXPECT_FALSE(find_pmi());
  ::setenv("PMI_SIZE", "3", 1);
  const auto start = find_pmi();
  ASSERT_TRUE(start) << start.error().text();
  EXPECT_EQ(start->self, 2u);
  EXPECT_EQ(start->ranks, 3u);
  EXPECT_FALSE(seat_kept());
  ::setenv("PMI_FD", "9999", 1);
  ::setenv("PMI_RANK", "0", 1);
  ::setenv("PMI_SIZE", "1", 1);
  EXPECT_FALSE(find_pmi());
  for (const char* const name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) ::unsetenv(name);
  for (const int end : ends) ::close(end);
}

}  // namespace
}  // namespace weft::launch
