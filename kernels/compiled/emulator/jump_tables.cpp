// Tables of constants that say where BRX and calls of pointers go. A listing does not hold them; nvdisasm names the
// targets of a BRX. Else their entries follow the order in which the compiler lays out what nothing else leads to: the
// bodies of a switch behind its BRX, the last one first (nvcc 13), with what lies behind them last, and functions
// behind the kernel.
#include <algorithm>
#include <set>

#include "kernels/compiled/emulator/code.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

bool goes_on(const Step& step) {
  const S s = step.semantics;
  return step.in->guard >= 0 || (s != S::branch && s != S::branch_indexed && s != S::exit && s != S::ret);
}

class Tables {
 public:
  explicit Tables(const EmulatedCode& code) : code_(code), steps_(code.steps) {
    for (const Step& step : steps_)
      for (std::size_t o = 0; o < step.in->operands; ++o)
        if (const auto at = target(step.in->operand[o])) led_to_.insert(*at);
  }

  JumpTables filled() {
    const auto n = static_cast<std::int32_t>(steps_.size());
    for (std::int32_t i = 0; i < n; ++i)
      if (steps_[index(i)].semantics == S::branch_indexed) fill(i, bodies(i), 4);
    for (std::int32_t i = 0; i < n; ++i)
      if (steps_[index(i)].semantics == S::call && named_by(i) != nullptr) fill(i, functions(), 8);
    return std::move(out_);
  }

 private:
  static std::size_t index(std::int32_t at) { return static_cast<std::size_t>(at); }

  [[nodiscard]] std::optional<std::int32_t> target(const Operand& o) const {
    return o.kind == Kind::label || o.kind == Kind::integer ? code_.code->at(static_cast<std::uint64_t>(o.value))
                                                            : std::nullopt;
  }

  // What only a table leads to: nothing goes on to it, no branch names it.
  [[nodiscard]] bool is_hidden(std::int32_t at) const {
    return at > 0 && !goes_on(steps_[index(at - 1)]) && !led_to_.contains(at) && steps_[index(at)].in->base != "NOP" &&
           steps_[index(at)].semantics != S::branch;
  }

  [[nodiscard]] std::vector<std::int32_t> bodies(std::int32_t brx) const {
    std::vector<std::int32_t> out;
    if (const auto named = code_.code->targets.find(steps_[index(brx)].in->address);
        named != code_.code->targets.end()) {
      for (const std::uint32_t each : named->second)
        if (const auto at = code_.code->at(each)) out.push_back(*at);
      return out;
    }
    std::optional<std::int32_t> behind;
    for (std::int32_t i = brx + 1; index(i) < steps_.size(); ++i) {
      if (is_hidden(i)) out.push_back(i);
      const Step& step = steps_[index(i)];
      if (step.semantics == S::branch_indexed) break;
      if (step.semantics == S::branch && step.in->guard < 0 && !behind)
        for (std::size_t o = 0; o < step.in->operands; ++o)
          if (const auto at = target(step.in->operand[o]); at && *at > i) behind = at;
    }
    std::ranges::reverse(out);
    if (behind) out.push_back(*behind);
    return out;
  }

  [[nodiscard]] std::vector<std::int32_t> functions() const {
    std::vector<std::int32_t> out;
    bool returns = false;
    for (auto i = static_cast<std::int32_t>(steps_.size()) - 1; i > 0; --i) {
      returns = returns || steps_[index(i)].semantics == S::ret;
      if (!returns || !is_hidden(i)) continue;
      out.push_back(i);
      returns = false;
    }
    std::ranges::reverse(out);
    return out;
  }

  // The register in which an instruction finds where it goes.
  [[nodiscard]] const Operand* named_by(std::int32_t at) const {
    const Instruction& in = *steps_[index(at)].in;
    for (std::size_t o = 0; o < in.operands; ++o)
      if (in.operand[o].kind == Kind::reg) return &in.operand[o];
    return nullptr;
  }

  // From where the load of that register begins to read, as many entries as there are places.
  void fill(std::int32_t at, const std::vector<std::int32_t>& places, std::int64_t bytes) {
    constexpr std::int32_t near = 64;
    constexpr std::int64_t most = 1024;  // bytes, of pointers: who asks for more finds the first again
    const Operand* reg = named_by(at);
    if (reg == nullptr || places.empty()) return;
    out_.places[at] = places;
    for (std::int32_t i = at - 1; i >= 0 && i > at - near; --i) {
      const Instruction& in = *steps_[index(i)].in;
      const S s = steps_[index(i)].semantics;
      if ((s != S::load_constant && s != S::load_indexed) || in.operands < 2 || in.operand[0].index != reg->index)
        continue;
      const Operand& from = in.operand[in.operands - 1];
      if (from.kind != Kind::constant || from.index == 0) return;
      const auto count = static_cast<std::int64_t>(places.size());
      for (std::int64_t k = 0; bytes == 8 ? k * bytes < most : k < count; ++k) {
        const auto place =
            static_cast<std::uint32_t>(steps_[index(places[static_cast<std::size_t>(k % count)])].in->address);
        const std::int64_t offset = from.value + k * bytes;
        if (!out_.entries.try_emplace(offset, place).second) continue;
        if (bytes == 8) out_.entries.try_emplace(offset + 4, 0);
      }
      return;
    }
  }

  const EmulatedCode& code_;
  const std::vector<Step>& steps_;
  std::set<std::int32_t> led_to_;
  JumpTables out_;
};

}  // namespace

JumpTables jump_tables(const EmulatedCode& code) { return Tables(code).filled(); }

}  // namespace noteg::compiled
