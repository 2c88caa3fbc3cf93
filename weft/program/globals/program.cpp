// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/program/globals/elf_tables.hpp>

namespace weft {

namespace {

#if defined(__aarch64__)
constexpr std::uint32_t type_copy = R_AARCH64_COPY;
#elif defined(__x86_64__)
constexpr std::uint32_t type_copy = R_X86_64_COPY;
#else
#error "weft/program/globals knows the relocations of aarch64 and x86-64"
#endif

std::uintptr_t page_size() {
  return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
}
std::uintptr_t page_floor(std::uintptr_t address) {
  return address & ~(page_size() - 1);
}
std::uintptr_t page_ceil(std::uintptr_t address) {
  return page_floor(address + page_size() - 1);
}

void widen(AddressRange& range, AddressRange by) {
  if (range.end == 0) range = by;
  range = {std::min(range.begin, by.begin), std::max(range.end, by.end)};
}

void nothing() {}

}  // namespace

// What the dynamic linker reports about the executable.
struct Program::Mapped {
  std::uintptr_t base = 0;
  std::span<const ElfW(Phdr)> segments;
  detail::ElfTables tables;
};

Result<Program> Program::take() {
  Mapped mapped;
  // The first object is the executable.
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& found = *static_cast<Mapped*>(out);
        found.base = info->dlpi_addr;
        found.segments = {info->dlpi_phdr, info->dlpi_phnum};
        return 1;
      },
      &mapped);
  const ElfW(Dyn)* dynamic = nullptr;
  for (const ElfW(Phdr) & segment : mapped.segments)
    if (segment.p_type == PT_DYNAMIC)
      dynamic = std::bit_cast<const ElfW(Dyn)*>(mapped.base + segment.p_vaddr);
  if (dynamic == nullptr)
    return Error::input("the program is linked statically: link it with weft cc, without -static");
  mapped.tables = detail::ElfTables::read(mapped.base, dynamic);
  if (mapped.tables.text_relocations)
    return Error::input(
        "the program's code holds addresses: compile all of it with weft cc (-fPIC)");

  Program program;
  program.base = mapped.base;
  program.movable = mapped.base != 0;
  program.read_segments(mapped);
  program.read_relocations(mapped);
  for (const std::uintptr_t function : mapped.tables.constructors)
    program.constructors.push_back(function);
  for (const std::uintptr_t function : mapped.tables.destructors)
    program.destructors.insert(program.destructors.begin(), function);
  for (const auto& array : {mapped.tables.constructors, mapped.tables.destructors})
    if (!array.empty())
      program.arrays_.push_back({reinterpret_cast<std::uintptr_t>(array.data()),
                                 reinterpret_cast<std::uintptr_t>(array.data() + array.size())});
  return program;
}

void Program::read_segments(const Mapped& mapped) {
  std::uintptr_t initial_end = 0;
  for (const ElfW(Phdr) & segment : mapped.segments) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = mapped.base + segment.p_vaddr;
    const AddressRange pages{page_floor(begin), page_ceil(begin + segment.p_memsz)};
    widen(image, pages);
    alignment = std::max<std::uintptr_t>(alignment, segment.p_align);
    if ((segment.p_flags & PF_W) != 0) {
      widen(data, pages);
      widen(exact_data, {begin, begin + segment.p_memsz});
      initial_end = std::max(initial_end, begin + segment.p_filesz);
      continue;
    }
    const std::uint64_t offset = segment.p_offset - (begin - pages.begin);
    // Merge pieces that are adjacent in the file and in memory: the number of mappings is limited.
    if (!pieces.empty() &&
        pages.begin - pieces.back().memory.begin == offset - pieces.back().file_offset)
      pieces.back().memory.end = pages.end;
    else
      pieces.push_back({pages, offset});
  }
  // Library data that linking moved into the program lies behind the data from the file (copy
  // relocations).
  for (const ElfW(Rela) & relocation : mapped.tables.relocations) {
    if (ELF64_R_TYPE(relocation.r_info) != type_copy) continue;
    copies_library_data = true;
    initial_end = std::max(initial_end, mapped.base + relocation.r_offset +
                                            mapped.tables.symbol_of(relocation).st_size);
  }
  initial.resize(initial_end - data.begin);
  // There may be unmapped gaps between segments.
  for (const ElfW(Phdr) & segment : mapped.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const std::uintptr_t begin = mapped.base + segment.p_vaddr;
    const std::uintptr_t end = std::min(begin + segment.p_memsz, initial_end);
    filled.push_back({begin - data.begin, end - data.begin});
    std::memcpy(initial.data() + filled.back().begin, std::bit_cast<const void*>(begin),
                filled.back().size());
  }
}

void Program::read_relocations(const Mapped& mapped) {
  const detail::ElfTables& tables = mapped.tables;
  const auto read = [&](std::span<const ElfW(Rela)> table, bool calls) {
    for (const ElfW(Rela) & relocation : table) {
      const std::uintptr_t word = mapped.base + relocation.r_offset;
      const ElfW(Sym)& symbol = tables.symbol_of(relocation);
      const bool copy = ELF64_R_TYPE(relocation.r_info) == type_copy;
      const bool imported = ELF64_R_SYM(relocation.r_info) != 0 && symbol.st_shndx == SHN_UNDEF;
      if (copy || imported) imports_.emplace(tables.name_of(symbol), copy ? 0 : word);
      if (copy || !data.holds(word)) continue;
      relocated_.push_back(word);
      if (calls && imported) bind_call(tables.name_of(symbol), word);
    }
  };
  read(tables.relocations, false);
  read(tables.call_relocations, true);
  tables.each_packed([this](std::uintptr_t word) { relocated_.push_back(word); });
}

// The loader may bind a call lazily, when it is first made. It would then resolve the original's
// entry each time a copy makes that call: correct, but slow.
void Program::bind_call(const char* name, std::uintptr_t word) {
  std::uintptr_t& value = initial_word(word);
  if (!image.holds(value)) return;
  if (void* function = ::dlsym(RTLD_DEFAULT, name))
    value = reinterpret_cast<std::uintptr_t>(function);
}

std::uintptr_t& Program::initial_word(std::uintptr_t address) {
  return *reinterpret_cast<std::uintptr_t*>(initial.data() + (address - data.begin));
}

std::vector<std::size_t> Program::addresses_of(AddressRange target) const {
  std::vector<std::size_t> found;
  for (const std::uintptr_t address : relocated_) {
    const std::size_t offset = address - data.begin;
    if (offset + sizeof(std::uintptr_t) > initial.size()) continue;
    std::uintptr_t value = 0;
    std::memcpy(&value, initial.data() + offset, sizeof value);
    if (target.begin <= value && value <= target.end) found.push_back(offset);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool Program::imports(std::string_view symbol) const {
  return imports_.find(symbol) != imports_.end();
}

std::vector<std::size_t> Program::addresses_of(std::string_view symbol) const {
  std::vector<std::size_t> found;
  const auto [first, last] = imports_.equal_range(symbol);
  for (auto import = first; import != last; ++import)
    if (data.holds(import->second)) found.push_back(import->second - data.begin);
  return found;
}

Status Program::hold_constructors() const {
  for (const AddressRange& array : arrays_) {
    auto* first = std::bit_cast<void*>(page_floor(array.begin));
    const std::size_t size = page_ceil(array.end) - page_floor(array.begin);
    // Read-only since relocation. It stays writable, as the page may hold data too.
    if (::mprotect(first, size, PROT_READ | PROT_WRITE) != 0)
      return Error::run(std::string("cannot hold back the program's constructors: ") +
                        std::strerror(errno));
    for (std::uintptr_t word = array.begin; word < array.end; word += sizeof word)
      *std::bit_cast<void (**)()>(word) = &nothing;
  }
  return {};
}

}  // namespace weft
