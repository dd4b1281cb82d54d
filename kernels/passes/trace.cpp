#include "kernels/passes/trace.hpp"

namespace noteg::kernels {

std::vector<int> double_trace(const Program& program) {
  std::vector<int> trace;
  std::vector<bool> repeated(program.loops.size(), false);
  for (int at = 0; at < static_cast<int>(program.code.size()); ++at) {
    trace.push_back(at);
    const int loop = program.code[static_cast<std::size_t>(at)].loop;
    if (loop < 0) continue;
    const auto index = static_cast<std::size_t>(loop);
    if (repeated[index]) {
      repeated[index] = false;  // an outer loop may come here again
      continue;
    }
    repeated[index] = true;
    at = program.loops[index].begin - 1;
  }
  return trace;
}

}  // namespace noteg::kernels
