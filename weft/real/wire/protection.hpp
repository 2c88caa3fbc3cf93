// SPDX-License-Identifier: Apache-2.0
// Authenticated encryption of what goes over a connection. The bytes of a stream are cut into
// chunks, each sealed with AES-256-GCM where both processors have instructions for it, else with
// ChaCha20-Poly1305:
//
//   length (4 bytes)   check (8 bytes)   ciphertext (`length` bytes)   tag (16 bytes)
//
// Each direction of each connection has a key of its own, from the handshake, and numbers its
// chunks; the number is the nonce. So a chunk that is changed, repeated, left out, moved, sent back
// or taken from another connection does not open. The check, SipHash of number and length, lets
// nobody wait for bytes that were never sent. Numbers last for 2^64 chunks; AES-256-GCM is safe for
// fewer blocks than that, so that its key is replaced by its own hash after every 2^20 chunks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <sys/uio.h>

#include <weft/real/wire/handshake.hpp>

namespace weft::wire {

enum class Cipher : std::uint8_t { none, chacha20_poly1305, aes256_gcm };
std::string_view to_text(Cipher cipher);
// The quickest of this processor.
Cipher best_cipher();

// One direction of a connection.
class ChunkCipher {
 public:
  static constexpr std::size_t head_size = 12, tag_size = 16;
  static constexpr std::size_t most_plain = std::size_t{16} << 10;
  static constexpr std::size_t most_sealed = head_size + most_plain + tag_size;
  static constexpr std::uint64_t chunks_per_key = std::uint64_t{1} << 20;  // Of AES-256-GCM.

  // REQUIRES: a cipher that this processor has.
  ChunkCipher(const SessionKey& key, Cipher cipher);
  ~ChunkCipher();
  ChunkCipher(const ChunkCipher&) = delete;
  ChunkCipher& operator=(const ChunkCipher&) = delete;

  // Returns the size of the chunk. REQUIRES: 1 to most_plain bytes; room for most_sealed.
  std::size_t seal(std::span<const std::byte> plain, std::byte* chunk);
  // The size of the next chunk, which begins so; it may be more than has come. 0: that is not how
  // the next chunk begins.
  std::size_t size_of(const std::byte* head) const;
  // false: it is not the next chunk that the peer has sealed.
  bool open(std::span<const std::byte> chunk, std::byte* plain);

 private:
  using Nonce = std::array<unsigned char, 12>;
  Nonce nonce() const;
  void count();  // The next chunk follows.
  std::uint64_t check_of(std::uint32_t length) const;

  // What AES makes of its key, once.
  struct alignas(16) Schedule {
    std::array<std::byte, 512> bytes = {};
  };

  SessionKey key_;
  std::array<unsigned char, 16> check_key_;
  std::unique_ptr<Schedule> schedule_;  // Null: ChaCha20-Poly1305.
  std::uint64_t number_ = 0;
};

// Both directions, between a stream and its socket.
class Protection {
 public:
  Protection(const SessionKeys& keys, Cipher cipher);

  // --- Out ---
  // Seals as many of these bytes as fit into a chunk, and returns how many. Only if it has room.
  std::size_t seal(std::span<const iovec> pieces);
  bool has_room() const {
    return !has_unsent() || out_room - out_size_ >= ChunkCipher::most_sealed;
  }
  enum class Sent : std::uint8_t { all, blocked, broken };
  Sent send(int socket);
  bool has_unsent() const { return sent_ < out_size_; }
  std::uint64_t sealed() const { return sealed_; }  // Bytes, as they go over the wire,
  std::uint64_t given() const { return sealed_ - (out_size_ - sent_); }  // and in the kernel.

  // --- In ---
  enum class Got : std::uint8_t { some, none, closed, changed };
  Got receive(int socket, std::span<std::byte> room, std::size_t& count);
  void look_again() { drained_ = false; }           // More may have come since it had read all.
  std::uint64_t opened() const { return opened_; }  // Bytes, as they came over the wire.
  // Bytes that have come and cannot be opened yet, or have not been asked for.
  std::size_t held() const { return (in_end_ - in_begin_) + (plain_end_ - plain_begin_); }

 private:
  static constexpr std::size_t out_room = 4 * ChunkCipher::most_sealed;  // One call of the kernel.
  static constexpr std::size_t in_room = std::size_t{128} << 10;
  Got open_next();
  Got fill(int socket);

  ChunkCipher out_cipher_, in_cipher_;
  // Room for large messages, of which small ones never touch most. A chunk, open; some, sealed.
  std::unique_ptr<std::byte[]> gathered_, out_;
  std::size_t out_size_ = 0, sent_ = 0;
  std::uint64_t sealed_ = 0;
  std::uint64_t opened_ = 0;
  std::unique_ptr<std::byte[]> in_, plain_;  // As it came; the latest chunk, open.
  std::size_t in_begin_ = 0, in_end_ = 0, plain_begin_ = 0, plain_end_ = 0;
  bool drained_ = false;  // The last recv returned less than it could: there is no more.
};

}  // namespace weft::wire
