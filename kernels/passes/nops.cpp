// A stall count holds for 15 cycles at most. Where the next instruction needs a tensor core's result sooner than stalls
// alone can wait for it, NOPs are put between, as compilers do.
#include <algorithm>
#include <map>
#include <vector>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/passes.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

// NOPs wanted in front of each instruction.
std::vector<int> wanted_nops(const Program& program, const LatencyModel& model) {
  std::vector<int> nops(program.code.size(), 0);
  for (const BasicBlock& block : basic_blocks(program)) {
    std::map<int, int> written;  // register to the place behind its tensor instruction, NOPs counted
    int place = 0;
    for (int at = block.begin; at < block.end; ++at, ++place) {
      const Instruction& ins = program.code[static_cast<std::size_t>(at)];
      int missing = 0;
      const auto check = [&](int r) {
        const auto writer = written.find(r);
        if (writer == written.end()) return;
        const int covered = (place - writer->second) * greatest_stall;
        missing = std::max(missing, (model.tensor - covered + greatest_stall - 1) / greatest_stall);
      };
      for_each_read(ins, check);
      for_each_write(ins, check);
      nops[static_cast<std::size_t>(at)] = missing;
      place += missing;
      for_each_write(ins, [&](int r) {
        if (opcode_info(ins.op).pipe == Pipe::tensor && !is_variable(ins))
          written[r] = place;
        else
          written.erase(r);
      });
    }
  }
  return nops;
}

}  // namespace

void insert_nops(Program& program, const LatencyModel& model) {
  const std::vector<int> nops = wanted_nops(program, model);
  if (std::all_of(nops.begin(), nops.end(), [](int n) { return n == 0; })) return;
  std::vector<Instruction> code;
  std::vector<std::int32_t> moved;  // old place to new
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    for (int n = 0; n < nops[i]; ++n) code.emplace_back();
    moved.push_back(static_cast<std::int32_t>(code.size()));
    code.push_back(std::move(program.code[i]));
  }
  moved.push_back(static_cast<std::int32_t>(code.size()));
  // A loop begins before the NOPs in front of its first instruction.
  const auto start = [&](std::int32_t old) {
    return moved[static_cast<std::size_t>(old)] -
           (static_cast<std::size_t>(old) < nops.size() ? nops[static_cast<std::size_t>(old)] : 0);
  };
  for (Loop& loop : program.loops) {
    loop.begin = start(loop.begin);
    loop.branch = moved[static_cast<std::size_t>(loop.branch)];
  }
  for (Role& role : program.roles) {
    role.begin = start(role.begin);
    role.end = start(role.end);
  }
  program.mainloop_begin = start(program.mainloop_begin);
  program.epilogue_begin = start(program.epilogue_begin);
  program.code = std::move(code);
}

}  // namespace noteg::kernels
