// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>

#include <weft/message/mpi/contexts.hpp>
#include <weft/message/mpi/file_access.hpp>
#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/internal_group.hpp>

namespace weft::mpi {

namespace {

// A hint that makes no sense is as good as none.
void read_number(const InfoTable& info, const char* key, std::int64_t& value) {
  const std::string* const text = info.find(key);
  if (!text) return;
  std::int64_t given = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, given);
  if (error == std::errc() && stop == end && given > 0) value = given;
}

void read_choice(const InfoTable& info, const char* key, FileHints::Choice& choice) {
  const std::string* const text = info.find(key);
  if (!text) return;
  if (*text == "enable" || *text == "true") choice = FileHints::Choice::enable;
  if (*text == "disable" || *text == "false") choice = FileHints::Choice::disable;
  if (*text == "automatic") choice = FileHints::Choice::automatic;
}

const char* text_of(FileHints::Choice choice) {
  switch (choice) {
    case FileHints::Choice::enable:
      return "enable";
    case FileHints::Choice::disable:
      return "disable";
    default:
      return "automatic";
  }
}

}  // namespace

FileHints FileHints::of(const InfoTable& info) {
  FileHints hints;
  read_number(info, "cb_nodes", hints.collective_nodes);
  read_number(info, "cb_buffer_size", hints.collective_buffer);
  read_number(info, "ind_rd_buffer_size", hints.read_buffer);
  read_number(info, "striping_unit", hints.stripe);
  Choice both = Choice::automatic;
  read_choice(info, "collective_buffering", both);
  hints.collective_read = hints.collective_write = both;
  read_choice(info, "romio_cb_read", hints.collective_read);
  read_choice(info, "romio_cb_write", hints.collective_write);
  read_choice(info, "romio_ds_read", hints.sieve_reads);
  return hints;
}

void FileHints::describe(InfoTable& info) const {
  info.set("cb_nodes", std::to_string(collective_nodes));
  info.set("cb_buffer_size", std::to_string(collective_buffer));
  info.set("ind_rd_buffer_size", std::to_string(read_buffer));
  if (stripe > 0) info.set("striping_unit", std::to_string(stripe));
  info.set("romio_cb_read", text_of(collective_read));
  info.set("romio_cb_write", text_of(collective_write));
  info.set("romio_ds_read", text_of(sieve_reads));
}

File::File() = default;
File::~File() = default;

mp::Request* send(Process& process, const File& file, const FileMessage& message) {
  mp::Sending sending;
  sending.to = file.comm->local[message.peer];
  sending.context = file.comm->context_of(message.traffic);
  sending.source = file.comm->rank;
  sending.tag = message.tag;
  sending.data = message.data;
  sending.size = message.size;
  sending.internal = true;
  return process.messenger.send(sending);
}

mp::Request* receive(Process& process, const File& file, const FileMessage& message) {
  mp::Receiving receiving;
  receiving.context = file.comm->context_of(message.traffic);
  receiving.source = message.peer;
  if (message.peer != mp::any_source) receiving.from = file.comm->local[message.peer];
  receiving.tag = message.tag;
  receiving.data = message.data;
  receiving.size = message.size;
  receiving.internal = true;
  return process.messenger.receive(receiving);
}

std::vector<int> choose_aggregators(const Process& process, const Communicator& comm,
                                    std::int64_t wanted) {
  std::map<std::uint32_t, int> seen;        // Ranks of each node so far.
  std::vector<std::pair<int, int>> places;  // Place within the node, then rank.
  for (int rank = 0; rank < comm.size(); ++rank) {
    places.emplace_back(seen[process.runtime.node_of(comm.local[rank])]++, rank);
  }
  const std::size_t most = wanted > 0 ? static_cast<std::size_t>(wanted) : seen.size();
  std::sort(places.begin(), places.end());
  places.resize(std::min(most, places.size()));
  std::vector<int> chosen;
  chosen.reserve(places.size());
  for (const auto& [place, rank] : places) chosen.push_back(rank);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

FileHints hints_of(Process& process, const InfoTable& info) {
  FileHints hints = FileHints::of(info);
  const Storage* const storage = process.runtime.storage(process.rank());
  if (storage != nullptr && hints.stripe == 0) {
    hints.stripe = static_cast<std::int64_t>(storage->stripe());
  }
  return hints;
}

bool has_lost_member(const Process& process, const File& file) {
  const std::vector<RankId>& lost = process.messenger.lost();
  return std::any_of(lost.begin(), lost.end(),
                     [&](RankId rank) { return file.comm->local.find(rank).has_value(); });
}

int agree(Process& process, const File& file, int error) {
  std::array<std::uint32_t, 1> worst = {static_cast<std::uint32_t>(error)};
  process.run(all_max(scope_of(process, *file.comm), worst));
  if (worst[0] == MPI_SUCCESS && has_lost_member(process, file)) return MPI_ERR_PROC_FAILED;
  return static_cast<int>(worst[0]);
}

namespace {

int invoke(Call& call, MPI_Errhandler handler, MPI_File handle, int code,
           const std::string& detail) {
  Process& process = call.process();
  ErrorHandler* const made = process.handlers.find(handler);
  if (made && made->file_function) {
    ++made->users;  // The callback may free it.
    int argument = code;
    made->file_function(&handle, &argument);
    release_handler(process, handler);
    return code;
  }
  return raise(process, handler, MPI_COMM_SELF, code, detail);
}

}  // namespace

int result(Call& call, File& file, int code, const std::string& detail) {
  if (code == MPI_SUCCESS) return code;
  return invoke(call, file.handler, file.handle, code, detail);
}

int result_without_file(Call& call, int code, const std::string& detail) {
  if (code == MPI_SUCCESS) return code;
  return invoke(call, call.process().file_handler, MPI_FILE_NULL, code, detail);
}

std::string file_trouble(const std::string& path, int number) {
  return "'" + path + "'" + (number == 0 ? "" : std::string(": ") + std::strerror(number));
}

FileCall::FileCall(const char* name, Call::Kind kind, MPI_File handle) : call_(name, kind) {
  error_ = call_.error();
  if (error_ != MPI_SUCCESS) return;
  file_ = call_.process().files.find(handle);
  if (file_) return;
  error_ = result_without_file(call_, MPI_ERR_FILE,
                               handle == MPI_FILE_NULL ? "MPI_FILE_NULL" : "no such handle");
}

}  // namespace weft::mpi
