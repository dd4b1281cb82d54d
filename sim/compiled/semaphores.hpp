// CTAs that have their turn one after the other at a semaphore (sums of split K, stripes of a column): each waits until
// those before it have had theirs. The launch is timed as if nobody waited; this is what the turns add.
#pragma once

#include "kernels/compiled/footprint.hpp"
#include "sim/compiled/simulate_compiled.hpp"
#include "sim/sm/memory_port.hpp"

namespace noteg::compiled {

// SM cycles that the last CTA waits for all before it. A turn: what a CTA does in it, alone on its SM, until its
// release is on its way, and the way: it travels to L2 while the next CTA asks, which takes half a round trip more in
// the mean. 0: no CTA has a turn, or none that is passed on.
[[nodiscard]] Result<double> cycles_of_turns(const CompiledRequest& request, const Profile& profile,
                                             const Footprints& footprints, const sm::MemoryPort& port);

// Turns of the launch at words of barriers of the grid, which CTAs poll behind an addition of theirs. All come together
// and wait for the last, so that these turns add to the time. Each adds, and looks once more when all have (H200M,
// grid_barrier: 528 and 1056 CTAs of cooperative groups take 0.25 and 1.2 us longer than 264, 0.79 ns for each turn).
// Additions at known addresses are in the footprints, and not counted here.
[[nodiscard]] double turns_at_barriers(const Profile& profile, const Footprints& footprints);

}  // namespace noteg::compiled
