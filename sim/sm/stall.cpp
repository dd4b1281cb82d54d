#include "sim/sm/stall.hpp"

namespace noteg::sm {

namespace {

struct Row {
  std::string_view name, description;
};

constexpr std::array<Row, stall_count> rows{{
    {"selected", "the warp issued an instruction"},
    {"not_selected", "ready, but another warp of the sub-core was chosen"},
    {"wait", "the stall count of the previous instruction was still running"},
    {"short_scoreboard", "waiting for shared memory, constants or transcendental results"},
    {"long_scoreboard", "waiting for global memory"},
    {"barrier", "waiting for the other warps of the CTA at a barrier"},
    {"math_pipe", "the execution pipe was busy"},
    {"memory_queue", "the load/store queue of the sub-core was full"},
    {"dispatch", "register read ports were busy"},
    {"no_instruction", "no decoded instruction: start, branch redirect or instruction cache miss"},
    {"constant_miss", "waiting for a constant operand that missed its cache"},
    {"async_copy", "waiting for asynchronous copies into shared memory"},
    {"by_design",
     "waiting as the kernel is made to, at no loss: a producer for a free stage, a warpgroup for its turn"},
    {"drained", "the warp has finished, its accesses or its CTA have not"},
}};

}  // namespace

std::string_view name_of(Stall stall) { return rows[static_cast<std::size_t>(stall)].name; }
std::string_view description_of(Stall stall) { return rows[static_cast<std::size_t>(stall)].description; }

}  // namespace noteg::sm
