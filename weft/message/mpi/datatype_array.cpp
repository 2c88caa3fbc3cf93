// SPDX-License-Identifier: Apache-2.0
// Shapes of subarrays and distributed arrays: dimension by dimension, the fastest first.
#include <algorithm>

#include <weft/message/mpi/datatype_shape.hpp>

namespace weft::mpi {
namespace {

// The share of one process in one dimension, with elements a stride apart.
std::optional<Shape> share(const Shape& inner, const Distribution& dimension, Wide stride) {
  ShapeBuilder builder;
  const std::int64_t size = dimension.size;
  if (dimension.kind == MPI_DISTRIBUTE_NONE) {
    builder.add(inner, 0, size, stride);
    return builder.finish();
  }
  const Wide start = static_cast<Wide>(dimension.coordinate) * dimension.block;
  if (start >= size) return builder.finish();
  const auto rest = static_cast<std::int64_t>(size - start);
  if (dimension.kind == MPI_DISTRIBUTE_BLOCK) {
    builder.add(inner, start * stride, std::min(rest, dimension.block), stride);
    return builder.finish();
  }
  // Blocks are distributed cyclically; the last one may be short.
  const Wide round = static_cast<Wide>(dimension.processes) * dimension.block;
  const auto whole =
      static_cast<std::int64_t>(rest < dimension.block ? 0 : (rest - dimension.block) / round + 1);
  const Wide tail_start = whole * round;
  ShapeBuilder block_builder;
  block_builder.add(inner, 0, std::min(rest, dimension.block), stride);
  const auto block = block_builder.finish();
  if (!block) return std::nullopt;
  if (whole > 0) builder.add(*block, start * stride, whole, round * stride);
  if (tail_start < rest) {
    const auto tail = static_cast<std::int64_t>(rest - tail_start);
    builder.add(inner, (start + tail_start) * stride, std::min(tail, dimension.block), stride);
  }
  return builder.finish();
}

// Sets the bounds to those of the whole array, so that elements of the new type follow each other.
std::optional<Shape> whole_array(const Shape& part, Wide extent) {
  if (extent != static_cast<Wide>(static_cast<std::int64_t>(extent))) return std::nullopt;
  return resized_shape(part, 0, static_cast<std::int64_t>(extent));
}

bool too_large(Wide value) {
  return value != static_cast<Wide>(static_cast<std::int64_t>(value));
}

}  // namespace

std::optional<Shape> subarray_shape(const Shape& old, const Subarray& array) {
  const std::size_t dimensions = array.sizes.size();
  std::optional<Shape> shape = old;
  Wide stride = old.extent();
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t d = array.fortran ? i : dimensions - 1 - i;
    ShapeBuilder builder;
    builder.add(*shape, array.starts[d] * stride, array.subsizes[d], stride);
    shape = builder.finish();
    stride *= array.sizes[d];
    if (!shape || too_large(stride)) return std::nullopt;
  }
  return whole_array(*shape, stride);
}

std::optional<Shape> darray_shape(const Shape& old, std::span<const Distribution> dimensions,
                                  bool fortran) {
  std::optional<Shape> shape = old;
  Wide stride = old.extent();
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Distribution& dimension = dimensions[fortran ? i : dimensions.size() - 1 - i];
    shape = share(*shape, dimension, stride);
    stride *= dimension.size;
    if (!shape || too_large(stride)) return std::nullopt;
  }
  return whole_array(*shape, stride);
}

}  // namespace weft::mpi
