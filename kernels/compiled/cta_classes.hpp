// Which CTAs of a launch take the same way, so that one of them stands for all.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/compiled/emulator/code.hpp"
#include "kernels/compiled/emulator/machine.hpp"
#include "kernels/compiled/launch_file.hpp"

namespace noteg::compiled {

using CtaId = std::array<std::uint32_t, 3>;

// Where in the grid which class lies: a raster of cells. The CTAs of a cell are alike, or they change evenly from the
// way of its first to that of its last, as where each has an iteration more than its neighbour. Along an axis with
// clusters the CTAs of one rank stand beside each other: all of the first, then all of the second.
struct CtaCells {
  struct Ends {
    std::size_t first = 0, last = 0;  // classes
  };
  std::array<std::vector<std::uint32_t>, 3> begins;  // along each axis
  std::vector<Ends> cells;                           // x runs fastest

  // From a place on an axis of the raster to the CTA's coordinate, and back.
  [[nodiscard]] static std::uint32_t cta_at(const Launch& launch, std::size_t axis, std::uint32_t place);
  [[nodiscard]] static std::int64_t place_of(const Launch& launch, std::size_t axis, std::int64_t cta);
};

struct ProfileLimits {
  std::uint64_t blocks = 20'000'000;        // of one CTA; more: the kernel does not end
  std::uint64_t search_blocks = 1'000'000;  // of all that are run to find classes; then those between stand for all
  std::size_t classes = 24;
  unsigned jobs = 1;  // threads; they never show in what comes out
};

struct CtaClasses {
  struct Class {
    CtaId id{};       // of a CTA that stands for all
    double ctas = 0;  // these
  };
  std::vector<Class> found;  // the largest first; by work, where there were too many
  CtaCells cells;
  bool sampled = false;                        // they stand for CTAs that were not all compared
  bool endless = false;                        // a CTA did not end
  std::map<std::int32_t, std::int64_t> waits;  // by instruction: the most turns of others that a CTA waits for
};

// Boundaries along each axis by bisection, then cells of the grid that are checked.
[[nodiscard]] CtaClasses find_classes(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
                                      const ProfileLimits& limits);

}  // namespace noteg::compiled
