// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include <sodium.h>

#include <weft/base/check.hpp>
#include <weft/real/wire/handshake.hpp>

namespace weft::wire {

namespace {

static_assert(sizeof(Proof) == crypto_auth_hmacsha512256_BYTES);
static_assert(sizeof(JobSecret) <= crypto_auth_hmacsha512256_KEYBYTES);

const unsigned char* raw(const std::byte* data) {
  return reinterpret_cast<const unsigned char*>(data);
}

// Proves `parts`, in this order. Each part has a fixed size: none runs into the next.
Proof prove(const JobSecret& secret, std::span<const std::span<const std::byte>> parts) {
  crypto_auth_hmacsha512256_state state;
  crypto_auth_hmacsha512256_init(&state, raw(secret.data()), secret.size());
  for (const auto& part : parts) {
    crypto_auth_hmacsha512256_update(&state, raw(part.data()), part.size());
  }
  Proof proof;
  crypto_auth_hmacsha512256_final(&state, reinterpret_cast<unsigned char*>(proof.data()));
  sodium_memzero(&state, sizeof state);
  return proof;
}

constexpr std::array<std::byte, 8> role(char name) {
  return {std::byte{'w'}, std::byte{'e'}, std::byte{'f'},  std::byte{'t'},
          std::byte{'1'}, std::byte{':'}, std::byte(name), std::byte{0}};
}

Proof prove_answer(const JobSecret& secret, const Challenge& asked,
                   std::span<const std::byte> said) {
  constexpr auto who = role('c');
  const std::span<const std::byte> parts[] = {who, asked, said};
  return prove(secret, parts);
}

Proof prove_verdict(const JobSecret& secret, const Challenge& asked,
                    std::span<const std::byte> answered, std::span<const std::byte> said) {
  constexpr auto who = role('s');
  const std::span<const std::byte> parts[] = {who, asked, answered, said};
  return prove(secret, parts);
}

bool same(const Proof& proof, std::span<const std::byte> bytes) {
  return sodium_memcmp(proof.data(), bytes.data(), proof.size()) == 0;
}

constexpr std::size_t said_size = answer_size - sizeof(Proof);

}  // namespace

Challenge fresh_challenge() {
  WEFT_CHECK(sodium_init() >= 0);
  Challenge challenge;
  randombytes_buf(challenge.data(), challenge.size());
  return challenge;
}

std::uint64_t fresh_name() {
  WEFT_CHECK(sodium_init() >= 0);
  std::uint64_t name = 0;
  while (name == 0) randombytes_buf(&name, sizeof name);
  return name;
}

AnswerBytes answer(const JobSecret& secret, const Challenge& theirs, const Challenge& ours,
                   const Claim& claim) {
  AnswerBytes bytes;
  std::memcpy(bytes.data(), ours.data(), ours.size());
  std::memcpy(bytes.data() + ours.size(), &claim, sizeof claim);
  const Proof proof = prove_answer(secret, theirs, std::span(bytes).first(said_size));
  std::memcpy(bytes.data() + said_size, proof.data(), proof.size());
  return bytes;
}

std::optional<Claim> read_answer(const JobSecret& secret, const Challenge& ours,
                                 std::span<const std::byte> bytes) {
  if (bytes.size() != answer_size) return std::nullopt;
  if (!same(prove_answer(secret, ours, bytes.first(said_size)), bytes.subspan(said_size))) {
    return std::nullopt;
  }
  Claim claim;
  std::memcpy(&claim, bytes.data() + sizeof(Challenge), sizeof claim);
  return claim;
}

SessionKeys session_keys(const JobSecret& secret, const Challenge& asked, const AnswerBytes& said,
                         bool accepting) {
  constexpr auto forth = role('>'), back = role('<');
  const std::span<const std::byte> to_accepting[] = {forth, asked, said};
  const std::span<const std::byte> to_connecting[] = {back, asked, said};
  SessionKeys keys{prove(secret, to_accepting), prove(secret, to_connecting)};
  if (accepting) std::swap(keys.out, keys.in);
  return keys;
}

VerdictBytes give_verdict(const JobSecret& secret, const Challenge& ours,
                          std::span<const std::byte> answered, Verdict verdict) {
  VerdictBytes bytes = {};
  bytes[0] = static_cast<std::byte>(verdict);
  const Proof proof = prove_verdict(secret, ours, answered, std::span(bytes).first(8));
  std::memcpy(bytes.data() + 8, proof.data(), proof.size());
  return bytes;
}

std::optional<Verdict> read_verdict(const JobSecret& secret, const Challenge& theirs,
                                    const AnswerBytes& said, std::span<const std::byte> bytes) {
  if (bytes.size() != verdict_size) return std::nullopt;
  if (!same(prove_verdict(secret, theirs, said, bytes.first(8)), bytes.subspan(8))) {
    return std::nullopt;
  }
  const auto verdict = static_cast<Verdict>(bytes[0]);
  if (verdict != Verdict::welcome && verdict != Verdict::taken) return std::nullopt;
  return verdict;
}

}  // namespace weft::wire
