// SPDX-License-Identifier: Apache-2.0
// A copy of the program's data for every rank of a simulation. Created once, before any code of
// the program has run; afterwards workers use it concurrently, each for its own ranks.
//
//   interposed __libc_start_main: copies = ProgramCopies::make(...)
//   worker, before a rank starts: prepare(rank)
//   inside the rank:              run_constructors(...), main_of(...)(...), run_destructors(rank)
//   worker, at each switch:       leave(old rank), enter(new rank)
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/program/globals/libc_state.hpp>
#include <weft/program/globals/program.hpp>
#include <weft/program/globals/thread_locals.hpp>
#include <weft/program/globals/words.h>

namespace weft {

struct Marks;

// How the ranks of an executable are kept apart.
enum class Separation {
  delta,   // Compiled with the pass: one code, data addressed by an offset.
  copies,  // Each rank has its own segments; the code's pages are shared.
  none,    // Ranks share everything.
};

class ProgramCopies {
 public:
  using Main = int (*)(int, char**, char**);
  struct Bytes {
    std::uint64_t reserved = 0;   // Address space.
    std::uint64_t committed = 0;  // Memory after prepare(); grows as the rank writes.
  };

  // Call before the real __libc_start_main. Without `how`, the best method that the executable
  // allows. Holds back the program's constructors (except for `none`); they run inside each rank.
  static Result<std::unique_ptr<ProgramCopies>> make(std::uint32_t ranks,
                                                     std::optional<Separation> how);
  ~ProgramCopies();
  ProgramCopies(const ProgramCopies&) = delete;
  ProgramCopies& operator=(const ProgramCopies&) = delete;

  Separation separation() const { return how_; }
  // Why `delta` is not possible, in one line; empty if it is.
  const std::string& reason() const { return reason_; }
  // Whether the executable uses this function or variable of a library.
  bool imports(std::string_view symbol) const { return program_.imports(symbol); }
  Bytes bytes_per_rank() const;
  // The address range of all copies.
  AddressRange space() const { return space_; }

  // Creates the rank's copy: initial data, with addresses adjusted to the rank's own data.
  Status prepare(std::uint32_t rank);
  Main main_of(std::uint32_t rank, Main original) const {
    return std::bit_cast<Main>(std::bit_cast<std::uintptr_t>(original) + code_delta(rank));
  }
  // Call the next two inside the rank, before and after its main (also when it leaves through
  // exit).
  void run_constructors(std::uint32_t rank, int count, char** arguments, char** environment);
  void run_destructors(std::uint32_t rank);

  void enter(std::uint32_t rank) {
    libc_->enter(rank);
    thread_locals_->enter(rank);
    __weft_delta = first_data_delta_ + rank * data_stride_;  // Last: it may be among those.
  }
  // In a thread that belongs to the rank for good, instead of enter().
  void begin_thread(std::uint32_t rank) {
    libc_->begin_thread(rank);
    thread_locals_->begin_thread(how_ == Separation::none ? 0 : delta(rank));
    __weft_delta = first_data_delta_ + rank * data_stride_;
  }
  void leave(std::uint32_t rank) {
    thread_locals_->leave(rank);
    libc_->leave(rank);
    __weft_delta = 0;
  }

 private:
  ProgramCopies(Program program, Separation how, std::uint32_t ranks);
  void choose_packing(const Marks& marks);
  void leave_out_tables();
  Status reserve();
  Status check_mappings() const;
  Status map_code(std::uint32_t rank);
  void find_options();
  void find_streams();
  void make_streams(std::uint32_t rank);
  std::uintptr_t delta(std::uint32_t rank) const { return first_delta_ + rank * stride_; }
  std::uintptr_t code_delta(std::uint32_t rank) const {
    return how_ == Separation::copies ? delta(rank) : 0;
  }

  Program program_;
  Separation how_;
  std::uint32_t ranks_;
  std::string reason_;
  AddressRange copied_;                 // What each rank has a copy of.
  std::vector<std::size_t> addresses_;  // Words in the initial data that must be relocated.
  // Words that hold the address of a getopt variable, and the variable's offset in LibcState.
  std::vector<std::pair<std::size_t, std::size_t>> options_;
  struct Stream {
    std::uintptr_t own = 0;  // The program's own stream, if it has one.
    // Otherwise the words in its data that hold the stream's address.
    std::vector<std::size_t> words;
  };
  std::array<Stream, 3> streams_;   // cout, cerr, clog
  std::uintptr_t first_delta_ = 0;  // From the original to rank 0's copy.
  std::uintptr_t stride_ = 0;
  std::uintptr_t packing_ = 0;  // Alignment of packed copies; 0: copies lie in whole pages.
  // Addresses here move with the rank. Up to the end of the page: programs have names for the end
  // of their data, too.
  AddressRange own_data_;
  std::uintptr_t first_data_delta_ = 0;  // As above, but zero where code finds its own data.
  std::uintptr_t data_stride_ = 0;
  AddressRange space_;
  int file_ = -1;
  std::unique_ptr<LibcStates> libc_;
  std::unique_ptr<ThreadLocals> thread_locals_;
};

}  // namespace weft
