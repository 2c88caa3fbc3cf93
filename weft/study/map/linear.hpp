// SPDX-License-Identifier: Apache-2.0
// Maps that are linear in the digits of rank and node numbers. Ranks and slots are written in
// digits of prime radix; for each prime, the digits of a slot are a matrix (modulo the prime) times
// those of the rank. Sides of the ranks' grid may be written in a reflected Gray code, coordinates
// of the network read as one, and one dimension shifted by a parity of the others' digits. Bit
// permutations, folds, snakes and transpositions are all among these maps, and for patterns made of
// powers of two nothing else comes near them. Annealed over the matrix with whole evaluations.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/base/rng.hpp>
#include <weft/study/map/problem.hpp>
#include <weft/study/map/quick_judge.hpp>
#include <weft/study/map/structure.hpp>

namespace weft::map {

class LinearSearch {
 public:
  // Every slot of the network is there, in the natural order, no rank is fixed, QuickJudge fits,
  // and the sides are made of the same primes as the slots.
  static bool fits(const Problem& problem, const Numbering& numbering);
  enum class Start {
    plain,  // Numbers as they are, which leaves all ways open;
    best,   // or folded as a whole, if that is better.
  };
  // REQUIRES: fits().
  LinearSearch(const Problem& problem, const Objective& objective, const Numbering& numbering,
               Start start, Rng rng);

  // Temperatures for the logarithm of the value; they were found to suit many patterns.
  struct Heat {
    double from = 0.03, to = 0.003;
  };
  // What a search is about: where it stands, the best it has found, and how far it has come. Given
  // to another one (of the same problem and numbering, with other random numbers), that goes on
  // from there.
  void pack(Packer& letter) const;
  void unpack(Unpacker& letter);
  // The next `evaluations` of `total` planned.
  void run(std::uint64_t evaluations, std::uint64_t total, const std::atomic<bool>* stop);

  double best_value() const { return best_value_; }
  const RankMap& best() const { return best_; }
  std::uint64_t evaluations() const { return evaluations_; }
  double acceptance() const {
    return evaluations_ == 0 ? 0 : static_cast<double>(kept_) / static_cast<double>(evaluations_);
  }

 private:
  struct Digit {
    std::uint32_t prime = 2;
    std::uint32_t weight = 1;  // In its number.
    std::uint32_t axis = 0;    // Which coordinate it is part of, or which side.
  };
  struct Form {
    void pack(Packer& letter) const;
    static Form unpack(Unpacker& letter);

    std::vector<std::uint8_t> matrix;  // Row: slot digit. Column: rank digit.
    std::vector<bool> gray;            // By axis.
    std::vector<bool> folded;          // By side of the numbering.
    std::uint32_t shifted = 0;         // Axis.
    std::uint32_t shift = 0;           // 0: none.
    std::vector<std::uint8_t> parity;  // By slot digit: does it count?
  };
  struct Axis {
    std::uint32_t radix = 1, stride = 1;
    std::vector<std::uint32_t> decoded;  // Gray code to number.
  };
  struct Side {
    std::uint32_t length = 1, stride = 1;
    std::vector<std::uint32_t> coded;  // Number to Gray code.
  };
  void add_axes();
  void add_sides();
  void begin(Start start);
  void fold(const Form& form);
  void draw_code(Form& form);
  void draw(Form& form);
  void draw_rows(Form& form);
  void draw_columns(Form& form);
  void draw_shift(Form& form);
  void build(const Form& form);
  void multiply(const Form& form);
  void multiply_bits(const Form& form);
  void prepare_codes();

  const Problem& problem_;
  QuickJudge judge_;
  const Numbering& numbering_;
  Rng rng_;
  std::vector<Axis> axes_;
  std::vector<Side> sides_;
  std::vector<Digit> from_, to_;  // Digits of ranks and slots.
  bool bits_ = false;             // All primes are 2, all sides powers of 2.
  struct Step {                   // A number is an earlier one plus one in a digit.
    std::uint32_t before, digit;
  };
  std::vector<Step> steps_;
  std::vector<std::uint32_t> code_;    // Slot digits by number, put together;
  std::vector<std::uint8_t> digits_;   // and one by one, where they are not bits.
  std::vector<bool> folded_;           // What number_ was made for.
  std::vector<std::uint32_t> number_;  // By place in the numbering: where its sides' codes stand.
  std::vector<std::uint32_t> slot_;    // By number.
  Form form_, best_form_;
  RankMap map_, best_;
  Heat heat_;
  double value_ = 0, best_value_ = 0;
  std::uint64_t evaluations_ = 0, kept_ = 0;
};

}  // namespace weft::map
