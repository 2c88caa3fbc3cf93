// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>

#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/real/wire/contact.hpp>

namespace weft::wire {

namespace {

constexpr const char* place_sign = "weft-place-2";
constexpr const char* address_sign = "weft-address-3";

}  // namespace

Error nonsense_from_peer(const std::string& what) {
  return Error::run("a process of the job told nonsense (" + what +
                    "): are all linked with the same weft?");
}

// "SIZE:bytes" each.
std::string pack_texts(std::span<const std::string> texts) {
  std::string packed;
  for (const std::string& text : texts) packed += std::to_string(text.size()) + ':' + text;
  return packed;
}

Result<std::vector<std::string>> unpack_texts(const std::string& text) {
  std::vector<std::string> texts;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::size_t size = 0;
    const auto [colon, fault] = std::from_chars(at, end, size);
    if (fault != std::errc() || colon == end || *colon != ':' ||
        size > static_cast<std::size_t>(end - colon - 1)) {
      return nonsense_from_peer("a list");
    }
    texts.emplace_back(colon + 1, size);
    at = colon + 1 + size;
  }
  return texts;
}

std::string to_text(const ContactPlace& place) {
  const std::string fields[] = {place_sign, place.host, place.name, place.processors,
                                pack_texts(place.rails)};
  return pack_texts(fields);
}

Result<ContactPlace> parse_place(const std::string& text) {
  auto fields = unpack_texts(text);
  if (!fields) return std::move(fields).error();
  if (fields->size() != 5 || (*fields)[0] != place_sign) return nonsense_from_peer("where it is");
  auto rails = unpack_texts((*fields)[4]);
  if (!rails) return std::move(rails).error();
  return ContactPlace{(*fields)[1], (*fields)[2], (*fields)[3], *std::move(rails)};
}

std::string to_text(const ContactAddress& address) {
  const std::string fields[] = {address_sign, std::to_string(address.room),
                                pack_texts(address.rails)};
  return pack_texts(fields);
}

Result<ContactAddress> parse_address(const std::string& text) {
  auto fields = unpack_texts(text);
  if (!fields) return std::move(fields).error();
  if (fields->size() != 3 || (*fields)[0] != address_sign) {
    return nonsense_from_peer("how it is reached");
  }
  ContactAddress address;
  const std::string& room = (*fields)[1];
  const char* const end = room.data() + room.size();
  if (room.empty() || std::from_chars(room.data(), end, address.room).ptr != end) {
    return nonsense_from_peer("its room");
  }
  auto rails = unpack_texts((*fields)[2]);
  if (!rails) return std::move(rails).error();
  address.rails = *std::move(rails);
  return address;
}

// One running kernel, one set of processes, one user: what it takes to open each other's memory.
std::string host_identity() {
  std::string identity = "unknown";
  if (auto boot = read_file("/proc/sys/kernel/random/boot_id")) identity = *boot;
  while (!identity.empty() && identity.back() == '\n') identity.pop_back();
  struct stat processes = {};
  if (::stat("/proc/self/ns/pid", &processes) == 0) {
    identity += '.' + std::to_string(processes.st_ino);
  }
  return identity + '.' + std::to_string(::geteuid()) + '.' + host_name();
}

std::string host_name() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace weft::wire
