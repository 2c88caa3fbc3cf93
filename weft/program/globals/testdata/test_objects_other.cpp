// SPDX-License-Identifier: Apache-2.0
// The second file of this test program.
#include "test_objects.hpp"

namespace {

struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
};
Counted here(3);
const bool filled = (shared_list.push_back(-1), true);

}  // namespace

Shape* make_square(int side) {
  return new Square(side);
}
std::string& name_of_run() {
  static std::string name = "run";
  return name;
}
int other_file_alive() {
  return filled ? Counted::alive : 0;
}
