#include "tests/sm/tables/engine_probe.hpp"

#include <gtest/gtest.h>

#include "kernels/assembly/assembly.hpp"
#include "kernels/passes/passes.hpp"
#include "sim/sm/instruction_timing.hpp"

namespace noteg::sm::tables {

std::string ins(std::string_view control, std::string_view text) {
  return "[" + std::string(control) + "] " + std::string(text) + " ;\n";
}

std::string ins(std::string_view text) { return ins("B------:R-:W-:-:S01", text); }

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

MemoryPort l1_hits(const std::string& gpu) {
  MemoryPort out;
  out.l1_hit_rate = 1.0;
  out.l1_latency = sm_of(gpu).memory.ldg_latency.value;
  return out;
}

namespace {

// A warm machine: what is asked here is not what cache misses of instructions and constants cost.
CoreSwitches warm() {
  CoreSwitches out;
  out.icache = InstructionCache::perfect;
  out.constant_cache = false;
  return out;
}

SmResult run(const kernels::Program& program, const std::string& gpu, std::vector<IssueRecord>* log) {
  const arch::SmSpec& sm = sm_of(gpu);
  SmWork work;
  Recorder recorder;
  if (log != nullptr) work.recorder = &recorder;
  const SmResult result = run_sm(decode(program, sm), sm, warm(), l1_hits(gpu), work);
  EXPECT_FALSE(result.deadlock);
  if (log != nullptr) *log = recorder.issues;
  return result;
}

kernels::Program assembled(const std::string& text) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "table.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  return program ? *program : kernels::Program{};
}

}  // namespace

std::vector<IssueRecord> issues(const std::string& text, const std::string& gpu) {
  std::vector<IssueRecord> log;
  run(assembled(text), gpu, &log);
  return log;
}

double cycles_between(const std::string& text, std::int32_t from, std::int32_t to, const std::string& gpu) {
  double begin = -1, end = -1;
  for (const IssueRecord& issue : issues(text, gpu)) {
    if (issue.warp != 0) continue;
    if (issue.pc == from && begin < 0) begin = static_cast<double>(issue.cycle);
    if (issue.pc == to && end < 0) end = static_cast<double>(issue.cycle);
  }
  EXPECT_GE(begin, 0);
  EXPECT_GE(end, 0);
  return end - begin;
}

double cycles_per_copy(const std::string& head, const std::string& body, int copies, const std::string& gpu) {
  const auto cycles = [&](int n) { return run(assembled(head + repeated(body, n)), gpu, nullptr).cycles; };
  return (cycles(2 * copies) - cycles(copies)) / copies;
}

double cycles_per_compiled_copy(const std::string& body, int copies, const std::string& gpu) {
  const auto cycles = [&](int n) {
    kernels::Program program = assembled(repeated(body, n));
    kernels::assign_control_bits(program, sm::latency_model(sm_of(gpu)));
    return run(program, gpu, nullptr).cycles;
  };
  return (cycles(2 * copies) - cycles(copies)) / copies;
}

}  // namespace noteg::sm::tables
