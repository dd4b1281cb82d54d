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

// Atomic operations of the launch on the word of a grid's barrier, where it is not among the arguments (cooperative
// groups): CTAs poll what they have added to. All come together and wait for the last of them, so that their turns at
// the word add to the time. Those at known addresses are in the footprints.
[[nodiscard]] double turns_at_barriers(const Profile& profile, const Footprints& footprints);

}  // namespace noteg::compiled
