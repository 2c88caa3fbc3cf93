// SPDX-License-Identifier: Apache-2.0
#include "op.hpp"

#include <complex>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/message/mpi/datatype_number.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {
namespace {

enum class Group { none, integer, real, complex, logical, byte };

Group group_of(Element element) {
  if (element == Element::byte) return Group::byte;
  if (element == Element::boolean || element >= Element::logical8) return Group::logical;
  if (element >= Element::complex16) return Group::complex;
  if (element >= Element::real16) return Group::real;
  if (element >= Element::signed8) return Group::integer;
  return Group::none;
}

// Reads and writes one number of any basic type; small integers are exact in all of them.
template <typename T>
double get_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(static_cast<long double>(value));
}

template <typename T>
void put_as(std::byte* to, double number) {
  const auto value = static_cast<T>(number);
  std::memcpy(to, &value, sizeof value);
}

template <>
double get_as<Half>(const std::byte* from) {
  Half value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(static_cast<float>(value));
}

template <>
void put_as<Half>(std::byte* to, double number) {
  const Half value(static_cast<float>(number));
  std::memcpy(to, &value, sizeof value);
}

template <typename Visit>
void with_type(Element element, Visit visit) {
  switch (element) {
    case Element::signed8:
    case Element::logical8:
      return visit(std::int8_t{});
    case Element::signed16:
    case Element::logical16:
      return visit(std::int16_t{});
    case Element::signed32:
    case Element::logical32:
      return visit(std::int32_t{});
    case Element::signed64:
    case Element::logical64:
      return visit(std::int64_t{});
    case Element::signed128:
    case Element::logical128:
      return visit(Signed128{});
    case Element::opaque:
    case Element::byte:
    case Element::boolean:
    case Element::unsigned8:
      return visit(std::uint8_t{});
    case Element::unsigned16:
      return visit(std::uint16_t{});
    case Element::unsigned32:
      return visit(std::uint32_t{});
    case Element::unsigned64:
      return visit(std::uint64_t{});
    case Element::real16:
    case Element::complex16:
      return visit(Half{});
    case Element::real32:
    case Element::complex32:
      return visit(float{});
    case Element::real64:
    case Element::complex64:
      return visit(double{});
    case Element::real_long:
    case Element::complex_long:
      return visit(static_cast<long double>(0));
    case Element::real128:
    case Element::complex128:
      return visit(Real128{});
  }
}

using Number = std::complex<double>;

Number get(const BasicType& type, const std::byte* from) {
  Number number;
  with_type(type.element, [&]<typename T>(T) {
    const bool complex = group_of(type.element) == Group::complex;
    number = {get_as<T>(from), complex ? get_as<T>(from + sizeof(T)) : 0.0};
  });
  return number;
}

void put(const BasicType& type, std::byte* to, Number number) {
  with_type(type.element, [&]<typename T>(T) {
    put_as<T>(to, number.real());
    if (group_of(type.element) == Group::complex) put_as<T>(to + sizeof(T), number.imag());
  });
}

Number expected(MPI_Op op, Number a, Number b) {
  const auto left = static_cast<std::int64_t>(a.real());
  const auto right = static_cast<std::int64_t>(b.real());
  if (op == MPI_SUM) return a + b;
  if (op == MPI_PROD) return a * b;
  if (op == MPI_MIN) return std::min(a.real(), b.real());
  if (op == MPI_MAX) return std::max(a.real(), b.real());
  if (op == MPI_BAND) return static_cast<double>(left & right);
  if (op == MPI_BOR) return static_cast<double>(left | right);
  if (op == MPI_BXOR) return static_cast<double>(left ^ right);
  if (op == MPI_LAND) return left != 0 && right != 0 ? 1.0 : 0.0;
  if (op == MPI_LOR) return left != 0 || right != 0 ? 1.0 : 0.0;
  return (left != 0) != (right != 0) ? 1.0 : 0.0;
}

bool allowed(MPI_Op op, Group group) {
  using Groups = std::set<Group>;
  const bool arithmetic = op == MPI_SUM || op == MPI_PROD;
  if (arithmetic) return Groups{Group::integer, Group::real, Group::complex}.contains(group);
  if (op == MPI_MIN || op == MPI_MAX) return Groups{Group::integer, Group::real}.contains(group);
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) {
    return Groups{Group::integer, Group::byte}.contains(group);
  }
  return Groups{Group::integer, Group::logical, Group::real}.contains(group);
}

const MPI_Op operators[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                            MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};

TEST(Op, EqualsArithmeticOnAllTypes) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (const BasicType& basic : basic_types()) {
    SCOPED_TRACE(basic.name);
    const Datatype& type = *find_type(reinterpret_cast<MPI_Datatype>(std::uintptr_t{basic.handle}));
    const Group group = group_of(basic.element);
    const bool negative = basic.element < Element::unsigned8 || basic.element > Element::unsigned64;
    const bool bits = group == Group::byte || basic.element == Element::boolean;
    for (const MPI_Op op : operators) {
      ASSERT_EQ(find_op(op)->check(type), allowed(op, group) ? MPI_SUCCESS : MPI_ERR_OP);
      if (!allowed(op, group)) continue;
      constexpr std::size_t count = 67;
      // Offset by one byte, because alignment must not matter.
      std::vector<std::byte> in(count * basic.size + 1), inout(in.size());
      std::vector<Number> wanted;
      for (std::size_t i = 0; i < count; ++i) {
        const auto draw = [&] {
          return static_cast<double>(rng.below(10)) - (negative && !bits ? 5.0 : 0.0);
        };
        const Number a{draw(), group == Group::complex ? draw() : 0.0};
        const Number b{draw(), group == Group::complex ? draw() : 0.0};
        put(basic, &in[1 + i * basic.size], a);
        put(basic, &inout[1 + i * basic.size], b);
        wanted.push_back(expected(op, a, b));
      }
      find_op(op)->apply(&in[1], &inout[1], count, type);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(get(basic, &inout[1 + i * basic.size]), wanted[i]) << i;
      }
    }
  }
}

TEST(Op, IntegersWrapAround) {
  int in = 0x7fffffff, inout = 2;
  EXPECT_EQ(MPI_Reduce_local(&in, &inout, 1, MPI_INT, MPI_SUM), MPI_SUCCESS);
  EXPECT_EQ(inout, static_cast<int>(0x80000001U));
  std::uint16_t in16 = 0xffff, inout16 = 0xffff;
  MPI_Reduce_local(&in16, &inout16, 1, MPI_UINT16_T, MPI_PROD);
  EXPECT_EQ(inout16, 1);
}

template <typename Value, typename Index>
void expect_location(MPI_Datatype type) {
  struct Pair {
    Value value;
    Index index;
  };
  Pair in[4] = {{3, 7}, {5, 2}, {4, 9}, {4, 1}};
  Pair smallest[4] = {{2, 1}, {6, 3}, {4, 8}, {4, 8}};
  Pair largest[4] = {{2, 1}, {6, 3}, {4, 8}, {4, 8}};
  ASSERT_EQ(find_type(type)->extent(), std::int64_t{sizeof(Pair)});
  ASSERT_EQ(MPI_Reduce_local(in, smallest, 4, type, MPI_MINLOC), MPI_SUCCESS);
  ASSERT_EQ(MPI_Reduce_local(in, largest, 4, type, MPI_MAXLOC), MPI_SUCCESS);
  const int small[4][2] = {{2, 1}, {5, 2}, {4, 8}, {4, 1}};
  const int large[4][2] = {{3, 7}, {6, 3}, {4, 8}, {4, 1}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(smallest[i].value, static_cast<Value>(small[i][0])) << i;
    EXPECT_EQ(smallest[i].index, static_cast<Index>(small[i][1])) << i;
    EXPECT_EQ(largest[i].value, static_cast<Value>(large[i][0])) << i;
    EXPECT_EQ(largest[i].index, static_cast<Index>(large[i][1])) << i;
  }
  EXPECT_EQ(MPI_Reduce_local(in, largest, 4, type, MPI_SUM), MPI_ERR_OP);
}

TEST(Op, LocationsOfExtremes) {
  expect_location<float, int>(MPI_FLOAT_INT);
  expect_location<double, int>(MPI_DOUBLE_INT);
  expect_location<long, int>(MPI_LONG_INT);
  expect_location<int, int>(MPI_2INT);
  expect_location<short, int>(MPI_SHORT_INT);
  expect_location<long double, int>(MPI_LONG_DOUBLE_INT);
  expect_location<float, float>(MPI_2REAL);
  expect_location<double, double>(MPI_2DOUBLE_PRECISION);
  expect_location<int, int>(MPI_2INTEGER);
  int value[2] = {}, other[2] = {};
  EXPECT_EQ(MPI_Reduce_local(value, other, 1, MPI_INT, MPI_MINLOC), MPI_ERR_OP);
}

TEST(Op, ReplaceKeepsHoles) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  const int in[5] = {1, 2, 3, 4, 5};
  int inout[5] = {};
  EXPECT_EQ(MPI_Reduce_local(in, inout, 1, type, MPI_NO_OP), MPI_SUCCESS);
  EXPECT_EQ(inout[0], 0);
  EXPECT_EQ(MPI_Reduce_local(in, inout, 1, type, MPI_REPLACE), MPI_SUCCESS);
  EXPECT_EQ(inout[0], 1);
  EXPECT_EQ(inout[1], 0);
  EXPECT_EQ(inout[4], 5);
  EXPECT_EQ(MPI_Reduce_local(in, inout, 1, type, MPI_SUM), MPI_ERR_OP);
  MPI_Type_free(&type);
}

MPI_Datatype seen_type = MPI_DATATYPE_NULL;

extern "C" void subtract(void* in, void* inout, int* length, MPI_Datatype* type) {
  seen_type = *type;
  for (int i = 0; i < *length; ++i) {
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
  }
}

extern "C" void add_large(void* in, void* inout, MPI_Count* length, MPI_Datatype*) {
  for (MPI_Count i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

extern "C" void fortran_function(void*, void* inout, MPI_Fint*, MPI_Fint* type) {
  *static_cast<int*>(inout) = *type;
}

TEST(Op, FunctionsOfTheProgram) {
  MPI_Op op = MPI_OP_NULL;
  ASSERT_EQ(MPI_Op_create(&subtract, 0, &op), MPI_SUCCESS);
  int commutes = 1;
  EXPECT_EQ(MPI_Op_commutative(op, &commutes), MPI_SUCCESS);
  EXPECT_EQ(commutes, 0);
  const int in[3] = {10, 20, 30};
  int inout[3] = {1, 2, 3};
  EXPECT_EQ(MPI_Reduce_local(in, inout, 3, MPI_INT, op), MPI_SUCCESS);
  EXPECT_EQ(inout[2], 27);
  EXPECT_EQ(seen_type, MPI_INT);
  EXPECT_EQ(MPI_Op_free(&op), MPI_SUCCESS);
  EXPECT_EQ(op, MPI_OP_NULL);
  ASSERT_EQ(MPI_Op_create_c(&add_large, 1, &op), MPI_SUCCESS);
  EXPECT_EQ(MPI_Reduce_local_c(in, inout, 3, MPI_INT, op), MPI_SUCCESS);
  EXPECT_EQ(inout[2], 57);
  find_op(op)->retain();
  const Op* kept = find_op(op);
  MPI_Op_free(&op);
  EXPECT_TRUE(kept->commutative());
  Op::release(kept);
  const Op fortran(reinterpret_cast<Op::AnyFunction>(&fortran_function), OpForm::fortran, true);
  fortran.apply(in, inout, 1, *find_type(MPI_INTEGER));
  EXPECT_EQ(inout[0], 0x219);
}

TEST(Op, InvalidHandles) {
  MPI_Op op = MPI_SUM;
  int commutes = 0, value = 1, other = 2;
  EXPECT_EQ(MPI_Op_free(&op), MPI_ERR_OP);
  EXPECT_EQ(MPI_Op_commutative(MPI_OP_NULL, &commutes), MPI_ERR_OP);
  EXPECT_EQ(MPI_Reduce_local(&value, &other, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  EXPECT_EQ(MPI_Reduce_local(&value, &other, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Reduce_local(&value, &other, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Op_create(nullptr, 1, &op), MPI_ERR_ARG);
  for (const MPI_Op one : operators) {
    EXPECT_EQ(find_op(one)->handle(), one);
    EXPECT_TRUE(find_op(one)->commutative());
  }
}

}  // namespace
}  // namespace weft::mpi
