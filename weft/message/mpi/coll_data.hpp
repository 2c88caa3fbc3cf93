// SPDX-License-Identifier: Apache-2.0
// The program's arguments of a collective call, as the bytes that weft/message/coll works on. Data
// of types without gaps stays in place; other data is packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/message/coll/team.hpp>
#include <weft/message/mpi/datatype.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/op.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

// An array of the program: int, or MPI_Count and MPI_Aint, which are the same type.
static_assert(sizeof(MPI_Count) == sizeof(std::int64_t) && sizeof(MPI_Aint) == sizeof(MPI_Count));
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* small) : data_(small) {}  // NOLINT(google-explicit-constructor)
  Numbers(const MPI_Count* large)              // NOLINT(google-explicit-constructor)
      : data_(large), large_(true) {}
  bool missing() const { return data_ == nullptr; }
  std::int64_t operator[](int i) const {
    return large_ ? static_cast<const MPI_Count*>(data_)[i] : static_cast<const int*>(data_)[i];
  }

 private:
  const void* data_ = nullptr;
  bool large_ = false;
};

// A buffer of equally sized blocks.
struct Piece {
  const void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// A buffer of blocks of any size. With `types`, each block has its own type, and displacements are
// bytes.
struct Pieces {
  const void* buffer = nullptr;
  Numbers counts;
  Numbers displacements;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype* types = nullptr;
};

// The data of one side of the operation. Holds references to its types; arrays belong to the
// program, which must keep them until the operation is done, unless keep_arrays() copies them.
class Side {
 public:
  Side() = default;
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  void set(const Piece& piece, int blocks);
  void set(const Pieces& pieces, int blocks);
  // Copies the program's arrays of counts and displacements, which need not live on.
  void keep_arrays();

  // Packed bytes of all blocks; of one block if all are equal.
  std::size_t total() const { return total_; }
  std::size_t block() const { return block_; }

  void* place(int index) const;  // Address of a block in the program's memory.
  // Whether the program has memory for it. A type of absolute addresses says itself where.
  bool is_somewhere() const { return total_ == 0 || buffer_ != nullptr || !type_->predefined(); }

  // For weft/message/coll. Valid after load() or clear().
  std::byte* data() const;
  coll::Blocks blocks() const;

  // Packs the program's data if necessary; clear() only allocates the memory. Without data only the
  // time is charged.
  void load(Process& process, bool carries);
  void clear(bool carries);
  // Unpacks: everything, or the first elements (of a side set by a Piece).
  void store(Process& process);
  void store(Process& process, std::int64_t elements);

 private:
  static coll::Blocks::Block find(const void* self, int index);
  const Datatype& type(int index) const {
    return *(types_.empty() ? type_ : types_[static_cast<std::size_t>(index)]);
  }
  std::int64_t count(int index) const { return counts_.missing() ? count_ : counts_[index]; }
  std::span<std::byte> packed(int index) const;

  void* buffer_ = nullptr;
  std::int64_t count_ = 0;
  Numbers counts_, displacements_;
  std::vector<MPI_Count> kept_;  // Copies of both.
  int blocks_ = 0;
  const Datatype* type_ = nullptr;
  std::vector<const Datatype*> types_;
  bool direct_ = true;  // Needs no packing.
  std::size_t total_ = 0, block_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::size_t> offsets_;  // Starts of packed blocks of different sizes.
};

// An operator on elements that may be packed. Holds references to operator and type.
class Reduction {
 public:
  Reduction() = default;
  ~Reduction();
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  void set(const Op& op, const Datatype& type);
  coll::Reducer reducer() const;

 private:
  static void apply(const void* in, void* inout, std::int64_t count, void* self);
  void apply_packed(const std::byte* in, std::byte* inout, std::int64_t count) const;

  const Op* op_ = nullptr;
  const Datatype* type_ = nullptr;
};

}  // namespace weft::mpi
