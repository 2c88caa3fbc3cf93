// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <weft/program/globals/elf_tables.hpp>
#include <weft/program/globals/shared_state.hpp>

namespace weft {

namespace {

// They keep what they have for a thread or a rank apart, or weft does it for them.
constexpr std::array<std::string_view, 17> runtimes = {
    "ld-linux",       "libc.so",  "libm.so",     "libmvec.so",   "libpthread.so", "libdl.so",
    "librt.so",       "libutil.", "libgcc_s.so", "libstdc++.so", "libc++",        "libgfortran.so",
    "libquadmath.so", "libgomp.", "libomp",      "libiomp5.",    "libmpi_abi"};

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_runtime(std::string_view name) {
  return std::any_of(runtimes.begin(), runtimes.end(),
                     [&](std::string_view one) { return name.starts_with(one); });
}

template <typename T>
bool read(std::ifstream& file, std::uint64_t offset, T* out, std::size_t count = 1) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(sizeof(T) * count));
  return file.good();
}

// What the compiler's start files put into every library: a word of data, and a flag.
std::uint64_t variables_in(const Elf64_Shdr& section, std::string_view name) {
  constexpr std::uint64_t word = 8;
  const bool is_plain = section.sh_size <= word && (name == ".data" || section.sh_addralign <= 1);
  if ((name == ".data" || name == ".bss") && is_plain) return 0;
  constexpr std::array<std::string_view, 8> linkage = {
      ".got",         ".init_array",  ".fini_array", ".preinit_array",
      ".data.rel.ro", ".tm_clone_ta", ".ctors",      ".dtors"};
  for (const std::string_view one : linkage)
    if (name.starts_with(one)) return 0;
  return section.sh_size;
}

// The needed libraries that are loaded, once each.
void add_needed(const link_map& of, const std::vector<const link_map*>& loaded,
                std::vector<const link_map*>& out) {
  const auto tables = detail::ElfTables::read(of.l_addr, of.l_ld);
  for (const ElfW(Dyn)* entry = of.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED || tables.strings == nullptr) continue;
    const std::string_view needed = name_of(tables.strings + entry->d_un.d_val);
    if (is_runtime(needed)) continue;
    for (const link_map* const one : loaded) {
      if (name_of(one->l_name) == needed && std::find(out.begin(), out.end(), one) == out.end())
        out.push_back(one);
    }
  }
}

}  // namespace

std::uint64_t state_of_library(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head = {};
  if (!file || !read(file, 0, &head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr) ||
      head.e_shstrndx >= head.e_shnum) {
    return 0;
  }
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  if (!read(file, head.e_shoff, sections.data(), sections.size())) return 0;
  const Elf64_Shdr& texts = sections[head.e_shstrndx];
  constexpr std::uint64_t names_most = std::uint64_t{1} << 20;
  if (texts.sh_size > names_most) return 0;
  std::string names(texts.sh_size, '\0');
  if (!read(file, texts.sh_offset, names.data(), names.size())) return 0;
  std::uint64_t bytes = 0;
  for (const Elf64_Shdr& section : sections) {
    const bool is_data = section.sh_type == SHT_PROGBITS || section.sh_type == SHT_NOBITS;
    const bool is_shared = (section.sh_flags & SHF_WRITE) != 0 && (section.sh_flags & SHF_TLS) == 0;
    if (is_data && is_shared && section.sh_name < names.size())
      bytes += variables_in(section, names.c_str() + section.sh_name);
  }
  return bytes;
}

std::vector<LibraryState> libraries_with_state() {
  link_map* first = nullptr;
  void* const program = ::dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr || ::dlinfo(program, RTLD_DI_LINKMAP, &first) != 0) return {};
  std::vector<const link_map*> loaded, needed;
  for (const link_map* one = first; one != nullptr; one = one->l_next) loaded.push_back(one);
  add_needed(*first, loaded, needed);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const link_map* const one = needed[i];  // The list grows.
    add_needed(*one, loaded, needed);
  }
  std::vector<LibraryState> found;
  for (const link_map* const one : needed) {
    if (const std::uint64_t bytes = state_of_library(one->l_name); bytes > 0)
      found.push_back({one->l_name, bytes});
  }
  return found;
}

}  // namespace weft
