// SPDX-License-Identifier: Apache-2.0
#include "weft/parallel/processes/agree.hpp"

#include <string>
#include <utility>

namespace weft {

std::vector<PeerBytes> all_gather(ProcessGroup* peers, PeerBytes mine) {
  if (peers != nullptr) return peers->all_gather(std::move(mine));
  std::vector<PeerBytes> all;
  all.push_back(std::move(mine));
  return all;
}

void pack_error(const Error& error, Packer& letter) {
  letter.put(error.broken());
  letter.put_text(error.message());
  letter.put_text(error.file());
  letter.put(error.line());
}

Error unpack_error(Unpacker& letter) {
  const auto broken = letter.take<Broken>();
  Error error(broken, letter.take_text());
  std::string file = letter.take_text();
  return std::move(error).at(std::move(file), letter.take<int>());
}

Status agree(ProcessGroup* peers, Status mine) {
  if (peers == nullptr) return mine;
  Packer letter;
  if (!mine) pack_error(mine.error(), letter);
  const std::vector<PeerBytes> all = peers->all_gather(letter.take());
  for (std::size_t process = 0; process < all.size(); ++process) {
    if (all[process].empty()) continue;
    Unpacker theirs(all[process]);
    Error error = unpack_error(theirs);
    // Process 0 reports errors that all processes have, so its number would say nothing.
    if (process == 0) return error;
    return std::move(error).during("process " + std::to_string(process));
  }
  return {};
}

}  // namespace weft
