// SPDX-License-Identifier: Apache-2.0
// For tests only: buffers whose values follow from their positions, of a type with or without gaps.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

constexpr int untouched = -77;

// The number that rank `from` has for rank `to`.
inline int number(int from, int to, int place) {
  return from * 10000 + to * 100 + place;
}

// Elements of two integers; with gaps, an element is (value, gap, value) and then a gap.
class TestType {
 public:
  explicit TestType(bool gaps) : step_(gaps ? 4 : 2), second_(gaps ? 2 : 1) {
    if (!gaps) {
      MPI_Type_contiguous(2, MPI_INT, &type_);
    } else {
      MPI_Datatype narrow = MPI_DATATYPE_NULL;
      MPI_Type_vector(2, 1, 2, MPI_INT, &narrow);
      MPI_Type_create_resized(narrow, 0, 4 * sizeof(int), &type_);
      MPI_Type_free(&narrow);
    }
    MPI_Type_commit(&type_);
  }
  ~TestType() { MPI_Type_free(&type_); }
  TestType(const TestType&) = delete;
  TestType& operator=(const TestType&) = delete;

  MPI_Datatype get() const { return type_; }
  std::vector<int> buffer(int elements) const {
    return std::vector<int>(static_cast<std::size_t>(elements * step_), untouched);
  }
  // Integer i of the elements.
  int& at(std::vector<int>& data, int i) const {
    return data[static_cast<std::size_t>(i / 2 * step_ + (i % 2) * second_)];
  }
  // Elements [first, first + count) of what `from` has for `to`.
  void fill(std::vector<int>& data, int first, int count, int from, int to) const {
    for (int i = 0; i < 2 * count; ++i) at(data, 2 * first + i) = number(from, to, i);
  }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int step_, second_;
};

}  // namespace weft::mpi
