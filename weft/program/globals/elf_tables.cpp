// SPDX-License-Identifier: Apache-2.0
#include "elf_tables.hpp"

#include <bit>

namespace weft::detail {

namespace {

constexpr ElfW(Sxword) tag_relr_size = 35, tag_relr = 36;  // Missing in some <elf.h>.

template <typename T>
void set_begin(std::span<const T>& table, std::uintptr_t address) {
  table = {std::bit_cast<const T*>(address), table.size()};
}
template <typename T>
void set_size(std::span<const T>& table, std::uintptr_t bytes) {
  table = {table.data(), bytes / sizeof(T)};
}

void read_entry(ElfTables& tables, ElfW(Sxword) tag, std::uintptr_t value) {
  // Depending on its version, the loader turns some of these into addresses; an offset is smaller
  // than any address at which a program can be mapped.
  const std::uintptr_t address = value < tables.base ? tables.base + value : value;
  switch (tag) {
    case DT_STRTAB:
      tables.strings = std::bit_cast<const char*>(address);
      break;
    case DT_SYMTAB:
      tables.symbols = std::bit_cast<const ElfW(Sym)*>(address);
      break;
    case DT_RELA:
      set_begin(tables.relocations, address);
      break;
    case DT_RELASZ:
      set_size(tables.relocations, value);
      break;
    case DT_JMPREL:
      set_begin(tables.call_relocations, address);
      break;
    case DT_PLTRELSZ:
      set_size(tables.call_relocations, value);
      break;
    case tag_relr:
      set_begin(tables.packed, address);
      break;
    case tag_relr_size:
      set_size(tables.packed, value);
      break;
    case DT_INIT_ARRAY:
      set_begin(tables.constructors, address);
      break;
    case DT_INIT_ARRAYSZ:
      set_size(tables.constructors, value);
      break;
    case DT_FINI_ARRAY:
      set_begin(tables.destructors, address);
      break;
    case DT_FINI_ARRAYSZ:
      set_size(tables.destructors, value);
      break;
    case DT_TEXTREL:
      tables.text_relocations = true;
      break;
    case DT_FLAGS:
      tables.text_relocations |= (value & DF_TEXTREL) != 0;
      break;
    default:
      break;
  }
}

}  // namespace

ElfTables ElfTables::read(std::uintptr_t base, const ElfW(Dyn) * dynamic) {
  ElfTables tables;
  tables.base = base;
  for (; dynamic->d_tag != DT_NULL; ++dynamic)
    read_entry(tables, dynamic->d_tag, dynamic->d_un.d_val);
  return tables;
}

}  // namespace weft::detail
