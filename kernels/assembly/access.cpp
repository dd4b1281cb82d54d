// Address patterns of memory operands.
#include <fmt/format.h>

#include "kernels/access/wavefronts.hpp"
#include "kernels/assembly/mnemonics.hpp"
#include "kernels/assembly/state.hpp"
#include "kernels/assembly/text.hpp"

namespace noteg::kernels {
namespace {

constexpr std::size_t most_patterns = 30'000;

std::string_view name_of(Space space) { return space == Space::shared ? "shared" : "global"; }

// Options stand at the end: each is a word with '='.
bool read_option(AssemblyState& state, std::string_view word, AccessRule& rule) {
  const std::string_view key = word.substr(0, word.find('=')), value = word.substr(key.size() + 1);
  if (key == "mask") {
    const auto mask = whole_number(value);
    if (mask && *mask >= 0) {
      rule.mask = static_cast<std::uint32_t>(*mask);
      return true;
    }
    state.mistakes.add(value, "a lane mask like 0x0000ffff");
    return false;
  }
  if (key == "matrix" && (value == "a" || value == "b" || value == "c")) {
    rule.matrix = value == "a" ? Matrix::a : value == "b" ? Matrix::b : Matrix::c;
    return true;
  }
  state.mistakes.add(word, "matrix=a, b or c, or mask=0x...");
  return false;
}

bool read_offset_list(AssemblyState& state, std::string_view text, AccessRule& rule) {
  if (!text.ends_with("]")) {
    state.mistakes.add(text, "32 offsets in brackets");
    return false;
  }
  std::string_view rest = text.substr(1, text.size() - 2);
  std::size_t count = 0;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest), ++count) {
    const auto value = whole_number(word);
    if (!value || *value < 0) {
      state.mistakes.add(word, "an offset in bytes that is not negative");
      return false;
    }
    if (count < 32) rule.offset[count] = static_cast<std::uint32_t>(*value);
  }
  if (count != 32) state.mistakes.add(text, "32 offsets, one for each lane", fmt::format("{}", count));
  return count == 32;
}

bool read_offsets(AssemblyState& state, std::string_view text, AccessRule& rule) {
  if (text.starts_with("[")) return read_offset_list(state, text, rule);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const auto value = evaluate_lane_expression(text, lane);
    if (!value) {
      state.mistakes.add(text, "an expression over lane, or 32 offsets in brackets");
      return false;
    }
    if (*value < 0) {
      state.mistakes.add(text, "offsets that are not negative", fmt::format("{} for lane {}", *value, lane));
      return false;
    }
    rule.offset[lane] = static_cast<std::uint32_t>(*value);
  }
  return true;
}

// The rule for a base register where it fits the instruction; a contradiction is a mistake.
const AccessRule* rule_for(AssemblyState& state, const Instruction& in, std::string_view base, Space space,
                           std::optional<int> bytes) {
  const auto found = state.access.find(base);
  if (found == state.access.end()) return nullptr;
  const AccessRule& rule = found->second;
  const std::string mnemonic = std::string(opcode_info(in.op).mnemonic) + in.modifiers;
  if (rule.space != space) {
    state.mistakes.add(base,
                       fmt::format("a {} access, as .access {} in line {} says", name_of(rule.space), base, rule.line),
                       fmt::format("{}, which is {}", mnemonic, name_of(space)));
  } else if (rule.bytes && bytes && *rule.bytes != *bytes) {
    state.mistakes.add(base,
                       fmt::format("{} bytes a lane, as .access {} in line {} says", *rule.bytes, base, rule.line),
                       fmt::format("{}, which moves {}", mnemonic, *bytes));
  }
  return &rule;
}

}  // namespace

void read_access(AssemblyState& state, std::string_view text) {
  AccessRule rule;
  rule.line = state.mistakes.line_number();
  const std::string_view base = take_word(text);
  if (base.empty()) return state.mistakes.add(text, "a base register");
  const std::string_view space = take_word(text);
  if (space != "shared" && space != "global") return state.mistakes.add(space, "shared or global");
  rule.space = space == "shared" ? Space::shared : Space::global;
  const std::string_view width = take_word(text);
  if (width != "*") {
    const auto bytes = whole_number(width);
    if (!bytes || (*bytes != 4 && *bytes != 8 && *bytes != 16))
      return state.mistakes.add(width, "4, 8 or 16 bytes a lane, or *");
    rule.bytes = static_cast<int>(*bytes);
  }
  for (auto last = text.find_last_of(" \t"); last != std::string_view::npos; last = text.find_last_of(" \t")) {
    const std::string_view word = text.substr(last + 1);
    if (word.find('=') == std::string_view::npos) break;
    if (!read_option(state, word, rule)) return;
    text = trimmed(text.substr(0, last));
  }
  if (read_offsets(state, text, rule)) state.access[std::string(base)] = rule;
}

void attach_pattern(AssemblyState& state, Instruction& in, const std::vector<std::string_view>& bases) {
  const std::optional<int> bytes = bytes_per_lane(in.op, in.modifiers);
  AccessPattern pattern;
  pattern.space = space_of(in.op);
  pattern.store = is_store(in.op);
  pattern.active_mask = state.mask;
  const bool is_copy = in.op == Opcode::ldgsts;
  const AccessRule* rule = rule_for(state, in, bases.back(), pattern.space, bytes);
  const AccessRule* to = is_copy ? rule_for(state, in, bases.front(), Space::shared, bytes) : nullptr;
  const int width = bytes.value_or(rule != nullptr ? rule->bytes.value_or(16) : 16);
  in.access_bytes = static_cast<std::uint8_t>(width);
  pattern.bytes_per_lane = in.access_bytes;
  for (std::uint32_t lane = 0; lane < 32; ++lane) pattern.offset[lane] = lane * static_cast<std::uint32_t>(width);
  if (is_copy) pattern.shared_offset = to != nullptr ? to->offset : pattern.offset;
  if (rule != nullptr) {
    pattern.offset = rule->offset;
    pattern.matrix = rule->matrix;
    pattern.active_mask = rule->mask.value_or(to != nullptr ? to->mask.value_or(state.mask) : state.mask);
  } else if (to != nullptr) {
    pattern.active_mask = to->mask.value_or(state.mask);
  }
  Program& program = state.program;
  // Neighbours nearly always share a pattern; looking back a little keeps the list short.
  constexpr std::size_t look_back = 16;
  const std::size_t count = program.patterns.size();
  for (std::size_t i = count; i > (count > look_back ? count - look_back : 0); --i) {
    if (program.patterns[i - 1] != pattern) continue;
    in.pattern = static_cast<std::int16_t>(i - 1);
    return;
  }
  if (count >= most_patterns)
    return state.mistakes.add(state.mistakes.line(), "at most 30000 different address patterns", "more");
  in.pattern = static_cast<std::int16_t>(count);
  program.patterns.push_back(pattern);
}

}  // namespace noteg::kernels
