#include "sim/trace/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/ir/listing.hpp"

namespace noteg::trace {
namespace {

using sm::RecordedUnit;
using Json = nlohmann::ordered_json;

constexpr int sm_process = 1, first_sub_core_process = 2;
constexpr int first_slot_track = 10, first_warp_track = 20, first_unit_track = 100, tracks_of_unit = 20;

std::string json_text(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

// What a unit did, as tracks of slices that do not overlap: where a unit works for several instructions at a time, it
// gets as many tracks as that takes.
struct Slice {
  std::uint64_t from = 0, until = 0;
  std::int32_t pc = 0;
  std::uint16_t warp = 0;
  std::uint64_t ready = 0;
  std::size_t lane = 0;
};

// Puts each slice on the first lane that is free when it begins; slices come out in order of their beginnings. Returns
// the number of lanes.
std::size_t deal_lanes(std::vector<Slice>& slices) {
  std::ranges::stable_sort(slices, {}, &Slice::from);
  std::vector<std::uint64_t> free_at;
  for (Slice& slice : slices) {
    const auto free = std::ranges::find_if(free_at, [&](std::uint64_t at) { return at <= slice.from; });
    slice.lane = static_cast<std::size_t>(free - free_at.begin());
    if (free == free_at.end()) free_at.push_back(0);
    free_at[slice.lane] = slice.until;
  }
  return free_at.size();
}

class Writer {
 public:
  Writer(const gpu::Recording& recording, const gpu::SimReport& report, const arch::GpuSpec& gpu)
      : recording_(recording),
        report_(report),
        gpu_(gpu),
        sub_cores_(static_cast<std::size_t>(gpu.sm.sub_cores)),
        lanes_(warp_lanes(recording)) {
    const kernels::Program& program = recording.program();
    for (int pc = 0; pc < static_cast<int>(program.code.size()); ++pc) {
      names_.push_back(json_text(kernels::opcode_info(program.code[static_cast<std::size_t>(pc)].op).mnemonic));
      texts_.push_back(json_text(recording.shown[static_cast<std::size_t>(pc)].text));
      needs_.push_back(producers(program, pc));
    }
  }

  std::string text() {
    processes();
    ctas();
    issues();
    waits();
    arrows();
    units();
    counters();
    std::ranges::stable_sort(events_, {}, &Event::time);
    std::string out = "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + other_data() + ",\n\"traceEvents\":[\n";
    std::string_view before = "";
    const auto add = [&](const std::string& text) { out.append(std::exchange(before, ",\n")).append(text); };
    for (const std::string& name : names_of_tracks_) add(name);
    for (const Event& event : events_) add(event.text);
    return out + "\n]}\n";
  }

 private:
  struct Event {
    std::uint64_t time;
    std::string text;
  };

  [[nodiscard]] int process_of(std::uint16_t warp) const {
    return first_sub_core_process + static_cast<int>(warp % sub_cores_);
  }

  void name(std::string_view what, int process, int track, std::string_view text) {
    names_of_tracks_.push_back(
        fmt::format(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"ts":0,"args":{{"name":{}}}}})", what, process,
                    track, json_text(text)));
    names_of_tracks_.push_back(
        fmt::format(R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"ts":0,"args":{{"sort_index":{}}}}})", what,
                    process, track, what == "process" ? process : track));
  }

  // What lies inside the window, cut to it.
  void slice(std::string_view category, const std::string& quoted_name, int process, int track, std::uint64_t from,
             std::uint64_t until, const std::string& arguments) {
    from = std::max(from, recording_.begin);
    until = std::min(until, recording_.end);
    if (from >= until) return;
    events_.push_back(
        {from, fmt::format(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                           category, quoted_name, process, track, from, until - from, arguments)});
  }

  [[nodiscard]] std::string instruction(std::int32_t pc, std::uint16_t warp) const {
    return fmt::format(R"("text":{},"address":"{:04x}","warp":{})", texts_[static_cast<std::size_t>(pc)],
                       recording_.shown[static_cast<std::size_t>(pc)].address, warp);
  }

  void processes() {
    name("process", sm_process, 0, "SM of " + report_.arch_name);
    for (std::size_t s = 0; s < sub_cores_; ++s) {
      const int process = first_sub_core_process + static_cast<int>(s);
      name("process", process, 0, fmt::format("sub-core {}", s));
    }
  }

  void ctas() {
    const kernels::Program& program = recording_.program();
    std::map<std::uint16_t, bool> named;
    for (const sm::CtaRecord& cta : recording_.log.ctas) {
      const int track = first_slot_track + cta.slot;
      if (!named[cta.slot]) name("thread", sm_process, track, fmt::format("CTA slot {}", cta.slot));
      named[cta.slot] = true;
      slice("cta", json_text(fmt::format("CTA in slot {}", cta.slot)), sm_process, track, cta.started,
            cta.ended == 0 ? recording_.end : cta.ended, fmt::format("\"warps\":{}", program.warps));
    }
    for (std::size_t i = 0; i + 1 < recording_.iteration_begins.size(); ++i)
      slice("iteration", json_text(fmt::format("iteration {}", i + 1)), sm_process, first_slot_track - 1,
            recording_.iteration_begins[i], recording_.iteration_begins[i + 1], fmt::format("\"iteration\":{}", i + 1));
    if (recording_.iteration_begins.size() > 1)
      name("thread", sm_process, first_slot_track - 1, "iterations of the first CTA's main loop");
  }

  void issues() {
    for (const sm::IssueRecord& issue : recording_.log.issues) {
      const std::string& name = names_[static_cast<std::size_t>(issue.pc)];
      const std::string arguments = instruction(issue.pc, issue.warp);
      slice("issue", name, process_of(issue.warp), first_warp_track + issue.warp, issue.cycle, issue.cycle + 1,
            arguments);
    }
    const auto& work = recording_.run->work();
    for (int warp = 0; warp < work.resident * recording_.program().warps; ++warp)
      name("thread", process_of(static_cast<std::uint16_t>(warp)), first_warp_track + warp,
           fmt::format("warp {}", warp));
  }

  void waits() {
    for (const WarpLane& lane : lanes_)
      for (const sm::WaitRecord& wait : lane.waits)
        slice("wait", json_text(sm::name_of(wait.reason)), process_of(wait.warp), first_warp_track + wait.warp,
              wait.from, wait.until, fmt::format("\"why\":{}", json_text(sm::description_of(wait.reason))));
  }

  // An arrow from each instruction whose result a warp waited for to the one that waited, where both are in the window.
  void arrows() {
    std::size_t number = 0;
    for (const WarpLane& lane : lanes_) {
      std::map<std::int32_t, std::uint64_t> latest;  // issue of each instruction
      auto wait = lane.waits.begin();
      for (const sm::IssueRecord& issue : lane.issues) {
        while (wait != lane.waits.end() && wait->until < issue.cycle) ++wait;
        const bool waited = wait != lane.waits.end() && wait->until == issue.cycle && is_for_a_result(wait->reason);
        if (waited && issue.cycle < recording_.end)
          for (const int from : needs_[static_cast<std::size_t>(issue.pc)])
            if (const auto found = latest.find(from); found != latest.end() && found->second >= recording_.begin)
              arrow(++number, issue.warp, found->second, issue.cycle);
        latest[issue.pc] = issue.cycle;
      }
    }
  }

  static bool is_for_a_result(sm::Stall reason) {
    return reason == sm::Stall::short_scoreboard || reason == sm::Stall::long_scoreboard;
  }

  void arrow(std::size_t number, std::uint16_t warp, std::uint64_t from, std::uint64_t to) {
    const auto end = [&](const char* kind, const char* more, std::uint64_t time) {
      events_.push_back(
          {time, fmt::format(R"({{"ph":"{}","cat":"result","name":"result","id":{},"pid":{},"tid":{},"ts":{}{}}})",
                             kind, number, process_of(warp), first_warp_track + warp, time, more)});
    };
    end("s", "", from);
    end("f", R"(,"bp":"e")", to);
  }

  void units() {
    std::map<std::pair<int, RecordedUnit>, std::vector<Slice>> of_unit;
    for (const sm::UseRecord& use : recording_.log.uses) {
      if (use.from >= recording_.end || use.until <= recording_.begin) continue;
      const int process = sm::is_of_sub_core(use.unit) ? process_of(use.warp) : sm_process;
      of_unit[{process, use.unit}].push_back({use.from, use.until, use.pc, use.warp, use.ready, 0});
    }
    for (auto& [key, slices] : of_unit) {
      const auto& [process, unit] = key;
      const std::size_t lanes = deal_lanes(slices);
      const int first = first_unit_track + tracks_of_unit * static_cast<int>(unit);
      for (std::size_t lane = 0; lane < lanes; ++lane)
        name("thread", process, first + static_cast<int>(lane),
             lanes == 1 ? std::string(sm::name_of(unit)) : fmt::format("{} {}", sm::name_of(unit), lane + 1));
      for (const Slice& each : slices)
        slice("unit", names_[static_cast<std::size_t>(each.pc)], process, first + static_cast<int>(each.lane),
              each.from, each.until,
              instruction(each.pc, each.warp) + (each.ready > 0 ? fmt::format(",\"result_at\":{}", each.ready) : ""));
    }
  }

  void counter(const char* name, std::uint64_t time, double value, const char* unit) {
    events_.push_back({time, fmt::format(R"({{"ph":"C","name":"{}","pid":{},"tid":0,"ts":{},"args":{{"{}":{:.6g}}}}})",
                                         name, sm_process, time, unit, value)});
  }

  void counters() {
    occupancy();
    const std::vector<sm::Sample>& samples = recording_.log.samples;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
      const sm::Sample &from = samples[i], &to = samples[i + 1];
      if (from.cycle < recording_.begin || from.cycle >= recording_.end || to.cycle <= from.cycle) continue;
      const auto cycles = static_cast<double>(to.cycle - from.cycle);
      const auto rate = [&](double sm::CoreCounters::*member) {
        return (to.count.*member - from.count.*member) / cycles;
      };
      counter("issue", from.cycle, rate(&sm::CoreCounters::warp_instructions), "warp instructions per cycle");
      counter("L2 traffic", from.cycle, gpu::l2_bytes_between(recording_, from, to) / cycles, "bytes per cycle");
      counter("shared memory", from.cycle, rate(&sm::CoreCounters::shared_bytes), "bytes per cycle");
      counter("board power", from.cycle, gpu::power_between(recording_, report_, gpu_, from, to).value, "watts");
    }
  }

  // Warps on the SM: told at the window's begin and where a CTA starts or ends in it.
  void occupancy() {
    std::map<std::uint64_t, int> change;
    change[recording_.begin] += 0;
    for (const sm::CtaRecord& cta : recording_.log.ctas) {
      ++change[cta.started];
      if (cta.ended > 0) --change[cta.ended];
    }
    int resident = 0;
    for (const auto& [time, by] : change) {
      resident += by;
      if (time >= recording_.begin && time < recording_.end)
        counter("occupancy", time, resident * recording_.program().warps, "resident warps");
    }
  }

  [[nodiscard]] std::string other_data() const {
    return Json{{"program", "noteg"},
                {"gpu", report_.arch_name},
                {"kernel", report_.kernel.name},
                {"one_us_of_the_viewer_is", "one SM cycle"},
                {"sm_clock_mhz", recording_.run->clock().value * 1e-6},
                {"window_begin_cycle", recording_.begin},
                {"window_end_cycle", recording_.end},
                {"load_latency_cycles", recording_.port.latency},
                {"steps_that_wait_for_dram", recording_.run->timed.runs.waiting},
                {"watts", "of the whole board, as if every SM that works did what this one does"}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  const gpu::Recording& recording_;
  const gpu::SimReport& report_;
  const arch::GpuSpec& gpu_;
  std::size_t sub_cores_;
  std::vector<WarpLane> lanes_;
  std::vector<std::vector<int>> needs_;     // of each instruction, whose results
  std::vector<std::string> names_, texts_;  // of instructions, as JSON
  std::vector<std::string> names_of_tracks_;
  std::vector<Event> events_;
};

}  // namespace

std::string chrome_trace(const gpu::Recording& recording, const gpu::SimReport& report, const arch::GpuSpec& gpu) {
  return Writer(recording, report, gpu).text();
}

}  // namespace noteg::trace
