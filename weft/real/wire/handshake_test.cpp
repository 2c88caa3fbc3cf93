// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/real/wire/handshake.hpp>
#include <weft/real/wire/record.hpp>

namespace weft::wire {
namespace {

JobSecret secret_of(std::uint64_t seed) {
  const Rng random(seed);
  JobSecret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(random.at(i));
  return secret;
}

struct Talk {
  JobSecret secret = secret_of(1);
  Challenge server = fresh_challenge(), client = fresh_challenge();
  Claim claim{.from = 3, .to = 5, .rail = 1, .connection = 77, .replaces = 76};
  AnswerBytes said = answer(secret, server, client, claim);
};

TEST(Handshake, BelievesWhoKnowsTheSecret) {
  const Talk talk;
  const auto claim = read_answer(talk.secret, talk.server, talk.said);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->from, 3u);
  EXPECT_EQ(claim->to, 5u);
  EXPECT_EQ(claim->rail, 1u);
  EXPECT_EQ(claim->connection, 77u);
  EXPECT_EQ(claim->replaces, 76u);
  for (const Verdict verdict : {Verdict::welcome, Verdict::taken}) {
    const VerdictBytes bytes = give_verdict(talk.secret, talk.server, talk.said, verdict);
    EXPECT_EQ(read_verdict(talk.secret, talk.server, talk.said, bytes), verdict);
  }
}

TEST(Handshake, BelievesNobodyElse) {
  const Talk talk;
  EXPECT_FALSE(read_answer(secret_of(2), talk.server, talk.said));
  const VerdictBytes bytes = give_verdict(secret_of(2), talk.server, talk.said, Verdict::welcome);
  EXPECT_FALSE(read_verdict(talk.secret, talk.server, talk.said, bytes));
}

TEST(Handshake, AnswersCannotBeUsedAgain) {
  const Talk talk;
  EXPECT_FALSE(read_answer(talk.secret, fresh_challenge(), talk.said));
  // Nor sent back to where they came from.
  const Talk other;
  EXPECT_FALSE(
      read_verdict(talk.secret, talk.server, talk.said, std::span(other.said).first(verdict_size)));
  const VerdictBytes old = give_verdict(talk.secret, talk.server, talk.said, Verdict::welcome);
  EXPECT_FALSE(read_verdict(talk.secret, other.server, other.said, old));
}

TEST(Handshake, EveryChangedBitIsNoticed) {
  const Talk talk;
  for (std::size_t bit = 0; bit < answer_size * 8; ++bit) {
    AnswerBytes changed = talk.said;
    changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(read_answer(talk.secret, talk.server, changed)) << "bit " << bit;
  }
  const VerdictBytes verdict = give_verdict(talk.secret, talk.server, talk.said, Verdict::taken);
  for (std::size_t bit = 0; bit < verdict_size * 8; ++bit) {
    VerdictBytes changed = verdict;
    changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(read_verdict(talk.secret, talk.server, talk.said, changed)) << "bit " << bit;
  }
}

TEST(Handshake, WrongSizesAreNoAnswers) {
  const Talk talk;
  std::vector<std::byte> bytes(talk.said.begin(), talk.said.end());
  bytes.push_back({});
  EXPECT_FALSE(read_answer(talk.secret, talk.server, bytes));
  bytes.resize(answer_size - 1);
  EXPECT_FALSE(read_answer(talk.secret, talk.server, bytes));
  EXPECT_FALSE(read_answer(talk.secret, talk.server, {}));
  EXPECT_FALSE(read_verdict(talk.secret, talk.server, talk.said, {}));
}

TEST(Handshake, ChallengesDiffer) {
  EXPECT_NE(fresh_challenge(), fresh_challenge());
  EXPECT_NE(fresh_name(), fresh_name());
}

TEST(Record, FaultsAreSeen) {
  Record record;
  record.size = 100;
  EXPECT_EQ(fault_of(record, 100), nullptr);
  EXPECT_NE(fault_of(record, 99), nullptr);
  record.kind = RecordKind::goodbye;
  EXPECT_NE(fault_of(record, 1000), nullptr);
  record.size = 0;
  EXPECT_EQ(fault_of(record, 1000), nullptr);
  record.kind = static_cast<RecordKind>(200);
  EXPECT_NE(fault_of(record, 1000), nullptr);
  record.kind = RecordKind::write;
  record.offset = ~std::uint64_t{0};
  EXPECT_NE(fault_of(record, 1000), nullptr);
  record = {};
  record.magic = 0;
  EXPECT_NE(fault_of(record, 1000), nullptr);
}

}  // namespace
}  // namespace weft::wire
