// SPDX-License-Identifier: Apache-2.0
// What a rank sees of a file: the bytes at the places of a datatype (the filetype), repeated from a
// displacement on. Without the gaps these bytes are one stream, which accesses count in. Immutable;
// accesses under way keep theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// Bytes of the stream that lie in one piece in the file.
struct FileSegment {
  std::int64_t offset = 0;  // In the file.
  std::int64_t start = 0;   // In the stream.
  std::int64_t size = 0;
  std::int64_t end() const { return offset + size; }
};

class FileView {
 public:
  struct Wanted {
    std::int64_t displacement = 0;
    MPI_Datatype etype = MPI_BYTE;
    MPI_Datatype filetype = MPI_BYTE;
    std::string representation = "native";
    bool native_by_other_name = false;  // The program has registered it.
    bool may_overlap = false;           // As it may where nothing is written.
  };
  // Null, with an error class and what is wrong, if there is no such view.
  static std::shared_ptr<const FileView> make(const Wanted& wanted, int& error,
                                              std::string& detail);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  std::int64_t displacement() const { return displacement_; }
  const Datatype& etype() const { return *etype_; }
  const Datatype& filetype() const { return *filetype_; }
  const std::string& representation() const { return representation_; }
  bool external() const { return external_; }
  bool empty() const { return blocks_.empty(); }  // It shows nothing of the file.
  // The bytes [from, to) of the stream are not all different bytes of the file.
  bool overlaps(std::int64_t from, std::int64_t to) const {
    return blocks_overlap_ || (tiles_overlap_ && from < to && from / size_ != (to - 1) / size_);
  }
  bool gapless() const { return blocks_.size() == 1 && size_ == extent_; }

  // Where the byte of the stream lies in the file. REQUIRES: not empty.
  std::int64_t place(std::int64_t stream) const;
  // How many bytes of the stream lie before this place.
  std::int64_t bytes_before(std::int64_t offset) const;
  // The bytes [from, to) of the stream, in the order of the file.
  std::vector<FileSegment> segments(std::int64_t from, std::int64_t to) const;
  // Whether that range, and its place in the file, can be counted.
  bool fits(std::int64_t from, std::int64_t bytes) const;

 private:
  struct Block {
    std::int64_t offset, size, start;
  };
  FileView() = default;
  int set_blocks(bool may_overlap, std::string& detail);

  std::int64_t displacement_ = 0;
  const Datatype* etype_ = nullptr;
  const Datatype* filetype_ = nullptr;
  std::string representation_;
  bool external_ = false;
  bool blocks_overlap_ = false;  // Of one filetype,
  bool tiles_overlap_ = false;   // or one filetype and the next.
  std::vector<Block> blocks_;    // Of one filetype, ascending.
  std::int64_t size_ = 0, extent_ = 0;
};

}  // namespace weft::mpi
