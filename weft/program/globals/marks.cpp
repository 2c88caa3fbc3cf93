// SPDX-License-Identifier: Apache-2.0
#include "marks.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include <elf.h>
#include <link.h>

#include <weft/base/file.hpp>

namespace weft {

namespace {

// What the executable's symbol table says about one object file.
struct ObjectFile {
  std::string_view name;
  bool marked = true;     // Symbols before the first file are the linker's.
  bool has_data = false;  // Writable data of its own.

  // Files that compilers and the C library add to every program; none of them touches the program's
  // data. Parts of libgcc have no source names, so the linker records the object's name. The last
  // name below holds the processor's features, which all ranks share.
  bool of_tool_chain() const {
    for (const std::string_view known :
         {"", "Scrt1.o", "crt1.o", "crti.o", "crtn.o", "crtstuff.c", "lse-init.o"})
      if (name == known) return true;
    return (name.ends_with(".o") || name.ends_with(".oS")) && !has_data;
  }
};

template <typename T>
std::span<const T> table(const std::string& file, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > file.size() || bytes > file.size() - offset || offset % alignof(T) != 0) return {};
  return {reinterpret_cast<const T*>(file.data() + offset), bytes / sizeof(T)};
}

bool is_writable(const ElfW(Shdr) & section) {
  return (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_WRITE) != 0;
}

// Not what only the loader uses: lists of constructors, addresses of functions and variables. The
// initial values of thread-local variables are data, which each thread of a rank copies.
bool holds_data(const ElfW(Shdr) & section, std::string_view name) {
  const bool is_zero = section.sh_type == SHT_NOBITS;
  const bool has_place = !is_zero || (section.sh_flags & SHF_TLS) == 0;
  return is_writable(section) && (section.sh_type == SHT_PROGBITS || is_zero) && has_place &&
         section.sh_size > 0 && name != ".got" && !name.starts_with(".got.");
}

// The names of sections.
std::span<const char> names_in(const std::string& file, const ElfW(Ehdr) & header,
                               std::span<const ElfW(Shdr)> sections) {
  if (header.e_shstrndx >= sections.size()) return {};
  const ElfW(Shdr)& names = sections[header.e_shstrndx];
  const auto all = table<char>(file, names.sh_offset, names.sh_size);
  return all.empty() || all.back() != '\0' ? std::span<const char>() : all;
}

}  // namespace

Result<Marks> read_marks(const std::string& executable) {
  const auto file = read_file(executable);
  if (!file) return file.error();
  const auto header = table<ElfW(Ehdr)>(*file, 0, sizeof(ElfW(Ehdr)));
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0)
    return Error::input(executable + " is not an executable");
  const auto sections =
      table<ElfW(Shdr)>(*file, header[0].e_shoff, header[0].e_shnum * sizeof(ElfW(Shdr)));
  const auto section_names = names_in(*file, header[0], sections);
  Marks marks;
  for (const ElfW(Shdr) & section : sections) {
    if (is_writable(section))
      marks.data_alignment = std::max<std::uint64_t>(marks.data_alignment, section.sh_addralign);
    if (section.sh_name < section_names.size() &&
        holds_data(section, section_names.data() + section.sh_name) &&
        (marks.data_begin == 0 || section.sh_addr < marks.data_begin)) {
      marks.data_begin = section.sh_addr;
    }
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& names_section = sections[section.sh_link];
    const auto names = table<char>(*file, names_section.sh_offset, names_section.sh_size);
    // Local symbols are grouped by file, each group after a symbol with the file's name.
    ObjectFile file_now;
    const auto finish = [&] {
      if (!file_now.marked && !file_now.of_tool_chain()) marks.unmarked.emplace_back(file_now.name);
    };
    for (const ElfW(Sym) & symbol : table<ElfW(Sym)>(*file, section.sh_offset, section.sh_size)) {
      if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL || symbol.st_name >= names.size()) continue;
      const char* name = names.data() + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE) {
        finish();
        file_now = {name, false, false};
      } else if (!file_now.marked && std::strcmp(name, "__weft_pass") == 0) {
        file_now.marked = true;
        ++marks.marked;
      } else if (symbol.st_shndx < sections.size()) {
        file_now.has_data |= (sections[symbol.st_shndx].sh_flags & SHF_WRITE) != 0;
      }
    }
    finish();
  }
  return marks;
}

}  // namespace weft
