// SPDX-License-Identifier: Apache-2.0
// How two processes prove to each other that they know the job's secret, before either believes
// anything. Works on bytes only; dial.hpp has the sockets.
//
//   accepting side         connecting side
//   challenge          ->
//                      <-  answer: challenge of its own, who it is and which rail, proof of all
//   verdict and proof  ->
//
// All three have a fixed size. A proof is an HMAC-SHA-512-256 under the secret, of both challenges,
// the claims, and the role, so that none can be sent back or used again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace weft::wire {

using JobSecret = std::array<std::byte, 32>;
using Challenge = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;

// The rank that connects, and the connection it wants.
struct Claim {
  std::uint32_t from = 0, to = 0;  // Ranks.
  std::uint32_t rail = 0;
  std::uint32_t cipher = 0;      // Of what follows, see protection.hpp; 0: none.
  std::uint64_t connection = 0;  // Its name, chosen by the connecting side.
  std::uint64_t replaces = 0;    // The previous one on this rail; 0: none.
};

enum class Verdict : std::uint8_t {
  welcome = 1,
  taken,  // The rail has another connection, or will have: the one from the accepting side.
};

inline constexpr std::size_t challenge_size = sizeof(Challenge);
inline constexpr std::size_t answer_size = sizeof(Challenge) + sizeof(Claim) + sizeof(Proof);
inline constexpr std::size_t verdict_size = 8 + sizeof(Proof);
using AnswerBytes = std::array<std::byte, answer_size>;
using VerdictBytes = std::array<std::byte, verdict_size>;

Challenge fresh_challenge();
std::uint64_t fresh_name();  // Not 0.

// The connecting side.
AnswerBytes answer(const JobSecret& secret, const Challenge& theirs, const Challenge& ours,
                   const Claim& claim);
// Nothing: they do not know the secret.
std::optional<Verdict> read_verdict(const JobSecret& secret, const Challenge& theirs,
                                    const AnswerBytes& said, std::span<const std::byte> bytes);

// The accepting side.
std::optional<Claim> read_answer(const JobSecret& secret, const Challenge& ours,
                                 std::span<const std::byte> bytes);
VerdictBytes give_verdict(const JobSecret& secret, const Challenge& ours,
                          std::span<const std::byte> answer, Verdict verdict);

// For what follows, from the secret and both challenges: no two connections have the same.
using SessionKey = std::array<std::byte, 32>;
struct SessionKeys {
  SessionKey out, in;
};
// `asked` is the challenge of the accepting side.
SessionKeys session_keys(const JobSecret& secret, const Challenge& asked, const AnswerBytes& said,
                         bool accepting);

}  // namespace weft::wire
