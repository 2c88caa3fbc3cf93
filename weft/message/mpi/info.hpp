// SPDX-License-Identifier: Apache-2.0
// Info objects: pairs of key and value, in the order in which they were first set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

struct Process;

class InfoTable {
 public:
  void set(std::string_view key, std::string_view value);
  const std::string* find(std::string_view key) const;
  bool erase(std::string_view key);
  // Takes over all pairs of another table.
  void merge(const InfoTable& other);
  int size() const { return static_cast<int>(pairs_.size()); }
  const std::string& key(int index) const { return pairs_[static_cast<std::size_t>(index)].first; }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct InfoObject {
  InfoTable table;
};

// The table behind a handle; null for MPI_INFO_NULL and invalid handles.
InfoTable* find_info(Process& process, MPI_Info handle);
MPI_Info make_info(Process& process, const InfoTable& table);

}  // namespace weft::mpi
