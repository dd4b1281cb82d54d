#include <algorithm>
#include <array>
#include <vector>

#include "kernels/ir/latency_model.hpp"
#include "kernels/passes/passes.hpp"
#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

constexpr int nowhere = 1 << 30;

bool uses_copy_counter(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const Instruction& i) { return i.op == Opcode::ldgdepbar; });
}

// Places on the walk where a producer's counter is needed.
struct Needs {
  int write_until = nowhere;  // first reader or overwriter of a destination
  int read_until = nowhere;   // first overwriter of a source
};

// Walks backwards once: for each place, when its registers are next touched.
std::vector<Needs> find_needs(const Program& program, const std::vector<int>& trace) {
  std::vector<Needs> needs(trace.size());
  std::vector<int> next_touch(resource_count, nowhere);
  std::vector<int> next_write(resource_count, nowhere);
  for (std::size_t p = trace.size(); p-- > 0;) {
    const Instruction& ins = program.code[static_cast<std::size_t>(trace[p])];
    if (is_variable(ins) && !is_never_executed(ins)) {
      for_each_write(ins, [&](int r) {
        needs[p].write_until = std::min(needs[p].write_until, next_touch[static_cast<std::size_t>(r)]);
      });
      for (const Operand& o : ins.src) {
        for_each_resource(o, [&](int r) {
          if (!is_predicate(r))
            needs[p].read_until = std::min(needs[p].read_until, next_write[static_cast<std::size_t>(r)]);
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

// One use of a counter on the walk: counted up at `from`, waited for at `until`, down again about at `done`.
struct Use {
  int from = 0, until = 0, done = 0;
};

// Cycles for which the wait for `mine` is held up if `other` shares its counter.
int hold_up(const Use& mine, const Use& other) {
  if (other.from >= mine.until) return 0;
  return std::max(0, other.done - std::max(mine.until, mine.done));
}

// All that one barrier field of one instruction does on the walk (more than once in loops).
struct LiveRange {
  std::int8_t* field = nullptr;
  std::vector<Use> uses;
};

// Cycles for which two ranges hold each other up if they share a counter.
long hold_up(const LiveRange& a, const LiveRange& b) {
  long sum = 0;
  for (const Use& mine : a.uses)
    for (const Use& other : b.uses) sum += hold_up(mine, other) + hold_up(other, mine);
  return sum;
}

// Gives each range the counter on which it and the others hold each other up least. Positions on the walk stand
// for cycles. Twice round: the first choice knows only the ranges before it.
class CounterAllocator {
 public:
  CounterAllocator(std::vector<LiveRange>& ranges, int first)
      : ranges_(ranges), first_(first), between_(ranges.size() * ranges.size()) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        between_[i * ranges.size() + j] = between_[j * ranges.size() + i] = hold_up(ranges[i], ranges[j]);
  }

  void run() {
    for (std::size_t i = 0; i < ranges_.size(); ++i) give(i);
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      auto& mates = given_[static_cast<std::size_t>(*ranges_[i].field)];
      mates.erase(std::find(mates.begin(), mates.end(), i));
      give(i);
    }
  }

 private:
  void give(std::size_t range) {
    int best = first_;
    long least = cost(range, first_);
    for (int c = first_ + 1; c < counter_count; ++c) {
      const long next = cost(range, c);
      if (next < least) best = c, least = next;
    }
    *ranges_[range].field = static_cast<std::int8_t>(best);
    given_[static_cast<std::size_t>(best)].push_back(range);
  }

  // Ties go to the counter with the fewest ranges.
  [[nodiscard]] long cost(std::size_t range, int counter) const {
    const auto& mates = given_[static_cast<std::size_t>(counter)];
    long sum = 0;
    for (const std::size_t mate : mates) sum += between_[range * ranges_.size() + mate];
    return sum * 1000 + static_cast<long>(mates.size());
  }

  std::vector<LiveRange>& ranges_;
  int first_;
  std::vector<long> between_;  // hold_up() of each two
  std::array<std::vector<std::size_t>, counter_count> given_;
};

constexpr int source_read_latency = 20;  // stores and copies read their registers about so long after issue

void choose_counters(Program& program, const std::vector<int>& trace, int first_counter) {
  const std::vector<Needs> needs = find_needs(program, trace);
  std::vector<LiveRange> ranges(program.code.size() * 2);
  for (std::size_t p = 0; p < trace.size(); ++p) {
    const auto at = static_cast<std::size_t>(trace[p]);
    Instruction& ins = program.code[at];
    const int now = static_cast<int>(p);
    auto add_range = [&](LiveRange& c, std::int8_t& field, int until, int latency) {
      if (until == nowhere) return;
      c.field = &field;
      c.uses.push_back({now, until, now + latency});
    };
    add_range(ranges[2 * at], ins.control.write_barrier, needs[p].write_until, opcode_info(ins.op).planned_latency);
    add_range(ranges[2 * at + 1], ins.control.read_barrier, needs[p].read_until, source_read_latency);
  }
  std::erase_if(ranges, [](const LiveRange& c) { return c.field == nullptr; });
  CounterAllocator(ranges, first_counter).run();
}

// Which counters guard each register on the walk; a wait on a counter frees all that it guarded.
class Pending {
 public:
  Pending() : result_(resource_count, 0), source_(resource_count, 0) {}

  [[nodiscard]] unsigned needed_by(const Instruction& ins) const {
    unsigned mask = 0;
    for_each_read(ins, [&](int r) { mask |= result_[static_cast<std::size_t>(r)]; });
    for_each_write(ins, [&](int r) {
      mask |= unsigned{result_[static_cast<std::size_t>(r)]} | source_[static_cast<std::size_t>(r)];
    });
    return mask;
  }

  void clear(unsigned mask) {
    for (int c = 0; c < counter_count; ++c) {
      if ((mask >> c & 1u) == 0) continue;
      auto& list = guarded_[static_cast<std::size_t>(c)];
      for (const int r : list) {
        result_[static_cast<std::size_t>(r)] =
            static_cast<std::uint8_t>(result_[static_cast<std::size_t>(r)] & ~(1u << c));
        source_[static_cast<std::size_t>(r)] =
            static_cast<std::uint8_t>(source_[static_cast<std::size_t>(r)] & ~(1u << c));
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
      for_each_resource(o, [&](int r) {
        if (!is_predicate(r)) mark(source_, r, sources);
      });  // predicates are read at issue
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
  const std::vector<int> trace = two_iteration_walk(program);
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
