// SPDX-License-Identifier: Apache-2.0
// The running executable as its loader left it: segments, initial data and the positions of
// addresses in it. Taken before any of the program's own code has run; immutable afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t size() const { return end - begin; }
  bool holds(std::uintptr_t address) const { return begin <= address && address < end; }
};

struct Program {
  // A part of the file that is mapped unchanged (code and constants), in whole pages.
  struct Piece {
    AddressRange memory;
    std::uint64_t file_offset = 0;
  };

  // Reads what is mapped now, so call it before the program's constructors.
  static Result<Program> take();

  // Offsets in `initial` of the words that the loader set to an address in `target`. The address
  // just past its end counts too: tables end there.
  std::vector<std::size_t> addresses_of(AddressRange target) const;
  bool imports(std::string_view symbol) const;  // Whether it is imported from a library and used.
  // Offsets in `initial` of the words that the loader set to the address of an imported symbol.
  std::vector<std::size_t> addresses_of(std::string_view symbol) const;
  // Keeps the loader from calling constructors and destructors. Changes the process.
  Status hold_constructors() const;

  std::uintptr_t base = 0;           // What the loader added to the addresses in the file.
  AddressRange image;                // Whole pages, like `data`.
  AddressRange data;                 // All writable segments, including the gaps between them.
  AddressRange exact_data;           // The same without page rounding.
  std::uintptr_t alignment = 0;      // Segment alignment, which copies keep.
  std::vector<Piece> pieces;         // In address order.
  std::vector<std::byte> initial;    // From data.begin on; the rest is zero.
  std::vector<AddressRange> filled;  // Where `initial` has contents, as offsets.
  bool movable = true;               // Position-independent.
  // Linking moved library objects into the program (copy relocations).
  bool copies_library_data = false;
  std::vector<std::uintptr_t> constructors;  // In call order, like the next.
  std::vector<std::uintptr_t> destructors;

 private:
  struct Mapped;
  void read_segments(const Mapped& mapped);
  void read_relocations(const Mapped& mapped);
  void bind_call(const char* name, std::uintptr_t word);
  std::uintptr_t& initial_word(std::uintptr_t address);

  std::vector<std::uintptr_t> relocated_;  // Addresses of the words that the loader set.
  // Symbol -> address of the word.
  std::multimap<std::string, std::uintptr_t, std::less<>> imports_;
  std::vector<AddressRange> arrays_;  // Where the loader reads constructors and destructors.
};

}  // namespace weft
