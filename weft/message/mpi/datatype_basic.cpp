// SPDX-License-Identifier: Apache-2.0
#include "datatype_basic.hpp"

#include <array>
#include <cwchar>

namespace weft::mpi {
namespace {

static_assert(sizeof(long) == 8 && sizeof(wchar_t) == 4 && sizeof(long double) == 16 &&
              sizeof(bool) == 1 && sizeof(MPI_Aint) == 8);

// Numbers are aligned to their size on all supported machines.
constexpr BasicType number(std::uint16_t handle, const char* name, Element element,
                           std::uint8_t size) {
  return {handle, name, element, size, size, size, size};
}

// Two numbers, the real part first.
constexpr BasicType complex(std::uint16_t handle, const char* name, Element element,
                            std::uint8_t size) {
  const auto part = static_cast<std::uint8_t>(size / 2);
  return {handle, name, element, size, part, part, size};
}

// As long as MPI_INT in the representation "external32", whatever its size here.
constexpr BasicType long_number(std::uint16_t handle, const char* name, Element element) {
  return {handle, name, element, 8, 8, 8, 4};
}

constexpr std::array basic_table = {
    number(0x201, "MPI_AINT", Element::signed64, 8),
    number(0x202, "MPI_COUNT", Element::signed64, 8),
    number(0x203, "MPI_OFFSET", Element::signed64, 8),
    number(0x207, "MPI_PACKED", Element::opaque, 1),
    number(0x208, "MPI_SHORT", Element::signed16, 2),
    number(0x209, "MPI_INT", Element::signed32, 4),
    long_number(0x20a, "MPI_LONG", Element::signed64),
    number(0x20b, "MPI_LONG_LONG_INT", Element::signed64, 8),
    number(0x20c, "MPI_UNSIGNED_SHORT", Element::unsigned16, 2),
    number(0x20d, "MPI_UNSIGNED", Element::unsigned32, 4),
    long_number(0x20e, "MPI_UNSIGNED_LONG", Element::unsigned64),
    number(0x20f, "MPI_UNSIGNED_LONG_LONG", Element::unsigned64, 8),
    number(0x210, "MPI_FLOAT", Element::real32, 4),
    complex(0x212, "MPI_C_COMPLEX", Element::complex32, 8),
    complex(0x213, "MPI_CXX_FLOAT_COMPLEX", Element::complex32, 8),
    number(0x214, "MPI_DOUBLE", Element::real64, 8),
    complex(0x216, "MPI_C_DOUBLE_COMPLEX", Element::complex64, 16),
    complex(0x217, "MPI_CXX_DOUBLE_COMPLEX", Element::complex64, 16),
    number(0x218, "MPI_LOGICAL", Element::logical32, 4),
    number(0x219, "MPI_INTEGER", Element::signed32, 4),
    number(0x21a, "MPI_REAL", Element::real32, 4),
    complex(0x21b, "MPI_COMPLEX", Element::complex32, 8),
    number(0x21c, "MPI_DOUBLE_PRECISION", Element::real64, 8),
    complex(0x21d, "MPI_DOUBLE_COMPLEX", Element::complex64, 16),
    number(0x21e, "MPI_CHARACTER", Element::opaque, 1),
    number(0x220, "MPI_LONG_DOUBLE", Element::real_long, 16),
    complex(0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Element::complex_long, 32),
    complex(0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Element::complex_long, 32),
    number(0x238, "MPI_C_BOOL", Element::boolean, 1),
    number(0x239, "MPI_CXX_BOOL", Element::boolean, 1),
    BasicType{0x23c, "MPI_WCHAR", Element::opaque, 4, 4, 4, 2},
    number(0x240, "MPI_INT8_T", Element::signed8, 1),
    number(0x241, "MPI_UINT8_T", Element::unsigned8, 1),
    // The standard defines no arithmetic on characters, but some programs take their maximum.
    number(0x243, "MPI_CHAR", Element::signed8, 1),
    number(0x244, "MPI_SIGNED_CHAR", Element::signed8, 1),
    number(0x245, "MPI_UNSIGNED_CHAR", Element::unsigned8, 1),
    number(0x247, "MPI_BYTE", Element::byte, 1),
    number(0x248, "MPI_INT16_T", Element::signed16, 2),
    number(0x249, "MPI_UINT16_T", Element::unsigned16, 2),
    number(0x250, "MPI_INT32_T", Element::signed32, 4),
    number(0x251, "MPI_UINT32_T", Element::unsigned32, 4),
    number(0x258, "MPI_INT64_T", Element::signed64, 8),
    number(0x259, "MPI_UINT64_T", Element::unsigned64, 8),
    number(0x2c0, "MPI_LOGICAL1", Element::logical8, 1),
    number(0x2c1, "MPI_INTEGER1", Element::signed8, 1),
    number(0x2c8, "MPI_LOGICAL2", Element::logical16, 2),
    number(0x2c9, "MPI_INTEGER2", Element::signed16, 2),
    number(0x2ca, "MPI_REAL2", Element::real16, 2),
    number(0x2d0, "MPI_LOGICAL4", Element::logical32, 4),
    number(0x2d1, "MPI_INTEGER4", Element::signed32, 4),
    number(0x2d2, "MPI_REAL4", Element::real32, 4),
    complex(0x2d3, "MPI_COMPLEX4", Element::complex16, 4),
    number(0x2d8, "MPI_LOGICAL8", Element::logical64, 8),
    number(0x2d9, "MPI_INTEGER8", Element::signed64, 8),
    number(0x2da, "MPI_REAL8", Element::real64, 8),
    complex(0x2db, "MPI_COMPLEX8", Element::complex32, 8),
    number(0x2e0, "MPI_LOGICAL16", Element::logical128, 16),
    number(0x2e1, "MPI_INTEGER16", Element::signed128, 16),
    number(0x2e2, "MPI_REAL16", Element::real128, 16),
    complex(0x2e3, "MPI_COMPLEX16", Element::complex64, 16),
    complex(0x2eb, "MPI_COMPLEX32", Element::complex128, 32),
};

constexpr std::array pair_table = {
    PairType{0x228, "MPI_FLOAT_INT", 0x210, 0x209, 4},
    PairType{0x229, "MPI_DOUBLE_INT", 0x214, 0x209, 8},
    PairType{0x22a, "MPI_LONG_INT", 0x20a, 0x209, 8},
    PairType{0x22b, "MPI_2INT", 0x209, 0x209, 4},
    PairType{0x22c, "MPI_SHORT_INT", 0x208, 0x209, 4},
    PairType{0x22d, "MPI_LONG_DOUBLE_INT", 0x220, 0x209, 16},
    PairType{0x230, "MPI_2REAL", 0x21a, 0x21a, 4},
    PairType{0x231, "MPI_2DOUBLE_PRECISION", 0x21c, 0x21c, 8},
    PairType{0x232, "MPI_2INTEGER", 0x219, 0x219, 4},
};

}  // namespace

std::span<const BasicType> basic_types() {
  return basic_table;
}

std::span<const PairType> pair_types() {
  return pair_table;
}

const BasicType* find_basic(std::uintptr_t handle) {
  for (const BasicType& type : basic_table) {
    if (type.handle == handle) return &type;
  }
  return nullptr;
}

}  // namespace weft::mpi
