// SPDX-License-Identifier: Apache-2.0
#include "info.hpp"

#include <algorithm>

#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

void InfoTable::set(std::string_view key, std::string_view value) {
  for (auto& [known, text] : pairs_) {
    if (known != key) continue;
    text = value;
    return;
  }
  pairs_.emplace_back(key, value);
}

const std::string* InfoTable::find(std::string_view key) const {
  for (const auto& [known, text] : pairs_) {
    if (known == key) return &text;
  }
  return nullptr;
}

bool InfoTable::erase(std::string_view key) {
  return std::erase_if(pairs_, [&](const auto& pair) { return pair.first == key; }) > 0;
}

void InfoTable::merge(const InfoTable& other) {
  for (const auto& [key, value] : other.pairs_) set(key, value);
}

InfoTable* find_info(Process& process, MPI_Info handle) {
  if (handle == MPI_INFO_ENV) {
    if (!process.environment) process.environment = std::make_unique<InfoTable>();
    return process.environment.get();
  }
  InfoObject* info = process.infos.find(handle);
  return info ? &info->table : nullptr;
}

MPI_Info make_info(Process& process, const InfoTable& table) {
  InfoObject* info = process.infos.make();
  info->table = table;
  return reinterpret_cast<MPI_Info>(info);
}

}  // namespace weft::mpi
