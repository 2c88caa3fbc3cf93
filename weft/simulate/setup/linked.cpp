// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include <elf.h>

#include <weft/simulate/setup/linked.hpp>

namespace weft {

namespace {

constexpr const char* remedy = "; compile it with 'weft cc' (c++, fc)";
constexpr const char* other_remedy =
    ", or give each rank a process of its own with '--separate processes' (Python, scripts)";

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename T>
  bool read(std::uint64_t offset, T* out, std::size_t count = 1) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(sizeof(T) * count));
    return file_.good();
  }
  std::string text(std::uint64_t offset) {
    std::string out;
    for (char c = 0; out.size() < 4096 && read(offset + out.size(), &c) && c != '\0';) out += c;
    return out;
  }

 private:
  std::ifstream file_;
};

// The libraries that the loader would bring; false when the file is no sound dynamic executable.
bool needed(ElfFile& file, const Elf64_Ehdr& head, std::vector<std::string>& out) {
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > 256) return false;
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  if (!file.read(head.e_phoff, segments.data(), segments.size())) return false;
  const auto offset_of = [&](std::uint64_t address) -> std::uint64_t {
    for (const Elf64_Phdr& s : segments) {
      if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
        return s.p_offset + (address - s.p_vaddr);
    }
    return 0;
  };
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type != PT_DYNAMIC || s.p_filesz > (1u << 20)) continue;
    std::vector<Elf64_Dyn> entries(s.p_filesz / sizeof(Elf64_Dyn));
    if (!file.read(s.p_offset, entries.data(), entries.size())) return false;
    std::uint64_t strings = 0;
    for (const Elf64_Dyn& e : entries)
      if (e.d_tag == DT_STRTAB) strings = offset_of(e.d_un.d_ptr);
    for (const Elf64_Dyn& e : entries)
      if (e.d_tag == DT_NEEDED) out.push_back(file.text(strings + e.d_un.d_val));
    return strings != 0;
  }
  return false;
}

}  // namespace

Status check_linked(const std::string& path) {
  ElfFile file(path);
  Elf64_Ehdr head = {};
  if (!file.read(0, &head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return Error::input(path + " is no executable that weft can simulate (a script?)" + remedy +
                        other_remedy);
  std::vector<std::string> libraries;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || !needed(file, head, libraries))
    return Error::input(path + " is not dynamically linked" + remedy);
  for (const std::string& library : libraries)
    if (std::string_view(library).starts_with("libmpi_abi.so")) return {};
  return Error::input(path + " was not linked with weft's MPI library" + remedy + other_remedy);
}

}  // namespace weft
