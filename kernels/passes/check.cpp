
#include <fmt/format.h>

#include <map>
#include <set>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/passes.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

// Independent of the passes that write the bits: it keeps issue times and outstanding producers and looks up each
// hazard when it is met.
class Checker {
 public:
  Checker(const Program& program, const LatencyModel& model) : program_(program), model_(model) {}

  void step(int at) {
    const Instruction& ins = program_.code[static_cast<std::size_t>(at)];
    check_visibility(at, ins);
    for (int c = 0; c < counter_count; ++c) {
      if ((ins.control.wait_mask >> c & 1) != 0) complete(c);
    }
    check_hazards(at, ins);
    check_single(at, ins);
    record(at, ins);
    now_ += ins.control.stall;
    previous_ = at;
  }

  std::vector<std::string> take() { return {found_.begin(), found_.end()}; }

 private:
  struct Outstanding {
    int producer = 0;
    int counter = -1;  // -1: nothing will ever tell
  };

  void report(int at, const std::string& what) {
    found_.insert(fmt::format("instruction {} ({}): {}", at,
                              opcode_info(program_.code[static_cast<std::size_t>(at)].op).mnemonic, what));
  }

  void complete(int counter) {
    for (auto* list : {&results_, &sources_}) {
      std::erase_if(*list, [&](const auto& entry) { return entry.second.counter == counter; });
    }
  }

  void check_visibility(int at, const Instruction& ins) {
    if (previous_ < 0) return;
    const Control& before = program_.code[static_cast<std::size_t>(previous_)].control;
    for (const int c : {int{before.write_barrier}, int{before.read_barrier}}) {
      if (c >= 0 && (ins.control.wait_mask >> c & 1) != 0 && before.stall < 2)
        report(at, fmt::format("waits for SB{} one cycle after its producer", c));
    }
  }

  void check_hazards(int at, const Instruction& ins) {
    for (const Operand& o : ins.src) for_each_resource(o, [&](int r) { check_read(at, ins, r, false); });
    for_each_resource(ins.guard, [&](int r) { check_read(at, ins, r, true); });
    for_each_write(ins, [&](int r) {
      if (results_.contains(r))
        report(at,
               fmt::format("overwrites resource {} before it was written by {}", r, results_.find(r)->second.producer));
      if (sources_.contains(r))
        report(at, fmt::format("overwrites resource {} before {} has read it", r, sources_.find(r)->second.producer));
    });
  }

  void check_read(int at, const Instruction& ins, int r, bool as_guard) {
    if (results_.contains(r))
      report(at, fmt::format("reads resource {} before {} delivered it", r, results_.find(r)->second.producer));
    const auto fixed = fixed_.find(r);
    if (fixed == fixed_.end()) return;
    const Opcode producer = program_.code[static_cast<std::size_t>(fixed->second.first)].op;
    const int due = fixed->second.second + fixed_latency(model_, producer, ins.op, r, as_guard);
    if (now_ < due) report(at, fmt::format("reads resource {} {} cycles too early", r, due - now_));
  }

  void check_single(int at, const Instruction& ins) {
    if (ins.control.stall > 11 && !ins.control.yield) report(at, "stalls more than 11 cycles without yield");
    if (ins.op == Opcode::depbar && ins.control.stall < model_.depbar_stall) report(at, "DEPBAR with a short stall");
  }

  void record(int at, const Instruction& ins) {
    for_each_write(ins, [&](int r) {
      fixed_.erase(r);
      if (!is_variable(ins))
        fixed_[r] = {at, now_};
      else
        results_.emplace(r, Outstanding{at, ins.control.write_barrier});
    });
    if (!is_variable(ins) || is_never_executed(ins)) return;
    const int counter = ins.control.read_barrier >= 0 ? ins.control.read_barrier : ins.control.write_barrier;
    for (const Operand& o : ins.src) {
      for_each_resource(o, [&](int r) {
        if (!is_predicate(r)) sources_.emplace(r, Outstanding{at, counter});
      });
    }
  }

  const Program& program_;
  const LatencyModel& model_;
  std::map<int, std::pair<int, int>> fixed_;  // writer, issue time
  std::multimap<int, Outstanding> results_, sources_;
  std::set<std::string> found_;
  int now_ = 0;
  int previous_ = -1;
};

}  // namespace

std::vector<std::string> check_control_bits(const Program& program, const LatencyModel& model) {
  Checker checker(program, model);
  for (const int at : two_iteration_walk(program)) checker.step(at);
  return checker.take();
}

}  // namespace noteg::kernels
