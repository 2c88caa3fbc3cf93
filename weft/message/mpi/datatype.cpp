// SPDX-License-Identifier: Apache-2.0
#include "datatype.hpp"

#include <array>
#include <memory>
#include <utility>

namespace weft::mpi {

// All types that exist before the program starts. Built on first use, never changed or destroyed,
// so ranks on several threads may read it.
class PredefinedTypes {
 public:
  static const PredefinedTypes& get() {
    static const PredefinedTypes* const types = new PredefinedTypes;
    return *types;
  }

  const Datatype* find(std::uintptr_t handle) const {
    if (handle - first < types_.size()) return types_[handle - first];
    if (handle == 0xf01) return lower_marker_;
    if (handle == 0xf02) return upper_marker_;
    return nullptr;
  }

 private:
  static constexpr std::uintptr_t first = 0x200;

  PredefinedTypes() {
    for (const BasicType& basic : basic_types()) {
      Datatype* type = add(basic_shape(basic), basic.handle, basic.name);
      type->basic_ = &basic;
      types_[basic.handle - first] = type;
    }
    for (const PairType& pair : pair_types()) {
      Datatype* type = add(pair_shape(pair), pair.handle, pair.name);
      type->pair_ = &pair;
      types_[pair.handle - first] = type;
    }
    lower_marker_ = add(marker_shape(true), 0xf01, "MPI_LB");
    upper_marker_ = add(marker_shape(false), 0xf02, "MPI_UB");
  }

  static Datatype* add(Shape shape, std::uint16_t handle, const char* name) {
    auto* type = new Datatype(std::move(shape), Contents{});
    type->predefined_ = true;
    type->committed_ = true;
    type->handle_ = handle;
    type->name_ = name;
    return type;
  }

  std::array<const Datatype*, 256> types_{};
  const Datatype* lower_marker_;
  const Datatype* upper_marker_;
};

namespace {

// Handles of parameterised Fortran types are odd numbers, so they are no addresses of objects. Bit
// 0 is set, then the kind (2 bits), the precision (8) and the range (16).
constexpr int any_precision = 0xff;
constexpr int any_range = 0xffff;
constexpr std::uintptr_t fortran_handle_bits = 27;

std::uintptr_t to_number(MPI_Datatype handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

MPI_Datatype to_handle(std::uintptr_t number) {
  return reinterpret_cast<MPI_Datatype>(number);  // NOLINT(performance-no-int-to-ptr)
}

struct FortranChoice {
  int precision;
  int range;
  std::uint16_t handle;
};

constexpr std::array integer_choices = {
    FortranChoice{0, 2, 0x2c1},  FortranChoice{0, 4, 0x2c9},  FortranChoice{0, 9, 0x2d1},
    FortranChoice{0, 18, 0x2d9}, FortranChoice{0, 38, 0x2e1},
};
constexpr bool extended_long_double = __LDBL_MANT_DIG__ == 64;  // x86: a format of its own.
constexpr std::array real_choices = {
    FortranChoice{6, 37, 0x2d2},
    FortranChoice{15, 307, 0x2da},
    FortranChoice{extended_long_double ? 18 : 15, extended_long_double ? 4931 : 307, 0x220},
    FortranChoice{33, 4931, 0x2e2},
};
constexpr std::array complex_choices = {
    FortranChoice{6, 37, 0x2db},
    FortranChoice{15, 307, 0x2e3},
    FortranChoice{extended_long_double ? 18 : 15, extended_long_double ? 4931 : 307, 0x224},
    FortranChoice{33, 4931, 0x2eb},
};

// The handle of the predefined type with the requested digits, or 0.
std::uint16_t choose(const FortranType& type) {
  std::span<const FortranChoice> choices = integer_choices;
  if (type.kind == FortranKind::real) choices = real_choices;
  if (type.kind == FortranKind::complex) choices = complex_choices;
  for (const FortranChoice& choice : choices) {
    const bool precise = type.precision == MPI_UNDEFINED || type.precision <= choice.precision;
    const bool wide = type.range == MPI_UNDEFINED || type.range <= choice.range;
    if (precise && wide) return choice.handle;
  }
  return 0;
}

}  // namespace

Datatype::Datatype(Shape shape, Contents contents)
    : shape_(std::move(shape)), contents_(std::move(contents)) {
  for (const MPI_Datatype handle : contents_.types) find_type(handle)->retain();
}

Datatype::~Datatype() {
  for (const MPI_Datatype handle : contents_.types) release(find_type(handle));
  life_ = 0;
}

Datatype* Datatype::make(Shape shape, Contents contents) {
  return new Datatype(std::move(shape), std::move(contents));
}

std::string Datatype::too_many(std::int64_t count) const {
  return std::to_string(count) + " elements of " + std::to_string(size()) +
         " bytes are more than can be counted";
}

bool Datatype::contiguous(std::int64_t count) const {
  if (shape_.layout == nullptr) return true;
  return shape_.layout->kind == Layout::Kind::block && (count <= 1 || extent() == size());
}

void Datatype::pack(const void* buffer, std::int64_t count, std::int64_t from,
                    std::span<std::byte> out) const {
  gather_bytes({shape_.layout.get(), reinterpret_cast<std::uintptr_t>(buffer), count, extent()},
               from, out);
}

void Datatype::unpack(void* buffer, std::int64_t count, std::int64_t from,
                      std::span<const std::byte> in) const {
  scatter_bytes({shape_.layout.get(), reinterpret_cast<std::uintptr_t>(buffer), count, extent()},
                from, in);
}

std::optional<std::int64_t> Datatype::elements_in(std::int64_t bytes) const {
  return mpi::elements_in(shape_.signature, bytes);
}

std::int64_t Datatype::bytes_of(std::int64_t elements) const {
  return mpi::bytes_of(shape_.signature, elements);
}

const Datatype* Datatype::uniform() const {
  return shape_.uniform == 0 ? nullptr : PredefinedTypes::get().find(shape_.uniform);
}

void Datatype::retain() const {
  if (!predefined_) references_.fetch_add(1, std::memory_order_relaxed);
}

void Datatype::release(const Datatype* type) {
  if (type->predefined_) return;
  if (type->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete type;
}

MPI_Datatype Datatype::handle() const {
  if (predefined_) return to_handle(handle_);
  return reinterpret_cast<MPI_Datatype>(const_cast<Datatype*>(this));
}

const Datatype* find_type(MPI_Datatype handle) {
  const std::uintptr_t number = to_number(handle);
  if (number < 0x1000) return PredefinedTypes::get().find(number);
  if (number % 2 != 0) {
    const auto fortran = find_fortran_type(handle);
    return fortran ? PredefinedTypes::get().find(choose(*fortran)) : nullptr;
  }
  if (number % alignof(Datatype) != 0) return nullptr;
  const auto* type = reinterpret_cast<const Datatype*>(handle);
  return type->life_ == Datatype::alive ? type : nullptr;
}

Datatype* find_derived_type(MPI_Datatype handle) {
  const Datatype* type = find_type(handle);
  return type == nullptr || type->predefined() ? nullptr : const_cast<Datatype*>(type);
}

MPI_Datatype fortran_type_handle(const FortranType& type) {
  if (choose(type) == 0) return MPI_DATATYPE_NULL;
  const auto precision =
      static_cast<std::uintptr_t>(type.precision == MPI_UNDEFINED ? any_precision : type.precision);
  const auto range =
      static_cast<std::uintptr_t>(type.range == MPI_UNDEFINED ? any_range : type.range);
  const auto kind = static_cast<std::uintptr_t>(type.kind);
  return to_handle(std::uintptr_t{1} << fortran_handle_bits | range << 11 | precision << 3 |
                   kind << 1 | 1);
}

std::optional<FortranType> find_fortran_type(MPI_Datatype handle) {
  const std::uintptr_t number = to_number(handle);
  const auto kind = number >> 1 & 3;
  if (number % 2 == 0 || number >> fortran_handle_bits != 1 || kind > 2) return std::nullopt;
  const auto precision = static_cast<int>(number >> 3 & any_precision);
  const auto range = static_cast<int>(number >> 11 & any_range);
  return FortranType{static_cast<FortranKind>(kind),
                     precision == any_precision ? MPI_UNDEFINED : precision,
                     range == any_range ? MPI_UNDEFINED : range};
}

}  // namespace weft::mpi
