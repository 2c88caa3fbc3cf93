// SPDX-License-Identifier: Apache-2.0
// Anything may come over a connection, and to the door: bytes become records, or a fault, and write
// only into memory that is open.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <sys/socket.h>

#include <weft/real/wire/contact.hpp>
#include <weft/real/wire/handshake.hpp>
#include <weft/real/wire/stream.hpp>

using namespace weft::wire;

namespace {

void read_stream(const std::uint8_t* data, std::size_t size) {
  static const auto table = std::make_unique<RegionTable>();
  static Regions regions(*table);
  static std::array<std::byte, 4096> memory;
  static const std::uint64_t key = regions.add(memory.data() + 1024, 2048);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
  Descriptor writer(ends[1]);
  Stream stream(Descriptor{ends[0]}, {1, true, std::size_t{1} << 20});
  memory.fill(std::byte{0x5a});
  // The key that is open, where a record has one and its unused byte says so.
  std::size_t sent = 0;
  const std::uint64_t open = key;
  for (bool more = true; more;) {
    std::array<std::uint8_t, 512> piece{};
    const std::size_t count = std::min(piece.size(), size - sent);
    std::memcpy(piece.data(), data + sent, count);
    if (count > 40 && piece[6] == 0xff) std::memcpy(piece.data() + 24, &open, sizeof open);
    if (count > 0) static_cast<void>(!::send(writer.get(), piece.data(), count, MSG_NOSIGNAL));
    sent += count;
    more = sent < size;
    for (Incoming in;;) {
      const Stream::Got got = stream.next(in, regions);
      if (got == Stream::Got::record) continue;
      if (got == Stream::Got::broken || got == Stream::Got::closed) more = false;
      break;
    }
  }
  for (std::size_t i = 0; i < 1024; ++i) {
    if (memory[i] != std::byte{0x5a} || memory[3072 + i] != std::byte{0x5a}) std::abort();
  }
}

// Without the keys of a connection nothing becomes a record.
void read_protected(const std::uint8_t* data, std::size_t size) {
  static const auto table = std::make_unique<RegionTable>();
  static const Regions regions(*table);
  static const SessionKeys keys = session_keys({}, fresh_challenge(), {}, true);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
  const Descriptor writer(ends[1]);
  Stream stream(Descriptor{ends[0]}, {1, true, std::size_t{1} << 20});
  stream.protect(keys, size % 2 == 0 ? best_cipher() : Cipher::chacha20_poly1305);
  if (size > 0) static_cast<void>(!::send(writer.get(), data, size, MSG_NOSIGNAL));
  Incoming in;
  const Stream::Got got = stream.next(in, regions);
  if (got == Stream::Got::record) std::abort();
  if (size >= ChunkCipher::head_size && !stream.changed()) std::abort();
}

// A peer that does not know the secret is not believed.
void knock(const std::uint8_t* data, std::size_t size) {
  static const JobSecret secret = [] {
    JobSecret made;
    made.fill(std::byte{7});
    return made;
  }();
  static const Challenge challenge = fresh_challenge();
  static const AnswerBytes said = answer(secret, challenge, fresh_challenge(), {});
  const auto bytes = std::as_bytes(std::span(data, size));
  if (read_answer(secret, challenge, bytes)) std::abort();
  if (read_verdict(secret, challenge, said, bytes)) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
      knock(data + 1, size - 1);
      break;
    case 1:
      static_cast<void>(parse_place(text));
      static_cast<void>(parse_address(text));
      break;
    default:
      read_stream(data + 1, size - 1);
      read_protected(data + 1, size - 1);
  }
  return 0;
}
