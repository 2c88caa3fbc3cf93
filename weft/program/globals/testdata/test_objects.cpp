// SPDX-License-Identifier: Apache-2.0
// C++ globals: constructors, function-local objects, templates, inline variables, exceptions.
#include "test_objects.hpp"

#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace {

int construction_rank = globals_test_rank() + 1000;  // Runs inside the rank.
Counted first(1);
Counted second(first.value + 1);
std::vector<std::string> words = {"one", "two", "three"};
std::unique_ptr<Shape> shape(make_square(4));
const std::function<int()> constant_function = [] { return construction_rank; };

struct Problem {  // Unnamed outside this file, so recognised by address alone.
  int rank;
};
struct Constant : Shape {
  int number = 5;
  int area() const override { return number; }
};
constinit Constant constant_shape;  // A vtable pointer in initialised data.

Counted& local_object() {
  static Counted object(globals_test_rank());
  return object;
}

int guarded(int rank) {
  try {
    globals_test_yield();
    if (rank % 2 == 0) throw Problem{rank};
    throw std::runtime_error("rank " + std::to_string(rank));
  } catch (const Problem& problem) {
    globals_test_yield();  // Other ranks are inside their own handlers at the same time.
    return problem.rank;
  } catch (const std::exception& error) {
    globals_test_yield();
    try {
      throw std::logic_error("inner");
    } catch (const std::logic_error&) {
      globals_test_yield();
    }
    CHECK(error.what() == "rank " + std::to_string(rank));
    CHECK(std::uncaught_exceptions() == 0 && std::current_exception() != nullptr);
    return rank;
  }
}

void check_initial(int rank) {
  CHECK(construction_rank == rank + 1000 && first.value == 1 && second.value == 2);
  CHECK(Counted::alive == 3 && other_file_alive() == 3);
  CHECK(words.size() == 3 && words[2] == "three" && shared_list.size() == 1);
  CHECK(shape->area() == 16 && dynamic_cast<Constant*>(shape.get()) == nullptr);
  Shape* abstract = &constant_shape;
  CHECK(abstract->area() == 5 && dynamic_cast<Constant*>(abstract) == &constant_shape);
  CHECK(constant_function() == rank + 1000 && name_of_run() == "run");
  CHECK(Cache<int>::entries.empty() && Cache<std::string>::last == nullptr);
}

}  // namespace

int main() {
  const int rank = globals_test_rank();
  check_initial(rank);
  globals_test_yield();
  words.push_back(std::to_string(rank));
  shared_list.push_back(rank);
  constant_shape.number = rank;
  Cache<int>::entries[rank] = rank;
  Cache<int>::last = &Cache<int>::entries[rank];
  name_of_run() += std::to_string(rank);
  CHECK(std::cout.precision() == 6 && std::cout.good() && std::cerr.tie() == &std::cout);
  std::cout.precision(rank + 1);
  globals_test_yield();
  CHECK(std::cout.precision() == rank + 1);
  CHECK(local_object().value == rank && Counted::alive == 4);
  globals_test_yield();
  CHECK(words.size() == 4 && words[3] == std::to_string(rank) && shared_list.size() == 2);
  CHECK(Cache<int>::entries.size() == 1 && *Cache<int>::last == rank);
  CHECK(name_of_run() == "run" + std::to_string(rank) && constant_shape.area() == rank);
  CHECK(guarded(rank) == rank && guarded(rank + 1) == rank + 1);
  CHECK(std::current_exception() == nullptr);
  if (rank == 0) std::cout << "hello from rank 0\n" << std::flush;
  return 0;
}
