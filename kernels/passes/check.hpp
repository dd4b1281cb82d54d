// The law of control bits: a program is safe if hardware that checks nothing computes the same as hardware that
// checks everything.
#pragma once

#include <string>
#include <vector>

#include "kernels/ir/ir.hpp"
#include "kernels/ir/latency_model.hpp"

namespace noteg::kernels {

// One sentence for each hazard: a fixed-latency result that stall counts do not cover, a variable-latency result
// or source whose counter is not waited for, a counter waited for before it can be seen, a stall above 11 without
// yield, a DEPBAR whose stall is too short. Empty: the program is safe for any number of loop trips.
[[nodiscard]] std::vector<std::string> check_control_bits(const Program& program, const LatencyModel& model);

}  // namespace noteg::kernels
