// SPDX-License-Identifier: Apache-2.0
// The dynamic linker's tables of an object that is mapped in this process: relocations and symbols.
#pragma once

#include <cstdint>
#include <span>

#include <elf.h>
#include <link.h>

namespace weft::detail {

struct ElfTables {
  std::uintptr_t base = 0;
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  std::span<const ElfW(Rela)> relocations;       // For data.
  std::span<const ElfW(Rela)> call_relocations;  // For calls into libraries (PLT).
  std::span<const std::uint64_t> packed;         // Addresses without a symbol, as a bitmap (RELR).
  std::span<const std::uintptr_t> constructors;
  std::span<const std::uintptr_t> destructors;
  bool text_relocations = false;

  static ElfTables read(std::uintptr_t base, const ElfW(Dyn) * dynamic);

  const ElfW(Sym) & symbol_of(const ElfW(Rela) & relocation) const {
    return symbols[ELF64_R_SYM(relocation.r_info)];
  }
  const char* name_of(const ElfW(Sym) & symbol) const { return strings + symbol.st_name; }

  // Calls visit(address) for each word that `packed` names.
  template <typename Visit>
  void each_packed(Visit visit) const {
    std::uintptr_t next = 0;
    for (const std::uint64_t entry : packed) {
      if ((entry & 1) == 0) {
        visit(base + entry);
        next = base + entry + 8;
        continue;
      }
      for (unsigned bit = 0; bit < 63; ++bit)
        if ((entry >> (bit + 1) & 1) != 0) visit(next + std::uintptr_t{bit} * 8);
      next += std::uintptr_t{63} * 8;
    }
  }
};

}  // namespace weft::detail
