#include "kernels/passes/passes.hpp"

#include <algorithm>
#include <bitset>
#include <optional>

#include "kernels/passes/resources.hpp"

namespace noteg::kernels {
namespace {

constexpr int register_limit = 253;  // 255 less the two kept for the driver
constexpr int kept_by_driver = 2;
using Registers = std::bitset<256>;

// A set of virtual registers (index 0 is first_virtual).
class Set {
 public:
  explicit Set(std::size_t n) : words_((n + 63) / 64, 0) {}
  void insert(std::size_t i) { words_[i / 64] |= bit(i); }
  void erase(std::size_t i) { words_[i / 64] &= ~bit(i); }
  bool merge(const Set& other) {  // true if something was new
    std::uint64_t grew = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      grew |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return grew != 0;
  }
  template <class F>
  void for_each(F&& use) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1) {
        use(w * 64 + static_cast<std::size_t>(__builtin_ctzll(left)));
      }
    }
  }

 private:
  static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << (i % 64); }
  std::vector<std::uint64_t> words_;
};

std::optional<std::size_t> virtual_index(int resource) {
  if (!is_vector_register(resource) || resource < first_virtual) return std::nullopt;
  return static_cast<std::size_t>(resource - first_virtual);
}

// From what is alive behind an instruction to what is alive before it: calls becomes(register, alive).
template <class F>
void step_back(const Instruction& ins, F&& becomes) {
  const auto each = [&](bool alive) {
    return [&becomes, alive](int resource) {
      if (const auto v = virtual_index(resource)) becomes(*v, alive);
    };
  };
  if (!is_guarded(ins)) for_each_write(ins, each(false));
  for_each_read(ins, each(true));
}

// What is alive behind each instruction.
std::vector<Set> live_out(const Program& program, std::size_t count) {
  const std::size_t n = program.code.size();
  std::vector<Set> out(n, Set(count));
  std::vector<Set> in(n, Set(count));
  Set live(count);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = n; i-- > 0;) {
      const Instruction& ins = program.code[i];
      if (i + 1 < n) out[i].merge(in[i + 1]);
      if (ins.loop >= 0) {
        const Loop& loop = program.loops[static_cast<std::size_t>(ins.loop)];
        const bool guards = is_guard(ins, static_cast<std::int32_t>(i), program.loops);
        out[i].merge(in[static_cast<std::size_t>(guards ? loop.branch + 1 : loop.begin)]);
      }
      live = out[i];
      step_back(ins, [&](std::size_t v, bool alive) { alive ? live.insert(v) : live.erase(v); });
      changed = in[i].merge(live) || changed;
    }
  }
  return out;
}

// So many virtual registers at least are alive at once: what loops keep from iteration to iteration is left out, so
// that one pass tells, where the graph of all takes memory by the square of their number.
int alive_at_once(const Program& program, std::size_t count) {
  std::vector<bool> alive(count, false);
  int now = 0, most = 0;
  for (std::size_t i = program.code.size(); i-- > 0;) {
    step_back(program.code[i], [&](std::size_t v, bool used) {
      now += static_cast<int>(used) - static_cast<int>(alive[v]);
      alive[v] = used;
    });
    most = std::max(most, now);
  }
  return most;
}

std::size_t virtual_registers(const std::vector<VirtualGroup>& groups) {
  return groups.empty() ? 0 : static_cast<std::size_t>(groups.back().first + groups.back().count - first_virtual);
}

class Colouring {
 public:
  Colouring(const Program& program, const std::vector<VirtualGroup>& groups)
      : groups_(groups), first_(groups.size(), -1) {
    const std::size_t count = virtual_registers(groups);
    group_of_.resize(count);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int i = 0; i < groups[g].count; ++i)
        group_of_[static_cast<std::size_t>(groups[g].first - first_virtual + i)] = g;
    }
    neighbours_.assign(groups.size(), Set(groups.size()));
    find_neighbours(program, live_out(program, count));
  }

  // False if the file is too small.
  bool run() {
    for (const std::size_t g : order()) {
      first_[g] = place(g);
      if (first_[g] < 0) return false;
      highest_ = std::max(highest_, first_[g] + groups_[g].count);
    }
    return true;
  }

  [[nodiscard]] int physical(int resource) const {
    const auto v = static_cast<std::size_t>(resource - first_virtual);
    const std::size_t g = group_of_[v];
    return first_[g] + resource - groups_[g].first;
  }
  [[nodiscard]] int highest() const { return highest_; }

 private:
  void find_neighbours(const Program& program, const std::vector<Set>& out) {
    std::vector<Set> beside(groups_.size(), Set(group_of_.size()));  // alive where the group is written
    for (std::size_t i = 0; i < program.code.size(); ++i) {
      for_each_write(program.code[i], [&](int r) {
        const auto v = virtual_index(r);
        if (!v) return;
        Set& with = beside[group_of_[*v]];
        with.merge(out[i]);
        for_each_write(program.code[i], [&](int other) {
          if (const auto w = virtual_index(other)) with.insert(*w);
        });
      });
    }
    for (std::size_t g = 0; g < beside.size(); ++g)
      beside[g].for_each([&](std::size_t w) { connect(g, group_of_[w]); });
  }

  void connect(std::size_t a, std::size_t b) {
    if (a == b) return;
    neighbours_[a].insert(b);
    neighbours_[b].insert(a);
  }

  // Wide groups and those with a wish first: what is left fits anywhere.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> result(groups_.size());
    for (std::size_t g = 0; g < result.size(); ++g) result[g] = g;
    std::stable_sort(result.begin(), result.end(), [&](std::size_t a, std::size_t b) {
      if (groups_[a].count != groups_[b].count) return groups_[a].count > groups_[b].count;
      return (groups_[a].bank != Bank::any) && (groups_[b].bank == Bank::any);
    });
    return result;
  }

  int place(std::size_t g) const {
    Registers taken;
    neighbours_[g].for_each([&](std::size_t other) {
      if (first_[other] < 0) return;
      for (int i = 0; i < groups_[other].count; ++i) taken.set(static_cast<std::size_t>(first_[other] + i));
    });
    const int wished = find_free(taken, groups_[g], true);
    return wished >= 0 ? wished : find_free(taken, groups_[g], false);
  }

  static int find_free(const Registers& taken, const VirtualGroup& group, bool keep_bank) {
    int align = 1;
    while (align < group.count && align < 4) align *= 2;
    for (int r = 0; r + group.count <= register_limit; r += align) {
      if (keep_bank && group.bank != Bank::any && (r % 2 == 0) != (group.bank == Bank::even)) continue;
      bool is_free = true;
      for (int i = 0; i < group.count && is_free; ++i) is_free = !taken.test(static_cast<std::size_t>(r + i));
      if (is_free) return r;
    }
    return -1;
  }

  const std::vector<VirtualGroup>& groups_;
  std::vector<std::size_t> group_of_;
  std::vector<Set> neighbours_;  // of each group
  std::vector<int> first_;
  int highest_ = 0;
};

}  // namespace

Result<int> assign_registers(Program& program, const std::vector<VirtualGroup>& groups) {
  const auto too_many = [&] {
    return Diagnostic{"", 0, 0, "tile", "a thread tile that fits in 255 registers per thread", program.name};
  };
  if (alive_at_once(program, virtual_registers(groups)) > register_limit) return too_many();
  Colouring colouring(program, groups);
  if (!colouring.run()) return too_many();
  auto rename = [&](Operand& o) {
    if (o.kind == OperandKind::reg && o.index >= first_virtual)
      o.index = static_cast<std::int16_t>(colouring.physical(o.index));
  };
  for (Instruction& ins : program.code) {
    for (Operand& o : ins.dst) rename(o);
    for (Operand& o : ins.src) rename(o);
  }
  program.registers = colouring.highest() + kept_by_driver;
  return program.registers;
}

}  // namespace noteg::kernels
