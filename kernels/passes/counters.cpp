#include <algorithm>
#include <array>
#include <vector>

#include "kernels/passes/control_bits.hpp"
#include "kernels/passes/resources.hpp"
#include "kernels/passes/trace.hpp"

namespace noteg::kernels {
namespace {

constexpr int nowhere = 1 << 30;

bool uses_copy_counter(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const Instruction& i) { return i.op == Opcode::ldgdepbar; });
}

// Places on the walk where a producer's counter is needed.
struct Needs {
  int write_until = nowhere;   // first reader or overwriter of a destination
  int read_until = nowhere;    // first overwriter of a source
};

// Walks backwards once: for each place, when its registers are next touched.
std::vector<Needs> find_needs(const Program& program, const std::vector<int>& trace) {
  std::vector<Needs> needs(trace.size());
  std::vector<int> next_touch(resource_count, nowhere);
  std::vector<int> next_write(resource_count, nowhere);
  for (std::size_t p = trace.size(); p-- > 0;) {
    const Instruction& ins = program.code[static_cast<std::size_t>(trace[p])];
    if (is_variable(ins) && !is_never_executed(ins)) {
      for_each_write(ins, [&](int r) { needs[p].write_until = std::min(needs[p].write_until, next_touch[static_cast<std::size_t>(r)]); });
      for (const Operand& o : ins.src) {
        for_each_resource(o, [&](int r) {
          if (!is_predicate(r)) needs[p].read_until = std::min(needs[p].read_until, next_write[static_cast<std::size_t>(r)]);
        });
      }
      // Whoever waits for the result has also waited for the sources.
      if (needs[p].write_until <= needs[p].read_until) needs[p].read_until = nowhere;
    }
    for_each_read(ins, [&](int r) { next_touch[static_cast<std::size_t>(r)] = static_cast<int>(p); });
    for_each_write(ins, [&](int r) {
      next_touch[static_cast<std::size_t>(r)] = static_cast<int>(p);
      next_write[static_cast<std::size_t>(r)] = static_cast<int>(p);
    });
  }
  return needs;
}

// Hands out counters along the walk. Producers that are waited for at the same place share one; otherwise a
// counter that is free by then, least recently used first; failing that the one whose wait is nearest.
class Pool {
 public:
  explicit Pool(int first) : first_(first) {
    for (int& until : until_) until = -1;
  }

  int choose(int now, int until) {
    int best = first_;
    for (int c = first_; c < counter_count; ++c) {
      if (cost(c, now, until) < cost(best, now, until)) best = c;
    }
    take(best, now, until);
    return best;
  }

  void take(int counter, int now, int until) {
    auto& busy = until_[static_cast<std::size_t>(counter)];
    busy = std::max(busy, until);
    used_[static_cast<std::size_t>(counter)] = now;
  }

 private:
  long cost(int counter, int now, int until) const {
    const int busy = until_[static_cast<std::size_t>(counter)];
    if (busy > now && busy == until) return -1;
    if (busy <= now) return used_[static_cast<std::size_t>(counter)];
    return 1'000'000L + std::abs(busy - until);
  }

  int first_;
  std::array<int, counter_count> until_{};
  std::array<int, counter_count> used_{};
};

void choose_counters(Program& program, const std::vector<int>& trace, int first_counter) {
  const std::vector<Needs> needs = find_needs(program, trace);
  Pool pool(first_counter);
  auto settle = [&](std::int8_t& barrier, int now, int until) {
    if (until == nowhere) return;
    if (barrier >= 0) pool.take(barrier, now, until);
    else barrier = static_cast<std::int8_t>(pool.choose(now, until));
  };
  for (std::size_t p = 0; p < trace.size(); ++p) {
    Control& control = program.code[static_cast<std::size_t>(trace[p])].control;
    settle(control.write_barrier, static_cast<int>(p), needs[p].write_until);
    settle(control.read_barrier, static_cast<int>(p), needs[p].read_until);
  }
}

// Which counters guard each register on the walk; a wait on a counter frees all that it guarded.
class Pending {
 public:
  Pending() : result_(resource_count, 0), source_(resource_count, 0) {}

  [[nodiscard]] unsigned needed_by(const Instruction& ins) const {
    unsigned mask = 0;
    for_each_read(ins, [&](int r) { mask |= result_[static_cast<std::size_t>(r)]; });
    for_each_write(ins, [&](int r) { mask |= unsigned{result_[static_cast<std::size_t>(r)]} | source_[static_cast<std::size_t>(r)]; });
    return mask;
  }

  void clear(unsigned mask) {
    for (int c = 0; c < counter_count; ++c) {
      if ((mask >> c & 1u) == 0) continue;
      auto& list = guarded_[static_cast<std::size_t>(c)];
      for (const int r : list) {
        result_[static_cast<std::size_t>(r)] = static_cast<std::uint8_t>(result_[static_cast<std::size_t>(r)] & ~(1u << c));
        source_[static_cast<std::size_t>(r)] = static_cast<std::uint8_t>(source_[static_cast<std::size_t>(r)] & ~(1u << c));
      }
      list.clear();
    }
  }

  void add(const Instruction& ins) {
    const int write = ins.control.write_barrier;
    const int sources = ins.control.read_barrier >= 0 ? ins.control.read_barrier : write;
    if (write >= 0) for_each_write(ins, [&](int r) { mark(result_, r, write); });
    if (sources < 0) return;
    for (const Operand& o : ins.src) {
      for_each_resource(o, [&](int r) { if (!is_predicate(r)) mark(source_, r, sources); });   // predicates are read at issue
    }
  }

 private:
  void mark(std::vector<std::uint8_t>& masks, int r, int counter) {
    masks[static_cast<std::size_t>(r)] = static_cast<std::uint8_t>(masks[static_cast<std::size_t>(r)] | 1u << counter);
    guarded_[static_cast<std::size_t>(counter)].push_back(r);
  }

  std::vector<std::uint8_t> result_, source_;
  std::array<std::vector<int>, counter_count> guarded_;
};

}  // namespace

void assign_counters(Program& program) {
  const std::vector<int> trace = double_trace(program);
  const bool has_copies = uses_copy_counter(program);
  for (Instruction& ins : program.code) {
    ins.control = Control{};
    if (ins.op == Opcode::ldgdepbar) ins.control.write_barrier = copy_counter;
  }
  choose_counters(program, trace, has_copies ? copy_counter + 1 : 0);
  Pending pending;
  for (const int at : trace) {
    Instruction& ins = program.code[static_cast<std::size_t>(at)];
    const unsigned mask = pending.needed_by(ins) | ins.control.wait_mask;
    ins.control.wait_mask = static_cast<std::uint8_t>(mask);
    pending.clear(mask);
    if (ins.op != Opcode::ldgdepbar) pending.add(ins);
  }
}

}  // namespace noteg::kernels
