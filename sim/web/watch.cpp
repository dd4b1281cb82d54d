#include "sim/web/watch.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/ir/print.hpp"

namespace noteg::web {
namespace {

using Json = nlohmann::ordered_json;
using kernels::Instruction;
using kernels::Operand;
using kernels::OperandKind;
using kernels::Program;

bool is_register(const Operand& operand) {
  return operand.index != kernels::rz && (operand.kind == OperandKind::reg || operand.kind == OperandKind::ureg ||
                                          operand.kind == OperandKind::pred || operand.kind == OperandKind::upred);
}

bool overlap(const Operand& a, const Operand& b) {
  return is_register(a) && a.kind == b.kind && a.index < b.index + b.count && b.index < a.index + a.count;
}

bool writes(const Instruction& in, const Operand& source) {
  return std::any_of(in.dst.begin(), in.dst.end(), [&](const Operand& each) { return overlap(each, source); });
}

// Instructions before `at` in the order in which a warp comes from them: backwards, and from the head of its innermost
// loop on to that loop's branch. Ends where the code or the role begins.
std::vector<int> backwards(const Program& program, int at) {
  int first = 0;
  for (const kernels::Role& role : program.roles)
    if (role.begin <= at && at < role.end) first = role.begin;
  const kernels::Loop* inner = nullptr;
  for (const kernels::Loop& loop : program.loops)
    if (loop.begin <= at && at <= loop.branch && (inner == nullptr || loop.begin > inner->begin)) inner = &loop;
  std::vector<int> order;
  const int head = inner != nullptr ? inner->begin : first;
  for (int i = at - 1; i >= head; --i) order.push_back(i);
  if (inner != nullptr)
    for (int i = inner->branch; i >= at; --i) order.push_back(i);
  for (int i = head - 1; i >= first; --i) order.push_back(i);
  return order;
}

// Whose results and counters an instruction needs.
std::set<int> producers(const Program& program, int at) {
  const Instruction& in = program.code[static_cast<std::size_t>(at)];
  std::set<int> found;
  std::vector<Operand> open;
  for (const Operand& source : in.src)
    if (is_register(source)) open.push_back(source);
  if (is_register(in.guard)) open.push_back(in.guard);
  unsigned counters = in.control.wait_mask;
  for (const int i : backwards(program, at)) {
    const Instruction& before = program.code[static_cast<std::size_t>(i)];
    for (const std::int8_t counter : {before.control.write_barrier, before.control.read_barrier})
      if (counter >= 0 && (counters >> counter & 1) != 0) {
        counters &= ~(1u << counter);
        found.insert(i);
      }
    const auto written = [&](const Operand& source) { return writes(before, source); };
    if (std::any_of(open.begin(), open.end(), written)) {
      found.insert(i);
      open.erase(std::remove_if(open.begin(), open.end(), written), open.end());
    }
    if (open.empty() && counters == 0) break;
  }
  return found;
}

struct Line {
  std::int64_t issues = 0;
  std::map<std::string, std::uint64_t> waits;  // warp cycles
};

// Waits belong to the instruction that the warp then issues; each warp's records are in order of time.
struct Lane {
  std::vector<sm::IssueRecord> issues;
  std::vector<sm::WaitRecord> waits;
};

std::vector<Lane> lanes_of(const gpu::Recording& recording) {
  const std::size_t warps = static_cast<std::size_t>(recording.run->work.resident) *
                            static_cast<std::size_t>(recording.program().warps);
  std::vector<Lane> lanes(warps);
  for (const sm::IssueRecord& issue : recording.log.issues)
    if (issue.warp < warps && issue.cycle < recording.end) lanes[issue.warp].issues.push_back(issue);
  for (const sm::WaitRecord& wait : recording.log.waits)
    if (wait.warp < warps && wait.from < recording.end && wait.until > recording.begin)
      lanes[wait.warp].waits.push_back(wait);
  return lanes;
}

void count(const Lane& lane, const gpu::Recording& recording, std::vector<Line>& lines) {
  auto next = lane.issues.begin();
  for (const sm::WaitRecord& wait : lane.waits) {
    while (next != lane.issues.end() && next->cycle < wait.until) ++next;
    if (next == lane.issues.end()) break;
    const std::uint64_t from = std::max(wait.from, recording.begin), until = std::min(wait.until, recording.end);
    if (until > from) lines[static_cast<std::size_t>(next->pc)].waits[std::string(name_of(wait.reason))] += until - from;
  }
  for (const sm::IssueRecord& issue : lane.issues)
    if (issue.cycle >= recording.begin) ++lines[static_cast<std::size_t>(issue.pc)].issues;
}

Json code_json(const Program& program, const std::vector<Line>& lines) {
  Json code = Json::array();
  for (std::size_t pc = 0; pc < lines.size(); ++pc) {
    const int at = static_cast<int>(pc);
    code.push_back({{"text", kernels::to_text(program, at)},
                    {"unit", static_cast<int>(kernels::opcode_info(program.code[pc].op).unit)},
                    {"issues", lines[pc].issues},
                    {"waits", lines[pc].waits},
                    {"from", producers(program, at)}});
  }
  return code;
}

Json lane_json(const Lane& lane, std::size_t warp, const gpu::Recording& recording, int sub_cores) {
  Json issues = Json::array(), waits = Json::array();
  for (const sm::IssueRecord& issue : lane.issues)
    if (issue.cycle >= recording.begin) {
      issues.push_back(issue.cycle);
      issues.push_back(issue.pc);
    }
  for (const sm::WaitRecord& wait : lane.waits) {
    waits.push_back(std::max(wait.from, recording.begin));
    waits.push_back(std::min(wait.until, recording.end));
    waits.push_back(static_cast<int>(wait.reason));
  }
  return {{"warp", warp}, {"sub", static_cast<int>(warp) % sub_cores}, {"issues", issues}, {"waits", waits}};
}

}  // namespace

std::string watched(const gpu::Recording& recording, const arch::GpuSpec& gpu) {
  const Program& program = recording.program();
  const std::vector<Lane> lanes = lanes_of(recording);
  std::vector<Line> lines(program.code.size());
  Json warps = Json::array();
  for (std::size_t warp = 0; warp < lanes.size(); ++warp) {
    count(lanes[warp], recording, lines);
    warps.push_back(lane_json(lanes[warp], warp, recording, gpu.sm.sub_cores));
  }
  Json reasons = Json::array();
  for (std::size_t i = 0; i < sm::stall_count; ++i)
    reasons.push_back({{"name", name_of(static_cast<sm::Stall>(i))}, {"says", description_of(static_cast<sm::Stall>(i))}});
  return Json{{"begin", recording.begin},
              {"end", recording.end},
              {"trips", recording.trips},
              {"mainloop", program.mainloop_begin},
              {"epilogue", program.epilogue_begin},
              {"reasons", reasons},
              {"code", code_json(program, lines)},
              {"warps", warps}}
      .dump();
}

}  // namespace noteg::web
