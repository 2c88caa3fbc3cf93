// SPDX-License-Identifier: Apache-2.0
// A file that the ranks of a communicator have opened together. Each rank has a descriptor of its
// own and its view; what ranks tell each other travels over a communicator of the file's own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/file_descriptor.hpp>
#include <weft/message/mpi/file_view.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/info.hpp>

namespace weft::mpi {

class FileAccess;  // file_access.hpp

// What the program wishes, by hints.
struct FileHints {
  enum class Choice : std::uint8_t { automatic, enable, disable };
  std::int64_t collective_nodes = 0;  // Ranks that read and write for all; 0: one for each node.
  std::int64_t collective_buffer = std::int64_t{16} << 20;  // Bytes of one round of such a rank.
  std::int64_t read_buffer = std::int64_t{4} << 20;         // Of a read that includes gaps.
  std::int64_t stripe = 0;                                  // 0: not known.
  Choice collective_read = Choice::automatic, collective_write = Choice::automatic;
  Choice sieve_reads = Choice::automatic;

  static FileHints of(const InfoTable& info);
  // The same as text, for MPI_File_get_info.
  void describe(InfoTable& info) const;
};

// What rank 0 keeps for all: the shared pointer, and who may access the file in atomic mode where
// the system's locks do not tell ranks apart (file_keeper.cpp).
struct FileKeeper {
  struct Waiter {
    int rank;
    int tag;
  };
  std::int64_t position = 0;  // In etypes of the view.
  bool locked = false;
  std::deque<Waiter> waiters;
  mp::Request* listening = nullptr;
  mp::Task server;
  int last_answer_tag = 0;  // Of this rank's questions.
};

struct File {
  // What a split collective call has begun.
  struct Split {
    const char* kind = nullptr;  // The words between MPI_File_ and _begin; null: none.
    std::unique_ptr<FileAccess> access;
    mp::Task task;
  };

  File();
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  MPI_File handle = MPI_FILE_NULL;
  Communicator* comm = nullptr;
  std::string path;
  int mode = 0;
  std::shared_ptr<FileDescriptor> descriptor;
  std::shared_ptr<const FileView> view;
  InfoTable info;
  FileHints hints;
  std::vector<int> aggregators;  // Ranks that may read and write for all.
  std::int64_t position = 0;     // The individual pointer, in etypes.
  bool atomic = false;
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  std::uint32_t accesses = 0;  // That are under way.
  FileKeeper keeper;
  Split split;

  bool readable() const { return (mode & MPI_MODE_WRONLY) == 0; }
  bool writable() const { return (mode & MPI_MODE_RDONLY) == 0; }
  bool sequential() const { return (mode & MPI_MODE_SEQUENTIAL) != 0; }
};

// Of all that ranks exchange about a file, data travels even where the program's does not.
struct FileMessage {
  int peer;
  int tag;
  Communicator::Traffic traffic;
  void* data;
  std::size_t size;
};
mp::Request* send(Process& process, const File& file, const FileMessage& message);
mp::Request* receive(Process& process, const File& file, const FileMessage& message);

// The keeper, at rank 0: serves until listening is cancelled.
mp::Task serve(Process& process, File& file);
void stop_serving(Process& process, File& file);
// Adds to the shared pointer and gives what it was before.
mp::Task advance_shared(Process& process, File& file, std::int64_t etypes, std::int64_t& before);
mp::Task lock_at_keeper(Process& process, File& file);
mp::Task unlock_at_keeper(Process& process, File& file);

// The hints of a file; where it lies on servers, these say how large stripes are.
FileHints hints_of(Process& process, const InfoTable& info);
// Which ranks read and write for all: the first of each node, then the second ones, and so on.
std::vector<int> choose_aggregators(const Process& process, const Communicator& comm,
                                    std::int64_t wanted);

// A rank that has opened the file is gone: what all do together cannot be done any more.
bool has_lost_member(const Process& process, const File& file);
// Waits until all ranks are here; returns the greatest of their error codes.
int agree(Process& process, const File& file, int error);

// Success passes through; otherwise the error handler of the file, or of MPI_FILE_NULL, is invoked.
int result(Call& call, File& file, int code, const std::string& detail = {});
int result_without_file(Call& call, int code, const std::string& detail = {});
// What went wrong with a file, for the reader of a fatal message.
std::string file_trouble(const std::string& path, int number);

// At the top of an entry point: the file behind the handle. Null means that an error has been
// reported: return error().
class FileCall {
 public:
  FileCall(const char* name, Call::Kind kind, MPI_File handle);
  File* operator->() const { return file_; }
  File& file() const { return *file_; }
  Process& process() const { return call_.process(); }
  Call& call() { return call_; }
  bool failed() const { return file_ == nullptr; }
  int error() const { return error_; }
  int result(int code, const std::string& detail = {}) {
    return mpi::result(call_, *file_, code, detail);
  }

 private:
  Call call_;
  File* file_ = nullptr;
  int error_ = MPI_SUCCESS;
};

}  // namespace weft::mpi
