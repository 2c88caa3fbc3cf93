// SPDX-License-Identifier: Apache-2.0
#include "op_kernel.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <weft/message/mpi/datatype_number.hpp>

namespace weft::mpi {
namespace {

__extension__ using Unsigned128 = unsigned __int128;

template <typename T>
struct Complex {
  T real;
  T imaginary;
};

template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

template <typename T>
constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, Signed128>;

// Integers whose sums and products wrap instead of being undefined, and are not promoted to int.
template <typename T>
struct Wrapping {
  using Type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <>
struct Wrapping<Signed128> {
  using Type = Unsigned128;
};

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>) {
      using Wide = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    } else {
      return a + b;
    }
  }
  template <typename T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
};

struct Product {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (is_integer<T>) {
      using Wide = typename Wrapping<T>::Type;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    } else {
      return a * b;
    }
  }
  template <typename T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
};

struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? a : b;
  }
};

struct BitAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

template <typename T>
bool is_true(T value) {
  return static_cast<bool>(value);
}

// Any value but zero is true; the result is one or zero.
struct LogicalAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(is_true(a) && is_true(b));
  }
};

struct LogicalOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(is_true(a) || is_true(b));
  }
};

struct LogicalXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(is_true(a) != is_true(b));
  }
};

// For equal values the smaller index wins.
struct MinimumWithIndex {
  template <typename Value, typename Index>
  Pair<Value, Index> operator()(Pair<Value, Index> a, Pair<Value, Index> b) const {
    if (a.value < b.value || (a.value == b.value && a.index < b.index)) return a;
    return b;
  }
};

struct MaximumWithIndex {
  template <typename Value, typename Index>
  Pair<Value, Index> operator()(Pair<Value, Index> a, Pair<Value, Index> b) const {
    if (b.value < a.value || (a.value == b.value && a.index < b.index)) return a;
    return b;
  }
};

// memcpy avoids problems with alignment and with the declared types of the program's memory; the
// compiler turns it into vector loads.
template <typename Operator, typename T>
void run(const void* in, void* inout, std::int64_t count) {
  const auto* __restrict left = static_cast<const std::byte*>(in);
  auto* __restrict right = static_cast<std::byte*>(inout);
  constexpr Operator combine;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = i * static_cast<std::int64_t>(sizeof(T));
    T a;
    T b;
    std::memcpy(&a, left + at, sizeof(T));
    std::memcpy(&b, right + at, sizeof(T));
    b = combine(a, b);
    std::memcpy(right + at, &b, sizeof(T));
  }
}

template <typename Operator>
Kernel integer(Element element) {
  switch (element) {
    case Element::signed8:
      return &run<Operator, std::int8_t>;
    case Element::signed16:
      return &run<Operator, std::int16_t>;
    case Element::signed32:
      return &run<Operator, std::int32_t>;
    case Element::signed64:
      return &run<Operator, std::int64_t>;
    case Element::signed128:
      return &run<Operator, Signed128>;
    case Element::unsigned8:
      return &run<Operator, std::uint8_t>;
    case Element::unsigned16:
      return &run<Operator, std::uint16_t>;
    case Element::unsigned32:
      return &run<Operator, std::uint32_t>;
    case Element::unsigned64:
      return &run<Operator, std::uint64_t>;
    default:
      return nullptr;
  }
}

template <typename Operator>
Kernel real(Element element) {
  switch (element) {
    case Element::real16:
      return &run<Operator, Half>;
    case Element::real32:
      return &run<Operator, float>;
    case Element::real64:
      return &run<Operator, double>;
    case Element::real_long:
      return &run<Operator, long double>;
    case Element::real128:
      return &run<Operator, Real128>;
    default:
      return integer<Operator>(element);
  }
}

template <typename Operator>
Kernel complex_or_real(Element element) {
  switch (element) {
    case Element::complex16:
      return &run<Operator, Complex<Half>>;
    case Element::complex32:
      return &run<Operator, Complex<float>>;
    case Element::complex64:
      return &run<Operator, Complex<double>>;
    case Element::complex_long:
      return &run<Operator, Complex<long double>>;
    case Element::complex128:
      return &run<Operator, Complex<Real128>>;
    default:
      return real<Operator>(element);
  }
}

template <typename Operator>
Kernel bits(Element element) {
  return element == Element::byte ? &run<Operator, std::uint8_t> : integer<Operator>(element);
}

// The standard defines these for logical values and C integers. Other numbers are accepted too, as
// in other libraries.
template <typename Operator>
Kernel truth(Element element) {
  switch (element) {
    case Element::boolean:
      return &run<Operator, std::uint8_t>;
    case Element::logical8:
      return &run<Operator, std::int8_t>;
    case Element::logical16:
      return &run<Operator, std::int16_t>;
    case Element::logical32:
      return &run<Operator, std::int32_t>;
    case Element::logical64:
      return &run<Operator, std::int64_t>;
    case Element::logical128:
      return &run<Operator, Signed128>;
    default:
      return real<Operator>(element);
  }
}

template <typename Operator>
Kernel with_index(std::uint16_t pair) {
  switch (pair) {
    case 0x228:
      return &run<Operator, Pair<float, int>>;
    case 0x229:
      return &run<Operator, Pair<double, int>>;
    case 0x22a:
      return &run<Operator, Pair<long, int>>;
    case 0x22b:
    case 0x232:
      return &run<Operator, Pair<int, int>>;
    case 0x22c:
      return &run<Operator, Pair<short, int>>;
    case 0x22d:
      return &run<Operator, Pair<long double, int>>;
    case 0x230:
      return &run<Operator, Pair<float, float>>;
    case 0x231:
      return &run<Operator, Pair<double, double>>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel find_kernel(std::uint16_t op, const Datatype& type) {
  if (type.pair() != nullptr) {
    if (op == 0x38) return with_index<MinimumWithIndex>(type.pair()->handle);
    if (op == 0x39) return with_index<MaximumWithIndex>(type.pair()->handle);
    return nullptr;
  }
  if (type.basic() == nullptr) return nullptr;
  const Element element = type.basic()->element;
  switch (op) {
    case 0x21:
      return complex_or_real<Sum>(element);
    case 0x22:
      return real<Minimum>(element);
    case 0x23:
      return real<Maximum>(element);
    case 0x24:
      return complex_or_real<Product>(element);
    case 0x28:
      return bits<BitAnd>(element);
    case 0x29:
      return bits<BitOr>(element);
    case 0x2a:
      return bits<BitXor>(element);
    case 0x30:
      return truth<LogicalAnd>(element);
    case 0x31:
      return truth<LogicalOr>(element);
    case 0x32:
      return truth<LogicalXor>(element);
    default:
      return nullptr;
  }
}

}  // namespace weft::mpi
