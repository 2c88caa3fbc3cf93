// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <weft/study/map/draws.hpp>
#include <weft/study/map/linear.hpp>
#include <weft/study/map/power.hpp>

namespace weft::map {

namespace {

std::vector<std::uint32_t> primes_of(std::uint32_t n) {
  std::vector<std::uint32_t> primes;
  for (std::uint32_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) primes.push_back(p);
  }
  if (n > 1) primes.push_back(n);
  return primes;
}

std::vector<std::uint32_t> primes_of(std::span<const std::uint32_t> numbers) {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t n : numbers)
    for (const std::uint32_t p : primes_of(n)) all.push_back(p);
  std::sort(all.begin(), all.end());
  return all;
}

// By position in a sequence where each number differs from the one before by one digit's step:
// what plain number has the digits of this one, taken as such a code?
std::vector<std::uint32_t> decode(std::uint32_t radix) {
  const std::vector<std::uint32_t> primes = primes_of(radix);
  std::vector<std::uint32_t> plain(radix);
  for (std::uint32_t code = 0; code < radix; ++code) {
    std::uint32_t weight = radix;
    std::uint32_t rest = code;
    std::uint32_t number = 0;
    for (auto p = primes.rbegin(); p != primes.rend(); ++p) {
      weight /= *p;
      const std::uint32_t digit = rest / weight;
      rest %= weight;
      number = number * *p + (number % 2 == 1 ? *p - 1 - digit : digit);
    }
    plain[code] = number;
  }
  return plain;
}

}  // namespace

bool LinearSearch::fits(const Problem& problem, const Numbering& numbering) {
  if (!QuickJudge::fits(problem) || !problem.whole() || problem.any_fixed()) return false;
  const std::array<std::uint32_t, 1> slots{problem.slots()};
  const auto primes = primes_of(slots);
  return numbering.order.size() == problem.slots() && primes.back() < 256 &&
         primes_of(numbering.sides) == primes && primes.size() > 1;
}

LinearSearch::LinearSearch(const Problem& problem, const Objective& objective,
                           const Numbering& numbering, Start start, Rng rng)
    : problem_(problem), judge_(problem, objective), numbering_(numbering), rng_(rng) {
  add_axes();
  add_sides();
  prepare_codes();
  map_.resize(problem.slots());
  slot_.resize(problem.slots());
  begin(start);
}

void LinearSearch::add_sides() {
  std::uint32_t weight = 1;
  for (const std::uint32_t length : numbering_.sides) {
    const auto side = static_cast<std::uint32_t>(sides_.size());
    Side made{length, weight, std::vector<std::uint32_t>(length)};
    const std::vector<std::uint32_t> plain = decode(length);
    for (std::uint32_t code = 0; code < length; ++code) made.coded[plain[code]] = code;
    sides_.push_back(std::move(made));
    for (const std::uint32_t p : primes_of(length)) {
      from_.push_back({p, weight, side});
      weight *= p;
    }
  }
}

// Sides on axes of their own length; of what is left, the n-th digit of a prime here as the n-th
// there.
void LinearSearch::begin(Start start) {
  const std::size_t n = to_.size();
  form_.matrix.assign(n * n, 0);
  form_.parity.assign(n, 0);
  std::vector<bool> side_used(sides_.size(), false);
  std::vector<bool> row_used(n, false);
  std::vector<bool> column_used(n, false);
  const auto pair_up = [&](auto allowed) {
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t c = 0; c < n && !row_used[row]; ++c) {
        if (column_used[c] || from_[c].prime != to_[row].prime || !allowed(row, c)) continue;
        row_used[row] = column_used[c] = true;
        form_.matrix[row * n + c] = 1;
      }
    }
  };
  for (std::uint32_t a = 0; a < axes_.size(); ++a) {
    for (std::uint32_t s = 0; s < sides_.size(); ++s) {
      if (side_used[s] || sides_[s].length != axes_[a].radix || sides_[s].length == 1) continue;
      side_used[s] = true;
      pair_up(
          [&](std::size_t row, std::size_t c) { return to_[row].axis == a && from_[c].axis == s; });
      break;
    }
  }
  pair_up([](std::size_t, std::size_t) { return true; });
  best_value_ = value_ = QuickJudge::too_much;
  Form form = form_;
  for (const bool folded : {false, true}) {
    for (const bool gray : {false, true}) {
      form.gray.assign(axes_.size(), gray);
      form.folded.assign(sides_.size(), folded);
      build(form);
      const double value = judge_.value(map_, QuickJudge::too_much);
      if (value >= best_value_) continue;
      best_value_ = value_ = value;
      best_ = map_;
      best_form_ = form;
      if (start == Start::plain) {
        form_ = best_form_;
        return;
      }
    }
  }
  form_ = best_form_;
}

void LinearSearch::fold(const Form& form) {
  if (folded_ == form.folded && !number_.empty()) return;
  folded_ = form.folded;
  number_.resize(problem_.slots());
  for (std::uint32_t i = 0; i < number_.size(); ++i) {
    std::uint32_t number = 0;
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      const Side& side = sides_[s];
      const std::uint32_t x = i / side.stride % side.length;
      number += (folded_[s] ? side.coded[x] : x) * side.stride;
    }
    number_[i] = number;
  }
}

void LinearSearch::add_axes() {
  const Lattice& lattice = *problem_.topology().shape->lattice();
  // Places on a node, and nodes at a router, are an axis of their own, in which nothing costs.
  const std::uint32_t routers = problem_.topology().graph.router_count();
  std::vector<std::uint32_t> radices = {problem_.slots() / routers};
  for (const int radix : lattice.radix) radices.push_back(static_cast<std::uint32_t>(radix));
  std::uint32_t weight = 1;
  for (const std::uint32_t radix : radices) {
    const auto axis = static_cast<std::uint32_t>(axes_.size());
    axes_.push_back({radix, weight, decode(radix)});
    for (const std::uint32_t p : primes_of(radix)) {
      to_.push_back({p, weight, axis});
      weight *= p;
    }
  }
}

void LinearSearch::prepare_codes() {
  bits_ = std::all_of(to_.begin(), to_.end(), [](const Digit& d) { return d.prime == 2; });
  code_.assign(problem_.slots(), 0);
  if (!bits_) digits_.assign(problem_.slots() * to_.size(), 0);
  steps_.push_back({0, 0});
  for (std::uint32_t i = 1; i < problem_.slots(); ++i) {
    std::uint32_t digit = 0;
    while (i / from_[digit].weight % from_[digit].prime == 0) ++digit;
    steps_.push_back({i - from_[digit].weight, digit});
  }
}

void LinearSearch::multiply_bits(const Form& form) {
  const std::size_t n = to_.size();
  std::vector<std::uint32_t> column(n, 0);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t c = 0; c < n; ++c)
      column[c] |= form.matrix[row * n + c] != 0 ? to_[row].weight : 0;
  for (std::uint32_t i = 1; i < code_.size(); ++i)
    code_[i] = code_[steps_[i].before] ^ column[steps_[i].digit];
}

void LinearSearch::multiply(const Form& form) {
  const std::size_t n = to_.size();
  for (std::uint32_t i = 1; i < code_.size(); ++i) {
    const std::uint8_t* const before = &digits_[steps_[i].before * n];
    std::uint8_t* const made = &digits_[i * n];
    std::uint32_t code = 0;
    for (std::size_t row = 0; row < n; ++row) {
      const std::uint32_t sum = before[row] + std::uint32_t{form.matrix[row * n + steps_[i].digit]};
      const std::uint32_t digit = sum >= to_[row].prime ? sum - to_[row].prime : sum;
      made[row] = static_cast<std::uint8_t>(digit);
      code += digit * to_[row].weight;
    }
    code_[i] = code;
  }
}

void LinearSearch::build(const Form& form) {
  bits_ ? multiply_bits(form) : multiply(form);
  const std::size_t n = to_.size();
  std::uint32_t mask = 0;
  for (std::size_t row = 0; row < n; ++row) mask |= form.parity[row] != 0 ? to_[row].weight : 0;
  for (std::uint32_t i = 0; i < code_.size(); ++i) {
    std::uint32_t odd = 0;
    if (bits_)
      odd = static_cast<std::uint32_t>(std::popcount(code_[i] & mask));
    else if (form.shift != 0)
      for (std::size_t row = 0; row < n; ++row) odd += form.parity[row] * digits_[i * n + row];
    std::uint32_t placed = 0;
    std::uint32_t rest = code_[i];
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Axis& axis = axes_[a];
      std::uint32_t x = bits_ ? rest & (axis.radix - 1) : rest % axis.radix;
      rest = bits_ ? rest >> std::countr_zero(axis.radix) : rest / axis.radix;
      if (form.gray[a]) x = axis.decoded[x];
      if (a == form.shifted && form.shift != 0 && odd % 2 == 1) {
        x += form.shift;
        if (x >= axis.radix) x -= axis.radix;
      }
      placed += x * axis.stride;
    }
    slot_[i] = placed;
  }
  fold(form);
  for (std::uint32_t i = 0; i < number_.size(); ++i) map_[numbering_.order[i]] = slot_[number_[i]];
}

// A row of the matrix gets a multiple of another one, or two change places.
void LinearSearch::draw_rows(Form& form) {
  const std::size_t n = to_.size();
  const std::size_t a = rng_.below(n);
  std::size_t b = a;
  while (a == b) b = rng_.below(n);
  if (to_[a].prime != to_[b].prime) return;
  const std::uint32_t p = to_[a].prime;
  std::uint8_t* const row = &form.matrix[a * n];
  std::uint8_t* const other = &form.matrix[b * n];
  if (rng_.coin()) {
    std::swap_ranges(row, row + n, other);
    return;
  }
  const std::uint64_t factor = p == 2 ? 1 : 1 + rng_.below(p - 1);
  for (std::size_t c = 0; c < n; ++c)
    row[c] = static_cast<std::uint8_t>((row[c] + factor * other[c]) % p);
}

void LinearSearch::draw_columns(Form& form) {
  const std::size_t n = to_.size();
  const std::size_t a = rng_.below(n);
  std::size_t b = a;
  while (a == b) b = rng_.below(n);
  if (from_[a].prime != from_[b].prime) return;
  const std::uint32_t p = from_[a].prime;
  const std::uint64_t factor = p == 2 ? 1 : 1 + rng_.below(p - 1);
  const bool exchange = rng_.coin();
  for (std::size_t row = 0; row < n; ++row) {
    std::uint8_t& x = form.matrix[row * n + a];
    std::uint8_t& y = form.matrix[row * n + b];
    x = static_cast<std::uint8_t>((x + factor * y) % p);
    if (exchange) std::swap(x, y);
  }
}

// The parity is one of other axes' digits, so that the map stays one to one.
void LinearSearch::draw_shift(Form& form) {
  if (rng_.below(4) == 0) {
    form.shift = 0;
    return;
  }
  const auto axis = static_cast<std::uint32_t>(rng_.below(axes_.size()));
  const std::uint32_t radix = axes_[axis].radix;
  if (radix < 2) return;
  if (form.shift == 0 || axis != form.shifted) std::fill(form.parity.begin(), form.parity.end(), 0);
  if (form.shift == 0 || axis != form.shifted || rng_.coin()) {
    const std::uint64_t one = rng_.coin() ? 1 : radix - 1;
    form.shift = static_cast<std::uint32_t>(rng_.coin() ? one : 1 + rng_.below(radix - 1));
  }
  form.shifted = axis;
  const bool anew = rng_.coin();
  const std::size_t turned = rng_.below(to_.size());
  for (std::size_t i = 0; i < to_.size(); ++i) {
    if (to_[i].axis == axis)
      form.parity[i] = 0;
    else if (anew)
      form.parity[i] = rng_.coin() ? 1 : 0;
    else if (i == turned)
      form.parity[i] ^= 1;
  }
}

// Plain or Gray: a coordinate, or a side. Where all digits are bits, the matrix can do the latter.
void LinearSearch::draw_code(Form& form) {
  const auto has_code = [](const Axis& axis) { return axis.radix >= 4; };
  if (bits_ && std::none_of(axes_.begin(), axes_.end(), has_code)) return;
  for (;;) {
    const std::size_t which = rng_.below(axes_.size() + (bits_ ? 0 : sides_.size()));
    if (which < axes_.size()) {
      if (axes_[which].radix < 4) continue;
      form.gray[which] = !form.gray[which];
    } else {
      form.folded[which - axes_.size()] = !form.folded[which - axes_.size()];
    }
    return;
  }
}

void LinearSearch::draw(Form& form) {
  const int steps = rng_.below(4) == 0 ? 2 : 1;
  for (int i = 0; i < steps; ++i) {
    switch (rng_.below(6)) {
      case 0:
      case 1:
        draw_rows(form);
        break;
      case 2:
        draw_columns(form);
        break;
      case 3:
        draw_code(form);
        break;
      default:
        draw_shift(form);
    }
  }
}

void LinearSearch::Form::pack(Packer& letter) const {
  letter.put_list(matrix);
  letter.put_list(parity);
  for (const auto* flags : {&gray, &folded})
    letter.put_list(std::vector<std::uint8_t>(flags->begin(), flags->end()));
  letter.put(shifted);
  letter.put(shift);
}

LinearSearch::Form LinearSearch::Form::unpack(Unpacker& letter) {
  Form form;
  form.matrix = letter.take_list<std::uint8_t>();
  form.parity = letter.take_list<std::uint8_t>();
  for (auto* flags : {&form.gray, &form.folded}) {
    const auto bytes = letter.take_list<std::uint8_t>();
    flags->assign(bytes.begin(), bytes.end());
  }
  form.shifted = letter.take<std::uint32_t>();
  form.shift = letter.take<std::uint32_t>();
  return form;
}

void LinearSearch::pack(Packer& letter) const {
  form_.pack(letter);
  best_form_.pack(letter);
  letter.put(value_);
  letter.put(best_value_);
  letter.put(evaluations_);
}

void LinearSearch::unpack(Unpacker& letter) {
  form_ = Form::unpack(letter);
  best_form_ = Form::unpack(letter);
  value_ = letter.take<double>();
  best_value_ = letter.take<double>();
  evaluations_ = letter.take<std::uint64_t>();
  build(best_form_);
  best_ = map_;
}

void LinearSearch::run(std::uint64_t evaluations, std::uint64_t total,
                       const std::atomic<bool>* stop) {
  for (std::uint64_t i = 0; i < evaluations; ++i) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
    const double done = static_cast<double>(evaluations_) / static_cast<double>(total);
    const double temperature = heat_.from * power(heat_.to / heat_.from, done);
    Form form = form_;
    draw(form);
    build(form);
    ++evaluations_;
    const double limit = value_ * (1 + temperature * exponential(rng_));
    const double value = judge_.value(map_, limit);
    if (value > limit) continue;
    ++kept_;
    form_ = std::move(form);
    value_ = value;
    if (value >= best_value_) continue;
    best_value_ = value;
    best_form_ = form_;
    best_ = map_;
  }
}

}  // namespace weft::map
