// SPDX-License-Identifier: Apache-2.0
// Classes that both files of this test program use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "test_program.h"

struct Counted {
  static inline int alive = 0;  // An inline variable: one for both files.
  int value;
  explicit Counted(int v) : value(v) { ++alive; }
  ~Counted() {
    --alive;
    globals_test_note();
  }
};

template <typename T>
struct Cache {
  static std::map<int, T> entries;
  static T* last;
};
template <typename T>
std::map<int, T> Cache<T>::entries;
template <typename T>
T* Cache<T>::last = nullptr;

inline std::vector<int> shared_list;

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
Shape* make_square(int side);
std::string& name_of_run();
int other_file_alive();
