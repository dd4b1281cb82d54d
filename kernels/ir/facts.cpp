#include "kernels/ir/listing.hpp"

#include <algorithm>

#include "kernels/access/wavefronts.hpp"
#include "kernels/ir/ir.hpp"
#include "kernels/passes/dependence_graph.hpp"
#include "kernels/passes/passes.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

bool has_reuse(const Instruction& ins) {
  return std::any_of(ins.src.begin(), ins.src.end(), [](const Operand& o) { return o.reuse; });
}

double mean_wavefronts(const Program& program, int begin, int end, Opcode op) {
  int wavefronts = 0;
  int count = 0;
  for (int at = begin; at < end; ++at) {
    const Instruction& ins = program.code[static_cast<std::size_t>(at)];
    if (ins.op != op || ins.pattern < 0 || is_never_executed(ins)) continue;
    wavefronts += shared_wavefronts(program.patterns[static_cast<std::size_t>(ins.pattern)]);
    ++count;
  }
  return count == 0 ? 0.0 : static_cast<double>(wavefronts) / count;
}

}  // namespace

const Loop* innermost_loop(const Program& program, int at) {
  const Loop* inner = nullptr;
  for (const Loop& loop : program.loops)
    if (loop.begin <= at && at <= loop.branch && (inner == nullptr || loop.begin > inner->begin)) inner = &loop;
  return inner;
}

CodeFacts facts_of(const Program& program, int begin, int end, const LatencyModel& model) {
  CodeFacts f;
  for (int at = begin; at < end; ++at) {
    const Instruction& ins = program.code[static_cast<std::size_t>(at)];
    ++f.instructions;
    ++f.by_mnemonic[std::string(opcode_info(ins.op).mnemonic)];
    f.stall_sum += ins.control.stall;
    f.with_write_barrier += ins.control.write_barrier >= 0 ? 1 : 0;
    f.with_read_barrier += ins.control.read_barrier >= 0 ? 1 : 0;
    f.with_wait += ins.control.wait_mask != 0 ? 1 : 0;
    if (ins.op != Opcode::ffma) continue;
    ++f.ffma;
    f.ffma_with_reuse += has_reuse(ins) ? 1 : 0;
  }
  for (const BasicBlock& block : basic_blocks(program)) {
    if (block.begin >= begin && block.end <= end)
      f.critical_path = std::max(f.critical_path, critical_path(program, block.begin, block.end, model));
  }
  f.shared_load_wavefronts = mean_wavefronts(program, begin, end, Opcode::lds);
  f.shared_store_wavefronts = mean_wavefronts(program, begin, end, Opcode::sts);
  return f;
}

CodeFacts mainloop_facts(const Program& program, const LatencyModel& model) {
  for (const Loop& loop : program.loops) {
    if (loop.is_main) return facts_of(program, loop.begin, loop.branch + 1, model);
  }
  return {};
}

double repeats_in_iteration(const Program& program, std::int32_t at) {
  double times = 1;
  for (const Loop& loop : program.loops)
    if (!loop.is_main && !loop.is_tiles && loop.begin <= at && at <= loop.branch)
      times *= static_cast<double>(loop.iterations);
  return times;
}

std::int64_t least_iterations(const Program& program) {
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(program.code.size()); ++at)
    if (is_guard(program.code[static_cast<std::size_t>(at)], at, program.loops)) return 0;
  return 1;
}

std::int64_t main_iterations(const Program& program, std::int64_t k) {
  if (program.k_per_iteration <= 0 || k <= 0) return 0;
  const std::int64_t tiles = (k + program.k_per_iteration - 1) / program.k_per_iteration;
  return std::max<std::int64_t>(0, tiles - program.peeled_tiles);
}

std::int64_t executed_instructions(const Program& program, std::int64_t k) {
  std::int64_t total = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(program.code.size()); ++at) {
    std::int64_t times = 1;
    for (const Loop& loop : program.loops) {
      if (at >= loop.begin && at <= loop.branch) times *= loop.is_main ? main_iterations(program, k) : loop.iterations;
    }
    total += times;
  }
  return total;
}

namespace {

bool reads_memory(const Instruction& in) {
  return in.op == Opcode::ldg || in.op == Opcode::ldgsts || in.op == Opcode::utmaldg;
}

void mark_reads(Program& program) {
  const auto reads = [&](std::int32_t at) { return reads_memory(program.code[static_cast<std::size_t>(at)]); };
  double most = 0;
  std::int32_t busiest = 0;
  for (std::int32_t at = 0; at < std::ssize(program.code); ++at) {
    if (!reads(at)) continue;
    if (program.mainloop_begin <= at && at < program.epilogue_begin) return;
    if (const double times = repeats_in_iteration(program, at); times > most) most = times, busiest = at;
  }
  if (most == 0) return;
  std::int32_t first = 0, end = static_cast<std::int32_t>(program.code.size());
  for (const Role& role : program.roles)
    if (role.begin <= busiest && busiest < role.end) first = role.begin, end = role.end;
  std::int32_t last = end - 1;
  while (!reads(first)) ++first;
  while (!reads(last)) --last;
  const int counter = program.code[static_cast<std::size_t>(last)].control.write_barrier;
  const auto waits = [counter](const Instruction& in) {
    return counter < 0 || (in.control.wait_mask >> counter & 1) != 0;
  };
  const auto begin = program.code.begin();
  program.mainloop_begin = first;
  program.epilogue_begin = static_cast<std::int32_t>(std::find_if(begin + last + 1, begin + end, waits) - begin);
  for (const Loop& loop : program.loops) {
    if (loop.begin <= first && first <= loop.branch)
      program.mainloop_begin = std::min(program.mainloop_begin, loop.begin);
    if (loop.begin <= last && last <= loop.branch)
      program.epilogue_begin = std::max(program.epilogue_begin, loop.branch + 1);
  }
}

}  // namespace

void mark_main_loop(Program& program) {
  program.mainloop_begin = program.epilogue_begin = static_cast<std::int32_t>(program.code.size());
  double most = 0;
  for (const Loop& loop : program.loops) {
    const double inside = static_cast<double>(loop.branch - loop.begin + 1) * static_cast<double>(loop.iterations);
    if (inside <= most) continue;
    most = inside;
    program.mainloop_begin = loop.begin;
    program.epilogue_begin = loop.branch + 1;
  }
  mark_reads(program);
  for (const Role& role : program.roles)
    if (program.mainloop_begin >= role.begin && program.mainloop_begin < role.end) program.lead_warp = role.first_warp;
}

}  // namespace noteg::kernels
