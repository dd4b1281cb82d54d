#include "sim/web/live.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/ir/listing.hpp"
#include "sim/trace/views.hpp"

namespace noteg::web {
namespace {

using Json = nlohmann::ordered_json;
using kernels::Program;
using trace::WarpLane;

struct Line {
  std::int64_t issues = 0;
  std::map<std::string, std::uint64_t> waits;  // warp cycles
};

// Waits belong to the instruction that the warp then issues.
void count(const WarpLane& lane, const gpu::Recording& recording, std::vector<Line>& lines) {
  auto next = lane.issues.begin();
  for (const sm::WaitRecord& wait : lane.waits) {
    if (wait.until <= recording.begin || wait.from >= recording.end) continue;
    while (next != lane.issues.end() && next->cycle < wait.until) ++next;
    if (next == lane.issues.end()) break;
    const std::uint64_t from = std::max(wait.from, recording.begin), until = std::min(wait.until, recording.end);
    if (until > from)
      lines[static_cast<std::size_t>(next->pc)].waits[std::string(name_of(wait.reason))] += until - from;
  }
  for (const sm::IssueRecord& issue : lane.issues)
    if (issue.cycle >= recording.begin && issue.cycle < recording.end)
      ++lines[static_cast<std::size_t>(issue.pc)].issues;
}

Json code_json(const Program& program, const std::vector<Line>& lines) {
  Json code = Json::array();
  for (std::size_t pc = 0; pc < lines.size(); ++pc) {
    const int at = static_cast<int>(pc);
    code.push_back({{"text", kernels::to_text(program, at)},
                    {"unit", static_cast<int>(kernels::opcode_info(program.code[pc].op).unit)},
                    {"issues", lines[pc].issues},
                    {"waits", lines[pc].waits},
                    {"from", trace::producers(program, at)}});
  }
  return code;
}

Json lane_json(const WarpLane& lane, std::size_t warp, const gpu::Recording& recording, int sub_cores) {
  Json issues = Json::array(), waits = Json::array();
  for (const sm::IssueRecord& issue : lane.issues)
    if (issue.cycle >= recording.begin && issue.cycle < recording.end) {
      issues.push_back(issue.cycle);
      issues.push_back(issue.pc);
    }
  for (const sm::WaitRecord& wait : lane.waits) {
    if (wait.until <= recording.begin || wait.from >= recording.end) continue;
    waits.push_back(std::max(wait.from, recording.begin));
    waits.push_back(std::min(wait.until, recording.end));
    waits.push_back(static_cast<int>(wait.reason));
  }
  return {{"warp", warp}, {"sub", static_cast<int>(warp) % sub_cores}, {"issues", issues}, {"waits", waits}};
}

}  // namespace

std::string watched(const gpu::Recording& recording, const arch::GpuSpec& gpu) {
  const Program& program = recording.program();
  const std::vector<WarpLane> lanes = trace::warp_lanes(recording);
  std::vector<Line> lines(program.code.size());
  Json warps = Json::array();
  for (std::size_t warp = 0; warp < lanes.size(); ++warp) {
    count(lanes[warp], recording, lines);
    warps.push_back(lane_json(lanes[warp], warp, recording, gpu.sm.sub_cores));
  }
  Json reasons = Json::array();
  for (std::size_t i = 0; i < sm::stall_count; ++i)
    reasons.push_back(
        {{"name", name_of(static_cast<sm::Stall>(i))}, {"says", description_of(static_cast<sm::Stall>(i))}});
  return Json{{"begin", recording.begin},           {"end", recording.end},
              {"iterations", recording.iterations}, {"mainloop", program.mainloop_begin},
              {"epilogue", program.epilogue_begin}, {"reasons", reasons},
              {"code", code_json(program, lines)},  {"warps", warps}}
      .dump();
}

}  // namespace noteg::web
