// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sodium.h>
#include <sys/socket.h>

#include <weft/base/check.hpp>
#include <weft/real/wire/protection.hpp>

namespace weft::wire {

namespace {

unsigned char* raw(std::byte* data) {
  return reinterpret_cast<unsigned char*>(data);
}
const unsigned char* raw(const std::byte* data) {
  return reinterpret_cast<const unsigned char*>(data);
}

static_assert(crypto_shorthash_KEYBYTES == 16 && crypto_shorthash_BYTES == 8);
static_assert(sizeof(SessionKey) == crypto_aead_chacha20poly1305_ietf_KEYBYTES &&
              sizeof(SessionKey) == crypto_aead_aes256gcm_KEYBYTES);
static_assert(ChunkCipher::tag_size == crypto_aead_chacha20poly1305_ietf_ABYTES &&
              ChunkCipher::tag_size == crypto_aead_aes256gcm_ABYTES);
static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == 12 &&
              crypto_aead_aes256gcm_NPUBBYTES == 12);

template <typename Schedule>
auto* aes_state(Schedule& schedule) {
  static_assert(sizeof(Schedule) == sizeof(crypto_aead_aes256gcm_state) &&
                alignof(Schedule) == alignof(crypto_aead_aes256gcm_state));
  return reinterpret_cast<crypto_aead_aes256gcm_state*>(schedule.bytes.data());
}

}  // namespace

std::string_view to_text(Cipher cipher) {
  switch (cipher) {
    case Cipher::chacha20_poly1305:
      return "chacha20-poly1305";
    case Cipher::aes256_gcm:
      return "aes256-gcm";
    case Cipher::none:
      break;
  }
  return "none";
}

Cipher best_cipher() {
  WEFT_CHECK(sodium_init() >= 0);
  return crypto_aead_aes256gcm_is_available() == 1 ? Cipher::aes256_gcm : Cipher::chacha20_poly1305;
}

ChunkCipher::ChunkCipher(const SessionKey& key, Cipher cipher) : key_(key) {
  constexpr unsigned char purpose[] = "weft: lengths of chunks";
  crypto_generichash(check_key_.data(), check_key_.size(), purpose, sizeof purpose,
                     raw(key_.data()), key_.size());
  if (cipher != Cipher::aes256_gcm) return;
  schedule_ = std::make_unique<Schedule>();
  crypto_aead_aes256gcm_beforenm(aes_state(*schedule_), raw(key_.data()));
}

ChunkCipher::~ChunkCipher() {
  sodium_memzero(key_.data(), key_.size());
  sodium_memzero(check_key_.data(), check_key_.size());
  if (schedule_ != nullptr) sodium_memzero(schedule_->bytes.data(), schedule_->bytes.size());
}

ChunkCipher::Nonce ChunkCipher::nonce() const {
  Nonce nonce = {};
  std::memcpy(nonce.data(), &number_, sizeof number_);
  return nonce;
}

void ChunkCipher::count() {
  ++number_;
  if (schedule_ == nullptr || number_ % chunks_per_key != 0) return;
  constexpr unsigned char purpose[] = "weft: the next key";
  SessionKey next;
  crypto_generichash(raw(next.data()), next.size(), purpose, sizeof purpose, raw(key_.data()),
                     key_.size());
  key_ = next;
  sodium_memzero(next.data(), next.size());
  crypto_aead_aes256gcm_beforenm(aes_state(*schedule_), raw(key_.data()));
}

std::uint64_t ChunkCipher::check_of(std::uint32_t length) const {
  const std::uint64_t input[2] = {number_, length};
  std::uint64_t check = 0;
  crypto_shorthash(reinterpret_cast<unsigned char*>(&check),
                   reinterpret_cast<const unsigned char*>(input), sizeof input, check_key_.data());
  return check;
}

std::size_t ChunkCipher::seal(std::span<const std::byte> plain, std::byte* chunk) {
  const auto length = static_cast<std::uint32_t>(plain.size());
  const std::uint64_t check = check_of(length);
  std::memcpy(chunk, &length, sizeof length);
  std::memcpy(chunk + sizeof length, &check, sizeof check);
  const Nonce nonce = this->nonce();
  if (schedule_ != nullptr) {
    crypto_aead_aes256gcm_encrypt_afternm(raw(chunk + head_size), nullptr, raw(plain.data()),
                                          plain.size(), raw(chunk), head_size, nullptr,
                                          nonce.data(), aes_state(*schedule_));
  } else {
    crypto_aead_chacha20poly1305_ietf_encrypt(raw(chunk + head_size), nullptr, raw(plain.data()),
                                              plain.size(), raw(chunk), head_size, nullptr,
                                              nonce.data(), raw(key_.data()));
  }
  count();
  return head_size + plain.size() + tag_size;
}

std::size_t ChunkCipher::size_of(const std::byte* head) const {
  std::uint32_t length = 0;
  std::memcpy(&length, head, sizeof length);
  const std::uint64_t check = check_of(length);
  if (sodium_memcmp(&check, head + sizeof length, sizeof check) != 0) return 0;
  return length == 0 || length > most_plain ? 0 : head_size + length + tag_size;
}

bool ChunkCipher::open(std::span<const std::byte> chunk, std::byte* plain) {
  const Nonce nonce = this->nonce();
  const auto sealed = chunk.subspan(head_size);
  const int failed = schedule_ != nullptr
                         ? crypto_aead_aes256gcm_decrypt_afternm(
                               raw(plain), nullptr, nullptr, raw(sealed.data()), sealed.size(),
                               raw(chunk.data()), head_size, nonce.data(), aes_state(*schedule_))
                         : crypto_aead_chacha20poly1305_ietf_decrypt(
                               raw(plain), nullptr, nullptr, raw(sealed.data()), sealed.size(),
                               raw(chunk.data()), head_size, nonce.data(), raw(key_.data()));
  count();
  return failed == 0;
}

Protection::Protection(const SessionKeys& keys, Cipher cipher)
    : out_cipher_(keys.out, cipher),
      in_cipher_(keys.in, cipher),
      gathered_(std::make_unique_for_overwrite<std::byte[]>(ChunkCipher::most_plain)),
      out_(std::make_unique_for_overwrite<std::byte[]>(out_room)),
      in_(std::make_unique_for_overwrite<std::byte[]>(in_room)),
      plain_(std::make_unique_for_overwrite<std::byte[]>(ChunkCipher::most_plain)) {}

std::size_t Protection::seal(std::span<const iovec> pieces) {
  std::size_t taken = 0;
  for (const iovec& piece : pieces) {
    const std::size_t count = std::min(piece.iov_len, ChunkCipher::most_plain - taken);
    if (count > 0) std::memcpy(gathered_.get() + taken, piece.iov_base, count);
    taken += count;
  }
  if (!has_unsent()) sent_ = out_size_ = 0;
  const std::size_t size = out_cipher_.seal({gathered_.get(), taken}, out_.get() + out_size_);
  out_size_ += size;
  sealed_ += size;
  return taken;
}

Protection::Sent Protection::send(int socket) {
  while (sent_ < out_size_) {
    const ssize_t count =
        ::send(socket, out_.get() + sent_, out_size_ - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
      return full ? Sent::blocked : Sent::broken;
    }
  }
  return Sent::all;
}

Protection::Got Protection::receive(int socket, std::span<std::byte> room, std::size_t& count) {
  while (plain_begin_ == plain_end_) {
    if (const Got got = open_next(); got == Got::changed) return got;
    if (plain_begin_ < plain_end_) break;
    if (const Got got = fill(socket); got != Got::some) return got;
  }
  count = std::min(room.size(), plain_end_ - plain_begin_);
  std::memcpy(room.data(), plain_.get() + plain_begin_, count);
  plain_begin_ += count;
  return Got::some;
}

// Opens the next chunk, if all of it is here.
Protection::Got Protection::open_next() {
  const std::size_t here = in_end_ - in_begin_;
  if (here < ChunkCipher::head_size) return Got::none;
  const std::size_t size = in_cipher_.size_of(in_.get() + in_begin_);
  if (size == 0) return Got::changed;
  if (here < size) return Got::none;
  if (!in_cipher_.open({in_.get() + in_begin_, size}, plain_.get())) return Got::changed;
  in_begin_ += size;
  opened_ += size;
  plain_begin_ = 0;
  plain_end_ = size - ChunkCipher::head_size - ChunkCipher::tag_size;
  return Got::some;
}

Protection::Got Protection::fill(int socket) {
  if (std::exchange(drained_, false)) return Got::none;
  if (in_begin_ > 0) {
    std::memmove(in_.get(), in_.get() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  for (;;) {
    const std::size_t most = in_room - in_end_;
    const ssize_t got = ::recv(socket, in_.get() + in_end_, most, MSG_DONTWAIT);
    if (got > 0) {
      in_end_ += static_cast<std::size_t>(got);
      drained_ = static_cast<std::size_t>(got) < most;
      return Got::some;
    }
    if (got < 0 && errno == EINTR) continue;
    const bool later = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    return later ? Got::none : Got::closed;
  }
}

}  // namespace weft::wire
