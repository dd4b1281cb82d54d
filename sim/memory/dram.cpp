#include "sim/memory/dram.hpp"

#include <algorithm>

#include "sim/support/arithmetic.hpp"

namespace noteg::memory {

double last_of_group(double accesses, double service) {
  if (accesses <= 1) return 0;
  // Harmonic number of a large group; 0.5772 is Euler's constant. Exact to 1 % from two accesses on.
  const double harmonic = portable::log(accesses) + 0.5772156649 + 0.5 / accesses;
  return service * std::max(0.0, harmonic - 1.0);
}

double queue_wait(double utilisation, double service) {
  const double load = std::clamp(utilisation, 0.0, 0.87);
  return service * load / (2.0 * (1.0 - load));
}

}  // namespace noteg::memory
