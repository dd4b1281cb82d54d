// Iterations of a loop that need not be emulated: from one period to the next all registers change by constants, and
// everything that the warp does is the same. Then the loop goes on like that until a comparison turns out otherwise,
// which its differences tell. Where masks or shifts of changing values take part, no more than four times what has been
// seen is skipped before it is looked at again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kernels/compiled/emulator/machine.hpp"

namespace noteg::compiled {

class WarpWatcher;

class LoopSkip {
 public:
  struct Arrival {
    std::int32_t header = 0;
    std::uint32_t lanes = 0;
    std::size_t position = 0;  // in the watcher's log
    int warp = 0;
  };

  // The warp is at the begin of a loop again, and may be set forward. Where decisions are to be written from here on.
  [[nodiscard]] Decisions* arrives(const Arrival& arrival, const EmulatedCode& code, Registers& registers,
                                   WarpWatcher& watcher);

 private:
  static constexpr std::array<std::size_t, 12> periods{1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 24};
  static constexpr std::size_t most_moments = 2 * 24 + 1;

  struct Moment {
    std::size_t position = 0;
    std::uint32_t lanes = 0;
    std::vector<Lanes> values;
    std::array<Predicate, 16> predicates{};
    std::size_t decisions = 0;  // written before
  };
  struct Loop {
    std::vector<Moment> moments;
    std::int64_t iterations = 0;  // since the loop was entered, skipped ones too
    std::int64_t next_try = 0;    // iteration: in vain, so that it is tried again after an eighth more of them
    std::size_t give_up = 0;      // arrivals at which nothing more is tried
    bool hopeless = false;
  };

  [[nodiscard]] static Moment moment(const Arrival& arrival, const EmulatedCode& code, const Registers& registers);
  [[nodiscard]] static bool is_affine(const Moment& a, const Moment& b, const Moment& c);
  struct Ahead {
    std::int64_t periods = 0;
    bool bends = false;  // values that change go into masks or shifts: what was seen proves less
  };
  [[nodiscard]] Ahead safe_periods(std::size_t from, std::size_t middle, std::size_t to) const;
  static void advance(const EmulatedCode& code, Registers& registers, const Moment& before, const Moment& now,
                      std::int64_t times);

  std::map<std::int32_t, Loop> loops_;
  Decisions decisions_;
};

}  // namespace noteg::compiled
