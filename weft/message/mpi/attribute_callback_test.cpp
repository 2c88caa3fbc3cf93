// SPDX-License-Identifier: Apache-2.0
// Copy and delete functions of attributes that set and delete attributes themselves, of
// communicators, datatypes and windows.
#include <vector>

#include "keyvals.hpp"
#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

// What differs between the kinds of objects.
struct OfComm {
  using Object = MPI_Comm;
  static constexpr auto create_keyval = &MPI_Comm_create_keyval;
  static constexpr auto free_keyval = &MPI_Comm_free_keyval;
  static constexpr auto set = &MPI_Comm_set_attr;
  static constexpr auto get = &MPI_Comm_get_attr;
  static constexpr auto remove = &MPI_Comm_delete_attr;
  static Object make() {
    Object made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    return made;
  }
  static void free(Object object) { EXPECT_EQ(MPI_Comm_free(&object), MPI_SUCCESS); }
  static Object copy(Object object) {
    Object made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_dup(object, &made), MPI_SUCCESS);
    return made;
  }
};

struct OfType {
  using Object = MPI_Datatype;
  static constexpr auto create_keyval = &MPI_Type_create_keyval;
  static constexpr auto free_keyval = &MPI_Type_free_keyval;
  static constexpr auto set = &MPI_Type_set_attr;
  static constexpr auto get = &MPI_Type_get_attr;
  static constexpr auto remove = &MPI_Type_delete_attr;
  static Object make() {
    Object made = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, MPI_INT, &made);
    return made;
  }
  static void free(Object object) { EXPECT_EQ(MPI_Type_free(&object), MPI_SUCCESS); }
  static Object copy(Object object) {
    Object made = MPI_DATATYPE_NULL;
    EXPECT_EQ(MPI_Type_dup(object, &made), MPI_SUCCESS);
    return made;
  }
};

struct OfWindow {
  using Object = MPI_Win;
  static constexpr auto create_keyval = &MPI_Win_create_keyval;
  static constexpr auto free_keyval = &MPI_Win_free_keyval;
  static constexpr auto set = &MPI_Win_set_attr;
  static constexpr auto get = &MPI_Win_get_attr;
  static constexpr auto remove = &MPI_Win_delete_attr;
  static Object make() {
    Object made = MPI_WIN_NULL;
    MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
  }
  static void free(Object object) { EXPECT_EQ(MPI_Win_free(&object), MPI_SUCCESS); }
};

template <typename Kind>
class AttributeCallback : public testing::Test {};
using Kinds = testing::Types<OfComm, OfType, OfWindow>;
TYPED_TEST_SUITE(AttributeCallback, Kinds);

constexpr int many = 100;  // Enough that any list grows.

// What the functions of a key do.
template <typename Kind>
struct Meddler {
  std::vector<int> add, remove;  // Keys whose attributes the function sets and deletes.
  int free_key = MPI_KEYVAL_INVALID;
  int calls = 0;

  void run(typename Kind::Object object) {
    ++calls;
    for (const int key : add) EXPECT_EQ(Kind::set(object, key, this), MPI_SUCCESS);
    for (const int key : remove) EXPECT_EQ(Kind::remove(object, key), MPI_SUCCESS);
    remove.clear();  // Its own attribute may be among them.
    if (free_key != MPI_KEYVAL_INVALID) Kind::free_keyval(&free_key);
  }
  static int on_delete(typename Kind::Object object, int, void*, void* state) {
    static_cast<Meddler*>(state)->run(object);
    return MPI_SUCCESS;
  }
  static int on_copy(typename Kind::Object object, int, void* state, void* in, void* out,
                     int* flag) {
    static_cast<Meddler*>(state)->run(object);
    *static_cast<void**>(out) = in;
    *flag = 1;
    return MPI_SUCCESS;
  }
};

template <typename Kind>
int plain_key() {
  int key = MPI_KEYVAL_INVALID;
  Kind::create_keyval(nullptr, nullptr, &key, nullptr);
  return key;
}
template <typename Kind>
std::vector<int> plain_keys(int count) {
  std::vector<int> keys;
  for (int i = 0; i < count; ++i) keys.push_back(plain_key<Kind>());
  return keys;
}

template <typename Kind>
void* value_of(typename Kind::Object object, int key) {
  void* value = nullptr;
  int flag = 0;
  EXPECT_EQ(Kind::get(object, key, &value, &flag), MPI_SUCCESS);
  return flag ? value : nullptr;
}

TYPED_TEST(AttributeCallback, DeleteSetsOthers) {
  using Kind = TypeParam;
  run_job({1}, [](int) {
    return_errors();
    Meddler<Kind> meddler;
    meddler.add = plain_keys<Kind>(many);
    int key = MPI_KEYVAL_INVALID, one = 1, two = 2;
    Kind::create_keyval(nullptr, &Meddler<Kind>::on_delete, &key, &meddler);
    const auto object = Kind::make();
    Kind::set(object, key, &one);
    EXPECT_EQ(Kind::set(object, key, &two), MPI_SUCCESS);  // Deletes the first value.
    EXPECT_EQ(value_of<Kind>(object, key), &two);
    for (const int other : meddler.add) EXPECT_EQ(value_of<Kind>(object, other), &meddler);
    EXPECT_EQ(Kind::remove(object, key), MPI_SUCCESS);
    EXPECT_EQ(value_of<Kind>(object, key), nullptr);
    Kind::set(object, key, &one);
    meddler.add = plain_keys<Kind>(many);
    Kind::free(object);  // Deletes those that were added meanwhile, too.
    EXPECT_EQ(meddler.calls, 3);
  });
}

TYPED_TEST(AttributeCallback, DeleteRemovesOthersAndItself) {
  using Kind = TypeParam;
  run_job({1}, [](int) {
    return_errors();
    Meddler<Kind> meddler;
    const std::vector<int> others = plain_keys<Kind>(many);
    int key = MPI_KEYVAL_INVALID, one = 1, two = 2;
    Kind::create_keyval(nullptr, &Meddler<Kind>::on_delete, &key, &meddler);
    const auto object = Kind::make();
    for (const int other : others) Kind::set(object, other, &one);
    Kind::set(object, key, &one);
    meddler.remove = others;
    EXPECT_EQ(Kind::set(object, key, &two), MPI_SUCCESS);
    EXPECT_EQ(value_of<Kind>(object, key), &two);
    for (const int other : others) EXPECT_EQ(value_of<Kind>(object, other), nullptr);
    // The function is called again for the same attribute, which is gone when the first call ends.
    meddler.add.clear();
    meddler.calls = 0;
    meddler.remove = {};
    EXPECT_EQ(Kind::remove(object, key), MPI_SUCCESS);
    EXPECT_EQ(Kind::remove(object, key), MPI_ERR_KEYVAL);
    Kind::set(object, key, &one);
    meddler.free_key = key;  // The key lives until its last attribute is deleted.
    EXPECT_EQ(Kind::remove(object, key), MPI_SUCCESS);
    EXPECT_EQ(Kind::set(object, key, &one), MPI_ERR_KEYVAL);
    Kind::free(object);
  });
}

// Deletes its own attribute once more, from inside.
template <typename Kind>
struct Twice {
  int depth = 0;
  static int on_delete(typename Kind::Object object, int key, void*, void* state) {
    Twice& self = *static_cast<Twice*>(state);
    if (self.depth++ == 0) {
      EXPECT_EQ(Kind::remove(object, key), MPI_SUCCESS);
    }
    return MPI_SUCCESS;
  }
};

TYPED_TEST(AttributeCallback, DeleteOfTheSameFromInside) {
  using Kind = TypeParam;
  run_job({1}, [](int) {
    return_errors();
    for (const bool freed : {false, true}) {
      Twice<Kind> twice;
      int key = MPI_KEYVAL_INVALID, one = 1;
      Kind::create_keyval(nullptr, &Twice<Kind>::on_delete, &key, &twice);
      const auto object = Kind::make();
      const auto other = Kind::make();
      Kind::set(object, key, &one);
      Kind::set(other, key, &one);
      int copy = key;
      if (freed) Kind::free_keyval(&copy);
      EXPECT_EQ(Kind::remove(object, key), MPI_SUCCESS);
      EXPECT_EQ(twice.depth, 2);
      EXPECT_EQ(value_of<Kind>(other, key), &one);  // The key is still in use.
      EXPECT_EQ(Kind::remove(other, key), MPI_SUCCESS);
      EXPECT_EQ(Kind::set(object, key, &one), freed ? MPI_ERR_KEYVAL : MPI_SUCCESS);
      Kind::free(object);
      Kind::free(other);
    }
  });
}

// Windows are not copied.
template <typename Kind>
void copy_while_the_list_changes() {
  return_errors();
  Meddler<Kind> meddler;
  int key = MPI_KEYVAL_INVALID, one = 1;
  Kind::create_keyval(&Meddler<Kind>::on_copy, nullptr, &key, &meddler);
  int doomed = MPI_KEYVAL_INVALID;
  Meddler<Kind> watcher;
  Kind::create_keyval(&Meddler<Kind>::on_copy, nullptr, &doomed, &watcher);
  const auto object = Kind::make();
  Kind::set(object, key, &one);
  Kind::set(object, doomed, &one);
  meddler.add = plain_keys<Kind>(many);
  meddler.remove = {doomed, key};  // One that is to be copied later, and its own.
  meddler.free_key = key;
  const auto made = Kind::copy(object);
  EXPECT_EQ(meddler.calls, 1);
  EXPECT_EQ(watcher.calls, 0);
  EXPECT_EQ(value_of<Kind>(made, key), &one);
  EXPECT_EQ(value_of<Kind>(made, doomed), nullptr);
  for (const int other : meddler.add) {
    EXPECT_EQ(value_of<Kind>(object, other), &meddler);
    EXPECT_EQ(value_of<Kind>(made, other), nullptr);
  }
  Kind::free(made);
  Kind::free(object);
}

TEST(AttributeCopy, ChangesTheListItIsCopiedFrom) {
  run_job({1}, [](int) {
    copy_while_the_list_changes<OfComm>();
    copy_while_the_list_changes<OfType>();
  });
}

// The attributes of predefined types are kept in one list for all types.
int spread(MPI_Datatype, int, void*, void* state) {
  for (const MPI_Datatype type : {MPI_CHAR, MPI_SHORT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_BYTE,
                                  MPI_UNSIGNED, MPI_INT8_T, MPI_INT16_T, MPI_INT64_T}) {
    MPI_Type_set_attr(type, *static_cast<int*>(state), state);
  }
  return MPI_SUCCESS;
}

TEST(AttributeCallbackOfPredefinedType, SetsAttributesOfOthers) {
  run_job({1}, [](int) {
    int key = MPI_KEYVAL_INVALID, one = 1, two = 2;
    int plain = plain_key<OfType>();
    MPI_Type_create_keyval(nullptr, &spread, &key, &plain);
    MPI_Type_set_attr(MPI_INT, key, &one);
    EXPECT_EQ(MPI_Type_set_attr(MPI_INT, key, &two), MPI_SUCCESS);
    EXPECT_EQ(value_of<OfType>(MPI_INT, key), &two);
    EXPECT_EQ(value_of<OfType>(MPI_INT64_T, plain), &plain);
    EXPECT_EQ(MPI_Type_delete_attr(MPI_INT, key), MPI_SUCCESS);
  });
}

}  // namespace
}  // namespace weft::mpi
