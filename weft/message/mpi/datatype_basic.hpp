// SPDX-License-Identifier: Apache-2.0
// The basic types: numbers of C, C++ and Fortran of which every datatype consists.
#pragma once

#include <cstdint>
#include <span>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// How to interpret the bits. Names end in the number of bits of one number.
enum class Element : std::uint8_t {
  opaque,   // MPI_PACKED, characters: no arithmetic.
  byte,     // Bits without a numeric value.
  boolean,  // bool in C and C++.
  signed8,
  signed16,
  signed32,
  signed64,
  signed128,
  unsigned8,
  unsigned16,
  unsigned32,
  unsigned64,
  real16,
  real32,
  real64,
  real_long,
  real128,
  complex16,
  complex32,
  complex64,
  complex_long,
  complex128,
  logical8,
  logical16,
  logical32,
  logical64,
  logical128,  // Fortran.
};

struct BasicType {
  std::uint16_t handle;  // Value of the constant in mpi.h.
  const char* name;
  Element element;
  std::uint8_t size;
  std::uint8_t alignment;
  std::uint8_t unit;           // Unit of byte swapping.
  std::uint8_t external_size;  // In the representation "external32".
};

// A value and the index of the process that has it.
struct PairType {
  std::uint16_t handle;
  const char* name;
  std::uint16_t value;  // Handles of the two halves.
  std::uint16_t index;
  std::uint8_t index_offset;
};

std::span<const BasicType> basic_types();
std::span<const PairType> pair_types();
const BasicType* find_basic(std::uintptr_t handle);  // Null: no basic type.

}  // namespace weft::mpi
