// What is told of a launch beside its figures: which values decided something and are not known, and as what they were
// taken.
#pragma once

#include "kernels/compiled/emulator/cta_recorder.hpp"

namespace noteg::compiled {

// Of a CTA that was run.
void tell_guesses(Profile& out, const Guesses& guesses, const Launch& launch);
// Of tables, counters and matches of the whole launch.
void tell_of_data(Profile& out, const Launch& launch);

}  // namespace noteg::compiled
