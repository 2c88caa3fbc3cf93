// SPDX-License-Identifier: Apache-2.0
#include "datatype_shape.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::mpi {
namespace {

constexpr Wide largest = std::numeric_limits<std::int64_t>::max();
constexpr Wide smallest = std::numeric_limits<std::int64_t>::min();

bool fits(Wide value) {
  return smallest <= value && value <= largest;
}

SignatureRef basic_signature(const BasicType* type, std::int64_t elements) {
  auto signature = std::make_shared<Signature>();
  signature->elements = elements;
  signature->bytes = elements * type->size;
  signature->basic = type;
  return signature;
}

SignatureRef join_signatures(std::vector<Signature::Part> parts) {
  if (parts.empty()) return nullptr;
  if (parts.size() == 1 && parts[0].count == 1) return parts[0].signature;
  auto signature = std::make_shared<Signature>();
  const BasicType* basic = parts[0].signature->basic;
  for (const Signature::Part& part : parts) {
    signature->elements += part.count * part.signature->elements;
    signature->bytes += part.count * part.signature->bytes;
    if (part.signature->basic != basic) basic = nullptr;
  }
  signature->basic = basic;
  if (basic == nullptr) signature->parts = std::move(parts);
  return signature;
}

}  // namespace

// Recursion is as deep as the datatype is nested.
std::optional<std::int64_t> elements_in(  // NOLINT(misc-no-recursion)
    const SignatureRef& signature, std::int64_t bytes) {
  if (bytes == 0) return 0;
  if (signature == nullptr) return std::nullopt;
  const std::int64_t rest = bytes % signature->bytes;
  std::int64_t elements = bytes / signature->bytes * signature->elements;
  if (rest == 0) return elements;
  if (signature->basic != nullptr) {
    if (rest % signature->basic->size != 0) return std::nullopt;
    return elements + rest / signature->basic->size;
  }
  std::int64_t left = rest;
  for (const Signature::Part& part : signature->parts) {
    const std::int64_t here = std::min(left, part.count * part.signature->bytes);
    const auto inner = elements_in(part.signature, here);
    if (!inner) return std::nullopt;
    elements += *inner;
    left -= here;
    if (left == 0) break;
  }
  return elements;
}

std::int64_t bytes_of(const SignatureRef& signature,  // NOLINT(misc-no-recursion)
                      std::int64_t elements) {
  if (signature == nullptr || elements == 0) return 0;
  std::int64_t bytes = elements / signature->elements * signature->bytes;
  std::int64_t left = elements % signature->elements;
  if (signature->basic != nullptr) return bytes + left * signature->basic->size;
  for (const Signature::Part& part : signature->parts) {
    const std::int64_t here = std::min(left, part.count * part.signature->elements);
    bytes += bytes_of(part.signature, here);
    left -= here;
    if (left == 0) break;
  }
  return bytes;
}

Shape basic_shape(const BasicType& type) {
  Shape shape;
  shape.size = shape.upper = shape.true_upper = type.size;
  shape.alignment = type.alignment;
  shape.uniform = type.handle;
  shape.layout = block_layout(0, type.size);
  shape.signature = basic_signature(&type, 1);
  return shape;
}

Shape pair_shape(const PairType& type) {
  ShapeBuilder builder;
  builder.add(basic_shape(*find_basic(type.value)), 0, 1);
  builder.add(basic_shape(*find_basic(type.index)), type.index_offset, 1);
  Shape shape = *builder.finish();
  shape.uniform = type.handle;
  return shape;
}

Shape marker_shape(bool lower) {
  Shape shape;
  shape.lower_marked = lower;
  shape.upper_marked = !lower;
  return shape;
}

std::optional<Shape> resized_shape(const Shape& old, std::int64_t lower, std::int64_t extent) {
  Shape shape = old;
  shape.lower = lower;
  if (__builtin_add_overflow(lower, extent, &shape.upper)) return std::nullopt;
  shape.lower_marked = true;
  shape.upper_marked = true;
  return shape;
}

void ShapeBuilder::Range::include(Wide from, Wide to) {
  low = any ? std::min(low, from) : from;
  high = any ? std::max(high, to) : to;
  any = true;
}

void ShapeBuilder::add(const Shape& shape, Wide offset, std::int64_t count, Wide step) {
  if (count == 0 || too_large_) return;
  const Wide reach = (count - 1) * step;
  const Wide size = static_cast<Wide>(shape.size) * count;
  size_ += size;
  if (!fits(offset) || !fits(step) || !fits(reach) || !fits(offset + reach) || !fits(size_)) {
    too_large_ = true;
    return;
  }
  add_bounds(shape, std::min(offset, offset + reach), std::max(offset, offset + reach));
  if (shape.layout == nullptr) return;
  if (!data_.any || !fits(data_.low) || !fits(data_.high)) {
    too_large_ = true;
    return;
  }
  layout_.add(static_cast<std::int64_t>(offset),
              repeat_layout(shape.layout, count, static_cast<std::int64_t>(step)));
  add_signature(shape, count);
}

void ShapeBuilder::add_bounds(const Shape& shape, Wide first, Wide last) {
  if (shape.lower_marked) lower_marks_.include(first + shape.lower, last + shape.lower);
  if (shape.upper_marked) upper_marks_.include(first + shape.upper, last + shape.upper);
  if (shape.layout == nullptr) return;
  data_.include(first + shape.true_lower, last + shape.true_upper);
  shape_.alignment = std::max(shape_.alignment, shape.alignment);
}

void ShapeBuilder::add_signature(const Shape& shape, std::int64_t count) {
  if (signatures_.empty() && !mixed_) shape_.uniform = shape.uniform;
  if (shape_.uniform != shape.uniform) mixed_ = true;
  if (mixed_) shape_.uniform = 0;
  if (!signatures_.empty() && signatures_.back().signature == shape.signature) {
    signatures_.back().count += count;
    return;
  }
  // Numbers of one kind need one entry, however many datatypes they came from.
  const BasicType* basic = shape.signature->basic;
  if (!signatures_.empty() && basic != nullptr && signatures_.back().signature->basic == basic) {
    const Signature::Part& last = signatures_.back();
    const std::int64_t elements =
        last.count * last.signature->elements + count * shape.signature->elements;
    signatures_.back() = {1, basic_signature(basic, elements)};
    return;
  }
  signatures_.push_back({count, shape.signature});
}

std::optional<Shape> ShapeBuilder::finish() {
  Shape shape = shape_;
  if (too_large_) return std::nullopt;
  Wide lower = data_.low;
  Wide upper = data_.high;
  if (!data_.any) {
    lower = lower_marks_.any ? lower_marks_.low : upper_marks_.high;
    upper = upper_marks_.any ? upper_marks_.high : lower_marks_.low;
  }
  if (lower_marks_.any) lower = lower_marks_.low;
  if (upper_marks_.any) {
    upper = upper_marks_.high;
  } else if (data_.any && upper > lower) {
    // The padding that a compiler would add to a structure.
    const Wide over = (upper - lower) % shape.alignment;
    if (over != 0) upper += shape.alignment - over;
  }
  if (!fits(lower) || !fits(upper) || !fits(upper - lower)) return std::nullopt;
  shape.size = static_cast<std::int64_t>(size_);
  shape.lower = static_cast<std::int64_t>(lower);
  shape.upper = static_cast<std::int64_t>(upper);
  shape.true_lower = static_cast<std::int64_t>(data_.low);
  shape.true_upper = static_cast<std::int64_t>(data_.high);
  shape.lower_marked = lower_marks_.any;
  shape.upper_marked = upper_marks_.any;
  shape.layout = layout_.finish();
  shape.signature = join_signatures(std::move(signatures_));
  return shape;
}

}  // namespace weft::mpi
