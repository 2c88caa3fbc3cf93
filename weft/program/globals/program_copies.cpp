// SPDX-License-Identifier: Apache-2.0
#include "program_copies.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/base/check.hpp>
#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/program/globals/elf_tables.hpp>
#include <weft/program/globals/marks.hpp>
#include <weft/program/globals/space.hpp>

namespace weft {

namespace detail {
Space space;
ThreadMaker make_thread = nullptr;
}  // namespace detail

namespace {

constexpr const char* own_path = "/proc/self/exe";
constexpr std::uintptr_t cache_line = 64;  // Ranks of two workers must not share a cache line.

// The library that holds this code, which names the same words.
std::uintptr_t own_library() {
  Dl_info own = {};
  return ::dladdr(std::bit_cast<const void*>(&own_library), &own) == 0
             ? 0
             : std::bit_cast<std::uintptr_t>(own.dli_fbase);
}

// Names a shared library that was compiled with the pass; it would look for its data among the
// program's copies.
std::string library_with_pass() {
  struct Search {
    std::uintptr_t own = own_library();
    std::string found;
  } search;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* given) {
        auto& [own, found] = *static_cast<Search*>(given);
        // Skips the program itself, whose name is empty.
        if (*info->dlpi_name == '\0' || info->dlpi_addr == own) return 0;
        for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
          const auto tables = detail::ElfTables::read(
              info->dlpi_addr,
              std::bit_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
          for (const ElfW(Rela) & relocation : tables.relocations) {
            const ElfW(Sym)& symbol = tables.symbol_of(relocation);
            if (ELF64_R_SYM(relocation.r_info) != 0 &&
                std::strcmp(tables.name_of(symbol), "__weft_delta") == 0)
              found = info->dlpi_name;
          }
        }
        return 0;
      },
      &search);
  return search.found;
}

// Why the pass does not keep this program's ranks apart; empty if it does.
std::string why_not_delta(const Program& program, const Result<Marks>& marks) {
  if (!marks) return marks.error().text();
  if (marks->marked == 0) return "no part of the program was compiled with weft cc's clang";
  if (!marks->all())
    return marks->unmarked.front() + " was not compiled with weft cc's clang (" +
           std::to_string(marks->unmarked.size()) + " such files)";
  if (program.copies_library_data) return "a part of the program was not compiled with -fPIC";
  return "";
}

std::uint64_t map_count_limit() {
  const auto text = read_file("/proc/sys/vm/max_map_count");
  const auto number = parse_int(text ? trim(*text) : "65530");
  return number ? static_cast<std::uint64_t>(*number) : 65530;
}

}  // namespace

ProgramCopies::ProgramCopies(Program program, Separation how, std::uint32_t ranks)
    : program_(std::move(program)), how_(how), ranks_(ranks) {}

ProgramCopies::~ProgramCopies() {
  detail::space = {};
  __weft_data_begin = __weft_data_size = 0;
  if (space_.size() != 0) ::munmap(std::bit_cast<void*>(space_.begin), space_.size());
  if (file_ >= 0) ::close(file_);
}

Result<std::unique_ptr<ProgramCopies>> ProgramCopies::make(std::uint32_t ranks,
                                                           std::optional<Separation> how) {
  WEFT_CHECK(ranks > 0);
  auto program = Program::take();
  if (!program) return std::move(program).error();
  const auto marks = read_marks(own_path);
  const std::string reason = why_not_delta(*program, marks);
  if (!how) how = reason.empty() ? Separation::delta : Separation::copies;
  if (*how == Separation::delta && !reason.empty())
    return Error::input(reason + ": compile and link all of it with weft cc, or use copies");
  if (*how != Separation::none && !program->movable)
    return Error::input("the program is not position-independent: link it with weft cc (-pie)");
  if (const std::string library = library_with_pass();
      *how == Separation::delta && !library.empty())
    return Error::input(library +
                        " was compiled with weft cc and holds data that ranks would "
                        "share: make it a static library (.a), or use --separate processes");
  std::unique_ptr<ProgramCopies> copies(new ProgramCopies(*std::move(program), *how, ranks));
  copies->reason_ = reason;
  if (*how == Separation::delta) copies->choose_packing(*marks);
  auto libc = LibcStates::make(ranks, copies->program_);
  if (!libc) return std::move(libc).error();
  copies->libc_ = *std::move(libc);
  copies->thread_locals_ = std::make_unique<ThreadLocals>(ranks);
  if (*how == Separation::none) return copies;
  if (Status reserved = copies->reserve(); !reserved) return std::move(reserved).error();
  if (Status held = copies->program_.hold_constructors(); !held) return std::move(held).error();
  return copies;
}

// Small data is packed rank by rank without gaps, instead of in mostly unused pages. Large data
// stays in whole pages, so that only pages that a rank touches cost memory.
void ProgramCopies::choose_packing(const Marks& marks) {
  constexpr std::uintptr_t page = 4096, small = 4 * page;
  const std::uintptr_t alignment = marks.data_alignment;
  if (alignment == 0 || alignment > page || program_.exact_data.size() > small) return;
  packing_ = std::max(alignment, cache_line);
  own_data_ = {program_.exact_data.begin, program_.data.end};
  const std::uintptr_t begin = program_.base + marks.data_begin;
  if (program_.exact_data.holds(begin)) own_data_.begin = begin;
}

Status ProgramCopies::reserve() {
  const bool with_code = how_ == Separation::copies;
  if (with_code) {
    if (Status enough = check_mappings(); !enough) return enough;
    file_ = ::open(own_path, O_RDONLY | O_CLOEXEC);
    if (file_ < 0) return Error::run(std::string(own_path) + ": " + std::strerror(errno));
  }
  copied_ = with_code ? program_.image : program_.data;
  if (packing_ == 0) own_data_ = program_.data;
  addresses_ = program_.addresses_of(copied_);
  // Copies keep the original's position relative to its largest alignment.
  std::uintptr_t grain = std::max<std::uintptr_t>(program_.alignment, 4096);
  if (packing_ != 0) {
    grain = packing_;
    copied_ = {own_data_.begin / grain * grain, program_.exact_data.end};
    leave_out_tables();
  }
  stride_ = (copied_.size() + grain - 1) / grain * grain;
  const std::size_t size = stride_ * ranks_ + 2 * grain;
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return Error::run("no address space for " + std::to_string(ranks_) + " ranks of " +
                      std::to_string(stride_) + " bytes: " + std::strerror(errno));
  // A huge page would hold data that hundreds of ranks never touch.
  if (packing_ == 0) ::madvise(mapped, size, MADV_NOHUGEPAGE);
  space_.begin = reinterpret_cast<std::uintptr_t>(mapped);
  space_.end = space_.begin + size;
  first_delta_ = (space_.begin + grain - 1) / grain * grain - copied_.begin / grain * grain;
  const std::uintptr_t first = copied_.begin + first_delta_;
  detail::space = {program_.image, {first, first + stride_ * ranks_},
                   stride_,        with_code,
                   &libc_->of(0),  first_delta_};
  if (with_code) find_options();
  find_streams();
  if (!with_code) {
    first_data_delta_ = first_delta_;
    data_stride_ = stride_;
    __weft_data_begin = own_data_.begin;
    __weft_data_size = own_data_.size();
  }
  return {};
}

// Packed copies have no place for what the loader alone uses.
void ProgramCopies::leave_out_tables() {
  const std::uintptr_t first = own_data_.begin - program_.data.begin;
  for (AddressRange& part : program_.filled)
    part.begin = std::min(std::max(part.begin, first), part.end);
  addresses_ = program_.addresses_of(own_data_);
  std::erase_if(addresses_, [first](std::size_t offset) { return offset < first; });
}

// Each rank's code is a mapping, and so is the data between it and the next rank's code.
Status ProgramCopies::check_mappings() const {
  const std::uint64_t needed = 2 * program_.pieces.size() * ranks_;
  const std::uint64_t others = 1000;  // For libraries, stacks and the heap.
  const std::uint64_t limit = map_count_limit();
  if (needed + others <= limit) return {};
  return Error::run(std::to_string(ranks_) + " ranks need " + std::to_string(needed) +
                    " mappings, vm.max_map_count is " + std::to_string(limit) +
                    ": compile with weft cc (clang), or raise it (sysctl vm.max_map_count=" +
                    std::to_string(needed + others) + "); " + reason_);
}

// A copied program reaches a library's variables through its own address table, where we can put
// the address of the rank's own variable instead.
void ProgramCopies::find_options() {
  const std::pair<const char*, std::size_t> members[] = {
      {"optind", offsetof(OptionVariables, optind)},
      {"opterr", offsetof(OptionVariables, opterr)},
      {"optopt", offsetof(OptionVariables, optopt)},
      {"optarg", offsetof(OptionVariables, optarg)}};
  for (const auto& [name, member] : members)
    for (const std::size_t offset : program_.addresses_of(std::string_view(name)))
      options_.emplace_back(offset, member);
}

// Programs compiled with the pass have the C++ streams among their own variables.
void ProgramCopies::find_streams() {
  const std::array<const char*, 3> names = {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, names[i]));
    if (program_.data.holds(found)) {
      streams_[i].own = found;
    } else if (how_ == Separation::copies) {
      streams_[i].words = program_.addresses_of(std::string_view(names[i]));
    }
  }
}

// A rank's streams start out as new and write to the same place as those of the process.
void ProgramCopies::make_streams(std::uint32_t rank) {
  const std::array<std::ostream*, 3> originals = {&std::cout, &std::cerr, &std::clog};
  std::ostream* out = nullptr;
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const Stream& stream = streams_[i];
    if (stream.own == 0 && stream.words.empty()) continue;
    void* const place = stream.own != 0 ? std::bit_cast<void*>(stream.own + delta(rank))
                                        : static_cast<void*>(libc_->of(rank).streams[i]);
    auto* const made = new (place) std::ostream(originals[i]->rdbuf());
    for (const std::size_t offset : stream.words)
      *std::bit_cast<std::ostream**>(program_.data.begin + delta(rank) + offset) = made;
    if (i == 0) out = made;
    if (i != 1) continue;
    made->setf(std::ios_base::unitbuf);
    made->tie(out);
  }
}

ProgramCopies::Bytes ProgramCopies::bytes_per_rank() const {
  Bytes bytes;
  if (how_ == Separation::none) return bytes;
  bytes.reserved = stride_;
  if (packing_ != 0) bytes.committed = stride_;
  if (packing_ != 0) return bytes;
  for (const AddressRange part : program_.filled)
    bytes.committed += (part.end + 4095) / 4096 * 4096 - part.begin / 4096 * 4096;
  return bytes;
}

Status ProgramCopies::prepare(std::uint32_t rank) {
  WEFT_CHECK(rank < ranks_);
  if (how_ == Separation::none) {
    thread_locals_->prepare(rank, 0);
    return {};
  }
  if (how_ == Separation::copies)
    if (Status mapped = map_code(rank); !mapped) return mapped;
  const std::uintptr_t distance = delta(rank);
  auto* data = std::bit_cast<std::byte*>(program_.data.begin + distance);
  for (const AddressRange part : program_.filled)
    std::memcpy(data + part.begin, program_.initial.data() + part.begin, part.size());
  for (const std::size_t offset : addresses_)
    *reinterpret_cast<std::uintptr_t*>(data + offset) += distance;
  thread_locals_->prepare(rank, distance);
  make_streams(rank);
  if (options_.empty()) return {};
  LibcState& state = libc_->of(rank);
  state.options = {1, 1, '?', nullptr};
  for (const auto& [offset, member] : options_)
    *reinterpret_cast<char**>(data + offset) = reinterpret_cast<char*>(&state.options) + member;
  return {};
}

Status ProgramCopies::map_code(std::uint32_t rank) {
  for (const Program::Piece& piece : program_.pieces) {
    auto* place = std::bit_cast<void*>(piece.memory.begin + delta(rank));
    if (::mmap(place, piece.memory.size(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file_,
               static_cast<off_t>(piece.file_offset)) == MAP_FAILED)
      return Error::run("cannot map the program for rank " + std::to_string(rank) + ": " +
                        std::strerror(errno));
  }
  return {};
}

void ProgramCopies::run_constructors(std::uint32_t rank, int count, char** arguments,
                                     char** environment) {
  using Constructor = void (*)(int, char**, char**);
  if (how_ == Separation::none) return;
  for (const std::uintptr_t function : program_.constructors)
    std::bit_cast<Constructor>(function + code_delta(rank))(count, arguments, environment);
}

void ProgramCopies::run_destructors(std::uint32_t rank) {
  if (how_ == Separation::none) return;
  libc_->run_exit_handlers(rank);
  for (const std::uintptr_t function : program_.destructors)
    std::bit_cast<void (*)()>(function + code_delta(rank))();
}

}  // namespace weft
