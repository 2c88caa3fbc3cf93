// SPDX-License-Identifier: Apache-2.0
// One access of a rank to a file, from its start to its status: independent, or together with the
// other ranks of the file. Blocking, non-blocking and split calls run the same steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/file.hpp>
#include <weft/message/mpi/internal_group.hpp>
#include <weft/message/mpi/request.hpp>

namespace weft::mpi {

// What the program asked for.
struct AccessArguments {
  // Which pointer says where: none (the offset does), that of the rank, that of all; `ordered` is
  // the last one, taken in the order of ranks.
  enum class Pointer : std::uint8_t { offset, individual, shared, ordered };
  bool writing = false;
  bool collective = false;
  Pointer pointer = Pointer::offset;
  MPI_Offset offset = 0;  // In etypes.
  const void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Bytes of memory that belong somewhere in the file.
struct FilePiece {
  std::int64_t offset;
  std::byte* memory;
  std::size_t size;
};
// Pieces in ascending order, and how far they came.
struct FileMove {
  bool writing = false;
  std::vector<FilePiece> pieces;
  std::size_t moved = 0;  // Bytes before the first that is missing.
  int error = 0;          // An errno.
};
// Reads or writes the pieces. Done when they are in memory, or the file.
mp::Task move_pieces(Process& process, File& file, FileMove& move);

class FileAccess final : public Operation {
 public:
  FileAccess(Process& process, File& file, const AccessArguments& arguments);
  ~FileAccess() override;
  FileAccess(const FileAccess&) = delete;
  FileAccess& operator=(const FileAccess&) = delete;

  // The file may be closed when the task is done, and not before.
  mp::Task start() override;
  std::int64_t bytes() const override { return moved_; }
  // The whole range, in bytes of the view's stream.
  std::int64_t total() const { return total_; }
  // What the error code does not say; empty if nothing.
  std::string trouble() const;

 private:
  // Tags are taken in the order of calls, which is the same at all ranks.
  struct Tags {
    InternalScope order, facts, end;
    int lists = 0, data = 0;
  };
  friend class TwoPhase;
  static mp::Task steps(FileAccess& self);
  mp::Task find_place();
  mp::Task take_turn();         // Of an ordered access.
  mp::Task together(int code);  // file_two_phase.cpp
  mp::Task independent();
  mp::Task move_chunk(std::int64_t from, std::int64_t to);
  mp::Task read_batch(std::span<const FileSegment> segments, bool sieved);
  mp::Task lock(bool locking);
  void load(std::int64_t from, std::int64_t to);
  void store(std::int64_t from, std::int64_t bytes);
  // Where a byte of the access is in memory.
  std::byte* at(std::int64_t byte) const;
  FilePiece piece(const FileSegment& segment) const {
    return {segment.offset, at(segment.start - begin_), static_cast<std::size_t>(segment.size)};
  }
  int fail(int number);

  Process& process_;
  File& file_;
  const AccessArguments arguments_;
  const Datatype* const type_;
  const std::shared_ptr<const FileView> view_;
  const std::int64_t total_;
  std::int64_t begin_ = 0;  // In bytes of the stream.
  bool in_place_ = false;   // The program's memory is as the file's stream.
  std::unique_ptr<std::byte[]> packed_;
  std::int64_t packed_from_ = 0;
  std::optional<Tags> tags_;
  std::int64_t moved_ = 0;
  int number_ = 0;  // The errno of a failure.
};

}  // namespace weft::mpi
