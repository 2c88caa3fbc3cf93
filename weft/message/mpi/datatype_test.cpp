// SPDX-License-Identifier: Apache-2.0
#include "datatype.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/datatype_number.hpp>
#include <weft/message/mpi/datatype_test_support.hpp>
#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/status.hpp>

namespace weft::mpi {
namespace {

std::string name_of(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  EXPECT_EQ(MPI_Type_get_name(type, name, &length), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(length), std::strlen(name));
  return name;
}

struct Bounds {
  MPI_Aint lower, extent, true_lower, true_extent;
  int size;
  bool operator==(const Bounds&) const = default;
};

Bounds bounds_of(MPI_Datatype type) {
  Bounds bounds{};
  EXPECT_EQ(MPI_Type_get_extent(type, &bounds.lower, &bounds.extent), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_get_true_extent(type, &bounds.true_lower, &bounds.true_extent), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_size(type, &bounds.size), MPI_SUCCESS);
  return bounds;
}

MPI_Datatype make_struct(std::vector<int> lengths, std::vector<MPI_Aint> displacements,
                         std::vector<MPI_Datatype> types) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(),
                                   displacements.data(), types.data(), &type),
            MPI_SUCCESS);
  return type;
}

TEST(Datatype, PredefinedTypesHaveNamesAndSizes) {
  const struct {
    MPI_Datatype type;
    const char* name;
    int size;
  } expected[] = {
      {MPI_CHAR, "MPI_CHAR", sizeof(char)},
      {MPI_SHORT, "MPI_SHORT", sizeof(short)},
      {MPI_INT, "MPI_INT", sizeof(int)},
      {MPI_LONG, "MPI_LONG", sizeof(long)},
      {MPI_LONG_LONG, "MPI_LONG_LONG_INT", sizeof(long long)},
      {MPI_UNSIGNED, "MPI_UNSIGNED", sizeof(unsigned)},
      {MPI_FLOAT, "MPI_FLOAT", sizeof(float)},
      {MPI_DOUBLE, "MPI_DOUBLE", sizeof(double)},
      {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", sizeof(long double)},
      {MPI_WCHAR, "MPI_WCHAR", sizeof(wchar_t)},
      {MPI_C_BOOL, "MPI_C_BOOL", sizeof(bool)},
      {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", sizeof(std::complex<double>)},
      {MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", 2 * sizeof(long double)},
      {MPI_UINT64_T, "MPI_UINT64_T", 8},
      {MPI_AINT, "MPI_AINT", sizeof(MPI_Aint)},
      {MPI_COUNT, "MPI_COUNT", sizeof(MPI_Count)},
      {MPI_OFFSET, "MPI_OFFSET", sizeof(MPI_Offset)},
      {MPI_PACKED, "MPI_PACKED", 1},
      {MPI_BYTE, "MPI_BYTE", 1},
      {MPI_INTEGER, "MPI_INTEGER", 4},
      {MPI_REAL, "MPI_REAL", 4},
      {MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", 8},
      {MPI_COMPLEX, "MPI_COMPLEX", 8},
      {MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", 16},
      {MPI_LOGICAL, "MPI_LOGICAL", 4},
      {MPI_CHARACTER, "MPI_CHARACTER", 1},
      {MPI_INTEGER16, "MPI_INTEGER16", 16},
      {MPI_REAL2, "MPI_REAL2", 2},
      {MPI_COMPLEX32, "MPI_COMPLEX32", 32},
      {MPI_2INT, "MPI_2INT", 8},
      {MPI_SHORT_INT, "MPI_SHORT_INT", 6},
      {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 12},
      {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", 20},
      {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", 16},
  };
  for (const auto& one : expected) {
    EXPECT_EQ(name_of(one.type), one.name);
    EXPECT_EQ(bounds_of(one.type).size, one.size) << one.name;
    EXPECT_EQ(find_type(one.type)->handle(), one.type) << one.name;
    EXPECT_TRUE(find_type(one.type)->committed());
  }
  EXPECT_EQ(name_of(MPI_DATATYPE_NULL), "MPI_DATATYPE_NULL");
}

// The ABI's handles encode the size of types that have the same size everywhere.
TEST(Datatype, HandlesOfFixedSizeTellIt) {
  for (const BasicType& type : basic_types()) {
    if (type.handle < 0x240) continue;
    EXPECT_EQ(1 << (type.handle >> 3 & 7), type.size) << type.name;
  }
}

TEST(Datatype, PairsAreStructuresOfC) {
  struct ShortInt {
    short value;
    int index;
  };
  struct LongDoubleInt {
    long double value;
    int index;
  };
  EXPECT_EQ(bounds_of(MPI_SHORT_INT).extent, MPI_Aint{sizeof(ShortInt)});
  EXPECT_EQ(bounds_of(MPI_LONG_DOUBLE_INT).extent, MPI_Aint{sizeof(LongDoubleInt)});
  EXPECT_EQ(bounds_of(MPI_DOUBLE_INT).extent, 16);
  EXPECT_EQ(bounds_of(MPI_DOUBLE_INT).true_extent, 12);
  ShortInt pair[2] = {{1, 2}, {3, 4}};
  std::array<std::byte, 12> packed;
  find_type(MPI_SHORT_INT)->pack(pair, 2, 0, packed);
  ShortInt back[2] = {};
  find_type(MPI_SHORT_INT)->unpack(back, 2, 0, packed);
  EXPECT_EQ(back[1].value, 3);
  EXPECT_EQ(back[1].index, 4);
}

TEST(Datatype, InvalidHandlesAreFound) {
  EXPECT_EQ(find_type(MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(find_type(nullptr), nullptr);
  EXPECT_EQ(find_type(reinterpret_cast<MPI_Datatype>(MPI_COMM_WORLD)), nullptr);
  EXPECT_EQ(find_type(reinterpret_cast<MPI_Datatype>(0x204)), nullptr);
  EXPECT_EQ(find_type(reinterpret_cast<MPI_Datatype>(0x300)), nullptr);
  EXPECT_EQ(find_type(reinterpret_cast<MPI_Datatype>(0x1001)), nullptr);
  alignas(16) const char memory[sizeof(Datatype)] = {};
  EXPECT_EQ(find_type(reinterpret_cast<MPI_Datatype>(const_cast<char*>(memory))), nullptr);
  int size = 0;
  EXPECT_EQ(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
}

// Example 5.1 of MPI 4.1: {(double, 0), (char, 8)} is padded to 16 bytes.
TEST(Datatype, StructuresArePaddedToTheirAlignment) {
  MPI_Datatype type = make_struct({1, 1}, {0, 8}, {MPI_DOUBLE, MPI_CHAR});
  EXPECT_EQ(bounds_of(type), (Bounds{0, 16, 0, 9, 9}));
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, type, &three);
  EXPECT_EQ(bounds_of(three), (Bounds{0, 48, 0, 41, 27}));
  MPI_Type_free(&three);
  MPI_Type_free(&type);
}

// Examples 5.3 and 5.4 of MPI 4.1.
TEST(Datatype, VectorsCountInExtents) {
  MPI_Datatype old = make_struct({1, 1}, {0, 8}, {MPI_DOUBLE, MPI_CHAR});
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 3, 4, old, &type);
  EXPECT_EQ(bounds_of(type), (Bounds{0, 112, 0, 105, 54}));
  MPI_Type_free(&type);
  MPI_Type_vector(3, 1, -2, old, &type);
  EXPECT_EQ(bounds_of(type), (Bounds{-64, 80, -64, 73, 27}));
  MPI_Type_free(&type);
  MPI_Type_free(&old);
}

// Example 5.9 of MPI 4.1 and the section before it: explicit bounds persist when types are nested.
TEST(Datatype, BoundsThatWereSetStay) {
  MPI_Datatype resized = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, -3, 9, &resized);
  EXPECT_EQ(bounds_of(resized), (Bounds{-3, 9, 0, 4, 4}));
  MPI_Type_contiguous(2, resized, &type);
  EXPECT_EQ(bounds_of(type), (Bounds{-3, 18, 0, 13, 8}));
  MPI_Type_free(&type);
  MPI_Type_free(&resized);
}

TEST(Datatype, OldMarkersSetBounds) {
  MPI_Datatype type = make_struct({1, 1, 1}, {-3, 0, 6}, {MPI_LB, MPI_INT, MPI_UB});
  EXPECT_EQ(bounds_of(type), (Bounds{-3, 9, 0, 4, 4}));
  MPI_Aint value = 0;
  MPI_Type_lb(type, &value);
  EXPECT_EQ(value, -3);
  MPI_Type_ub(type, &value);
  EXPECT_EQ(value, 6);
  MPI_Type_extent(type, &value);
  EXPECT_EQ(value, 9);
  MPI_Type_free(&type);
}

TEST(Datatype, EmptyTypesHaveNoBounds) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &type);
  EXPECT_EQ(bounds_of(type), (Bounds{0, 0, 0, 0, 0}));
  const Datatype* found = find_type(type);
  EXPECT_TRUE(found->contiguous());
  found->pack(nullptr, 5, 0, {});
  EXPECT_EQ(found->elements_in(0), 0);
  EXPECT_EQ(found->elements_in(1), std::nullopt);
  MPI_Type_free(&type);
}

TEST(Datatype, ContiguousMeansOneBlock) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 2, 2, MPI_INT, &type);
  EXPECT_TRUE(find_type(type)->contiguous());
  EXPECT_EQ(find_type(type)->shape().layout->kind, Layout::Kind::block);
  MPI_Type_free(&type);
  MPI_Type_create_resized(MPI_INT, 0, 8, &type);
  EXPECT_FALSE(find_type(type)->contiguous());
  EXPECT_TRUE(find_type(type)->contiguous(1));
  MPI_Type_free(&type);
  type = make_struct({1, 1, 2}, {0, 4, 8}, {MPI_INT, MPI_FLOAT, MPI_DOUBLE});
  EXPECT_TRUE(find_type(type)->contiguous());
  EXPECT_EQ(find_type(type)->uniform(), nullptr);
  MPI_Type_free(&type);
}

// A large type must stay small: its layout is a nested loop.
TEST(Datatype, LayoutsOfArraysAreLoops) {
  const int sizes[] = {1000, 1000, 1000}, parts[] = {998, 998, 1}, starts[] = {1, 1, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  const Layout& layout = *find_type(type)->shape().layout;
  EXPECT_EQ(layout.kind, Layout::Kind::loop);
  EXPECT_EQ(layout.count, 998);
  ASSERT_NE(layout.body, nullptr);
  EXPECT_EQ(layout.body->kind, Layout::Kind::loop);
  EXPECT_EQ(layout.body->count, 998);
  EXPECT_EQ(layout.body->body, nullptr);
  EXPECT_EQ(find_type(type)->uniform(), find_type(MPI_DOUBLE));
  MPI_Type_free(&type);
}

TEST(Datatype, AbsoluteAddressesCountFromBottom) {
  int first[3] = {1, 2, 3};
  double second = 4.5;
  MPI_Aint addresses[2];
  MPI_Get_address(&first[1], &addresses[0]);
  MPI_Get_address(&second, &addresses[1]);
  MPI_Datatype type = make_struct({2, 1}, {addresses[0], addresses[1]}, {MPI_INT, MPI_DOUBLE});
  MPI_Type_commit(&type);
  std::array<char, 16> packed;
  int position = 0;
  ASSERT_EQ(MPI_Pack(MPI_BOTTOM, 1, type, packed.data(), 16, &position, MPI_COMM_SELF),
            MPI_SUCCESS);
  EXPECT_EQ(position, 16);
  first[1] = first[2] = 0;
  second = 0;
  position = 0;
  MPI_Unpack(packed.data(), 16, &position, MPI_BOTTOM, 1, type, MPI_COMM_SELF);
  EXPECT_EQ(first[0], 1);
  EXPECT_EQ(first[1], 2);
  EXPECT_EQ(first[2], 3);
  EXPECT_EQ(second, 4.5);
  EXPECT_EQ(MPI_Aint_diff(addresses[0], MPI_Aint_add(addresses[0], 5)), -5);
  MPI_Type_free(&type);
}

TEST(Datatype, PackingChecksItsRoom) {
  int data[2] = {1, 2}, position = 0;
  char packed[8];
  EXPECT_EQ(MPI_Pack(data, 2, MPI_INT, packed, 7, &position, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
  EXPECT_EQ(position, 0);
  EXPECT_EQ(MPI_Pack(data, -1, MPI_INT, packed, 8, &position, MPI_COMM_SELF), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Pack(data, 1, MPI_INT, packed, 8, &position, MPI_COMM_NULL), MPI_ERR_COMM);
  EXPECT_EQ(MPI_Pack(data, 1, MPI_INT, packed, 8, &position, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(MPI_Pack(data + 1, 1, MPI_INT, packed, 8, &position, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(position, 8);
  EXPECT_EQ(std::memcmp(packed, data, 8), 0);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &type);
  position = 0;
  EXPECT_EQ(MPI_Pack(data, 1, type, packed, 8, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
  MPI_Type_commit(&type);
  EXPECT_EQ(MPI_Pack(data, 1, type, packed, 8, &position, MPI_COMM_SELF), MPI_SUCCESS);
  MPI_Type_free(&type);
  int size = 0;
  EXPECT_EQ(MPI_Pack_size(3, MPI_SHORT_INT, MPI_COMM_SELF, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 18);
}

TEST(Datatype, StatusCountsElements) {
  MPI_Status status;
  set_status_empty(status);
  MPI_Datatype type = make_struct({1, 1}, {0, 8}, {MPI_DOUBLE, MPI_INT});
  int count = -1;
  MPI_Get_count(&status, type, &count);
  EXPECT_EQ(count, 0);
  set_status_bytes(status, 24);
  MPI_Get_count(&status, type, &count);
  EXPECT_EQ(count, 2);
  MPI_Get_elements(&status, type, &count);
  EXPECT_EQ(count, 4);
  set_status_bytes(status, 20);
  MPI_Get_count(&status, type, &count);
  EXPECT_EQ(count, MPI_UNDEFINED);
  MPI_Get_elements(&status, type, &count);
  EXPECT_EQ(count, 3);
  set_status_bytes(status, 22);
  MPI_Get_elements(&status, type, &count);
  EXPECT_EQ(count, MPI_UNDEFINED);
  MPI_Status_set_elements(&status, type, 5);
  EXPECT_EQ(status_bytes(status), 32);
  set_status_bytes(status, std::int64_t{1} << 40);
  MPI_Count large = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, MPI_UNDEFINED);
  MPI_Get_count_c(&status, MPI_BYTE, &large);
  EXPECT_EQ(large, MPI_Count{1} << 40);
  set_status_cancelled(status, true);
  EXPECT_TRUE(status_cancelled(status));
  EXPECT_EQ(status_bytes(status), std::int64_t{1} << 40);
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  MPI_Status back;
  EXPECT_EQ(MPI_Status_c2f(&status, fortran), MPI_SUCCESS);
  EXPECT_EQ(MPI_Status_f2c(fortran, &back), MPI_SUCCESS);
  EXPECT_EQ(std::memcmp(&back, &status, sizeof back), 0);
  MPI_Type_free(&type);
}

struct Given {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  std::vector<int> integer_values;
  std::vector<MPI_Aint> address_values;
  std::vector<MPI_Datatype> type_values;
};

Given contents_of(MPI_Datatype type) {
  Given given;
  EXPECT_EQ(
      MPI_Type_get_envelope(type, &given.integers, &given.addresses, &given.types, &given.combiner),
      MPI_SUCCESS);
  given.integer_values.resize(static_cast<std::size_t>(given.integers));
  given.address_values.resize(static_cast<std::size_t>(given.addresses));
  given.type_values.resize(static_cast<std::size_t>(given.types));
  EXPECT_EQ(MPI_Type_get_contents(type, given.integers, given.addresses, given.types,
                                  given.integer_values.data(), given.address_values.data(),
                                  given.type_values.data()),
            MPI_SUCCESS);
  return given;
}

TEST(Datatype, ContentsAreTheArguments) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 3, -4, MPI_INT, &type);
  Given given = contents_of(type);
  EXPECT_EQ(given.combiner, MPI_COMBINER_VECTOR);
  EXPECT_EQ(given.integer_values, (std::vector<int>{2, 3, -4}));
  EXPECT_EQ(given.type_values, (std::vector<MPI_Datatype>{MPI_INT}));
  MPI_Type_free(&type);

  type = make_struct({1, 2}, {8, -16}, {MPI_INT, MPI_CHAR});
  given = contents_of(type);
  EXPECT_EQ(given.combiner, MPI_COMBINER_STRUCT);
  EXPECT_EQ(given.integer_values, (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(given.address_values, (std::vector<MPI_Aint>{8, -16}));
  MPI_Type_free(&type);

  const int sizes[] = {4, 5}, parts[] = {2, 3}, starts[] = {1, 0};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
  given = contents_of(type);
  EXPECT_EQ(given.combiner, MPI_COMBINER_SUBARRAY);
  EXPECT_EQ(given.integer_values, (std::vector<int>{2, 4, 5, 2, 3, 1, 0, MPI_ORDER_FORTRAN}));
  MPI_Type_free(&type);

  const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[] = {2, 3},
            grid[] = {2, 1};
  MPI_Type_create_darray(2, 1, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &type);
  given = contents_of(type);
  EXPECT_EQ(given.combiner, MPI_COMBINER_DARRAY);
  EXPECT_EQ(given.integer_values,
            (std::vector<int>{2, 1, 2, 4, 5, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, 2, 3, 2,
                              1, MPI_ORDER_C}));
  MPI_Type_free(&type);

  int unused = 0, combiner = 0;
  MPI_Type_get_envelope(MPI_INT, &unused, &unused, &unused, &combiner);
  EXPECT_EQ(combiner, MPI_COMBINER_NAMED);
  EXPECT_EQ(MPI_Type_get_contents(MPI_INT, 1, 1, 1, &unused, nullptr, nullptr), MPI_ERR_TYPE);
}

TEST(Datatype, ContentsOfLargeForms) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector_c(2, 3, 40, MPI_INT, &type);
  int small = 0, combiner = 0;
  EXPECT_EQ(MPI_Type_get_envelope(type, &small, &small, &small, &combiner), MPI_ERR_TYPE);
  MPI_Count integers = -1, addresses = -1, large = -1, types = -1;
  EXPECT_EQ(MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner),
            MPI_SUCCESS);
  EXPECT_EQ(integers, 0);
  EXPECT_EQ(addresses, 0);
  EXPECT_EQ(large, 3);
  EXPECT_EQ(types, 1);
  MPI_Count values[3];
  MPI_Datatype old = MPI_DATATYPE_NULL;
  MPI_Type_get_contents_c(type, 0, 0, 3, 1, nullptr, nullptr, values, &old);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(values[2], 40);
  EXPECT_EQ(old, MPI_INT);
  MPI_Type_free(&type);
}

// Types live as long as others are built on them; each handle that was returned is freed once.
TEST(Datatype, DerivedTypesKeepTheirPartsAlive) {
  MPI_Datatype inner = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
  MPI_Type_contiguous(3, inner, &outer);
  MPI_Type_free(&inner);
  EXPECT_EQ(inner, MPI_DATATYPE_NULL);
  const Given given = contents_of(outer);
  MPI_Datatype again = given.type_values[0];
  EXPECT_EQ(bounds_of(again).size, 8);
  MPI_Type_free(&outer);
  EXPECT_EQ(bounds_of(again).size, 8);
  MPI_Type_free(&again);
}

TEST(Datatype, AttributesEndWithTheLastHandle) {
  attribute_calls() = {};
  MPI_Datatype inner = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &inner);
  MPI_Type_contiguous(3, inner, &outer);
  MPI_Datatype again = contents_of(outer).type_values[0];
  MPI_Type_free(&again);
  EXPECT_EQ(attribute_calls().deletions, 0);
  attribute_calls().result = MPI_ERR_OTHER;
  EXPECT_EQ(MPI_Type_free(&inner), MPI_ERR_OTHER);
  EXPECT_NE(inner, MPI_DATATYPE_NULL);
  attribute_calls().result = MPI_SUCCESS;
  EXPECT_EQ(MPI_Type_free(&inner), MPI_SUCCESS);
  EXPECT_EQ(attribute_calls().deletions, 2);
  MPI_Type_free(&outer);
}

TEST(Datatype, DupCopiesStateAndAttributes) {
  attribute_calls() = {};
  MPI_Datatype type = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_dup(type, &copy);
  EXPECT_FALSE(find_type(copy)->committed());
  EXPECT_EQ(attribute_calls().copied_from, type);
  EXPECT_EQ(attribute_calls().copied_to, copy);
  MPI_Type_free(&copy);
  MPI_Type_commit(&type);
  MPI_Type_dup(type, &copy);
  EXPECT_TRUE(find_type(copy)->committed());
  EXPECT_EQ(bounds_of(copy), bounds_of(type));
  MPI_Type_free(&copy);
  attribute_calls().result = MPI_ERR_OTHER;
  copy = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_dup(type, &copy), MPI_ERR_OTHER);
  EXPECT_EQ(copy, MPI_DATATYPE_NULL);
  attribute_calls() = {};
  MPI_Type_free(&type);
}

TEST(Datatype, NamesAreCut) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &type);
  EXPECT_EQ(name_of(type), "");
  MPI_Type_set_name(type, std::string(200, 'x').c_str());
  EXPECT_EQ(name_of(type), std::string(MPI_MAX_OBJECT_NAME - 1, 'x'));
  MPI_Type_free(&type);
}

TEST(Datatype, BadArgumentsHaveTheirClass) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int one[] = {1}, minus[] = {-1}, two[] = {2}, zero[] = {0};
  const int block[] = {MPI_DISTRIBUTE_BLOCK}, none[] = {MPI_DISTRIBUTE_NONE};
  EXPECT_EQ(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_contiguous(1, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_indexed(1, minus, one, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_indexed(1, nullptr, one, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_subarray(1, one, two, zero, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_subarray(1, two, one, two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_subarray(1, two, one, one, 7, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_darray(2, 2, 1, two, block, one, two, MPI_ORDER_C, MPI_INT, &type),
            MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_darray(3, 0, 1, two, block, one, two, MPI_ORDER_C, MPI_INT, &type),
            MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_darray(2, 0, 1, two, none, one, two, MPI_ORDER_C, MPI_INT, &type),
            MPI_ERR_ARG);
  EXPECT_EQ(type, MPI_DATATYPE_NULL);
  type = MPI_INT;
  EXPECT_EQ(MPI_Type_free(&type), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
}

TEST(Datatype, TooLargeTypesAreRefused) {
  const MPI_Count huge = std::numeric_limits<MPI_Count>::max() / 2;
  MPI_Datatype type = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_contiguous_c(huge, MPI_INT, &type), MPI_ERR_VALUE_TOO_LARGE);
  EXPECT_EQ(MPI_Type_vector_c(2, 1, huge, MPI_INT, &type), MPI_ERR_VALUE_TOO_LARGE);
  EXPECT_EQ(MPI_Type_create_resized_c(MPI_INT, huge, huge + 2, &type), MPI_ERR_VALUE_TOO_LARGE);
  const MPI_Count sizes[] = {huge, 8, huge}, parts[] = {1, 1, 1}, starts[] = {0, 0, 0};
  EXPECT_EQ(MPI_Type_create_subarray_c(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type),
            MPI_ERR_VALUE_TOO_LARGE);
  ASSERT_EQ(MPI_Type_contiguous(1 << 30, MPI_INT, &type), MPI_SUCCESS);
  int size = 0;
  MPI_Count large = 0;
  MPI_Type_size(type, &size);
  MPI_Type_size_c(type, &large);
  EXPECT_EQ(size, MPI_UNDEFINED);
  EXPECT_EQ(large, MPI_Count{1} << 32);
  ASSERT_EQ(MPI_Type_contiguous(1 << 30, type, &outer), MPI_SUCCESS);
  MPI_Type_free(&type);
  EXPECT_EQ(MPI_Type_contiguous(2, outer, &type), MPI_ERR_VALUE_TOO_LARGE);
  MPI_Type_free(&outer);
}

TEST(Datatype, FortranTypesByPrecision) {
  MPI_Datatype first = MPI_DATATYPE_NULL, second = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_f90_real(15, 30, &first), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_f90_real(15, 30, &second), MPI_SUCCESS);
  EXPECT_EQ(first, second);
  EXPECT_EQ(find_type(first), find_type(MPI_REAL8));
  const Given given = contents_of(first);
  EXPECT_EQ(given.combiner, MPI_COMBINER_F90_REAL);
  EXPECT_EQ(given.integer_values, (std::vector<int>{15, 30}));
  EXPECT_EQ(MPI_Type_free(&first), MPI_ERR_TYPE);
  ASSERT_EQ(MPI_Type_create_f90_complex(MPI_UNDEFINED, 40, &first), MPI_SUCCESS);
  EXPECT_EQ(bounds_of(first).size, 16);
  EXPECT_EQ(contents_of(first).integer_values, (std::vector<int>{MPI_UNDEFINED, 40}));
  ASSERT_EQ(MPI_Type_create_f90_integer(9, &first), MPI_SUCCESS);
  EXPECT_EQ(bounds_of(first).size, 4);
  EXPECT_EQ(contents_of(first).integer_values, (std::vector<int>{9}));
  MPI_Type_contiguous(2, first, &second);
  EXPECT_EQ(bounds_of(second).size, 8);
  EXPECT_EQ(contents_of(second).type_values[0], first);
  MPI_Type_free(&second);
  EXPECT_EQ(MPI_Type_create_f90_integer(39, &first), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &first), MPI_ERR_ARG);
}

TEST(Datatype, MatchesAndPairs) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_REAL8);
  EXPECT_EQ(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_COMPLEX8);
  EXPECT_EQ(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_DOUBLE_INT);
  EXPECT_EQ(MPI_Type_get_value_index(MPI_INT8_T, MPI_INT, &type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_DATATYPE_NULL);
}

TEST(Datatype, ExternalNumbersBeginWithTheHighestByte) {
  MPI_Datatype type =
      make_struct({1, 1, 1, 1}, {0, 4, 8, 16}, {MPI_INT, MPI_WCHAR, MPI_DOUBLE, MPI_SHORT});
  MPI_Type_commit(&type);
  struct Record {
    int number;
    wchar_t letter;
    double real;
    short last;
  };
  const Record in[2] = {{0x01020304, L'A', 1.0, 0x0506}, {-2, L'B', -2.5, -1}};
  MPI_Aint size = 0;
  ASSERT_EQ(MPI_Pack_external_size("external32", 2, type, &size), MPI_SUCCESS);
  ASSERT_EQ(size, 32);
  unsigned char packed[32];
  MPI_Aint position = 0;
  ASSERT_EQ(MPI_Pack_external("external32", in, 2, type, packed, 32, &position), MPI_SUCCESS);
  EXPECT_EQ(position, 32);
  const unsigned char expected[16] = {1, 2, 3, 4, 0, 0x41, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 5, 6};
  EXPECT_EQ(std::memcmp(packed, expected, 16), 0);
  Record out[2] = {};
  position = 0;
  ASSERT_EQ(MPI_Unpack_external("external32", packed, 32, &position, out, 2, type), MPI_SUCCESS);
  EXPECT_EQ(out[1].number, -2);
  EXPECT_EQ(out[1].letter, L'B');
  EXPECT_EQ(out[1].real, -2.5);
  EXPECT_EQ(out[1].last, -1);
  EXPECT_EQ(MPI_Pack_external_size("native", 2, type, &size), MPI_ERR_ARG);
  MPI_Type_free(&type);
}

TEST(Datatype, ExternalLongHasFourBytes) {
  const long in[2] = {-2, 0x01020304};
  unsigned char packed[8];
  MPI_Aint size = 0;
  MPI_Aint position = 0;
  ASSERT_EQ(MPI_Pack_external_size("external32", 2, MPI_LONG, &size), MPI_SUCCESS);
  ASSERT_EQ(size, 8);
  ASSERT_EQ(MPI_Pack_external("external32", in, 2, MPI_LONG, packed, 8, &position), MPI_SUCCESS);
  const unsigned char expected[8] = {0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4};
  EXPECT_EQ(std::memcmp(packed, expected, 8), 0);
  long out[2] = {};
  position = 0;
  MPI_Unpack_external("external32", packed, 8, &position, out, 2, MPI_LONG);
  EXPECT_EQ(out[0], -2);
  EXPECT_EQ(out[1], 0x01020304);
  unsigned long without_sign = 0;
  position = 0;
  MPI_Unpack_external("external32", packed, 8, &position, &without_sign, 1, MPI_UNSIGNED_LONG);
  EXPECT_EQ(without_sign, 0xfffffffeUL);
  ASSERT_EQ(MPI_Pack_external_size("external32", 1, MPI_LONG_INT, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 8);
}

TEST(Datatype, ExternalLongDoubleIsQuad) {
  const long double in = -1.5L;
  unsigned char packed[16];
  MPI_Aint position = 0;
  ASSERT_EQ(MPI_Pack_external("external32", &in, 1, MPI_LONG_DOUBLE, packed, 16, &position),
            MPI_SUCCESS);
  EXPECT_EQ(packed[0], 0xbf);
  EXPECT_EQ(packed[1], 0xff);
  EXPECT_EQ(packed[2], 0x80);
  long double out = 0;
  position = 0;
  MPI_Unpack_external("external32", packed, 16, &position, &out, 1, MPI_LONG_DOUBLE);
  EXPECT_EQ(out, in);
}

TEST(Half, AllValuesSurviveTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const bool nan = (bits & 0x7c00U) == 0x7c00U && (bits & 0x3ffU) != 0;
    if (nan) continue;
    ASSERT_EQ(Half(static_cast<float>(half)).bits(), bits);
  }
  EXPECT_EQ(Half(1.0F).bits(), 0x3c00);
  EXPECT_EQ(Half(65504.0F).bits(), 0x7bff);
  EXPECT_EQ(Half(65520.0F).bits(), 0x7c00);         // Halfway to infinity.
  EXPECT_EQ(Half(1.0F + 0x1p-11F).bits(), 0x3c00);  // A tie rounds to even.
  EXPECT_EQ(Half(1.0F + 0x3p-11F).bits(), 0x3c02);
  EXPECT_EQ(Half(0x1p-25F).bits(), 0);
  EXPECT_EQ(Half(0x3p-25F).bits(), 2);
}

}  // namespace
}  // namespace weft::mpi
