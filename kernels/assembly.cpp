#include "kernels/assembly.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "kernels/lane_expression.hpp"

namespace noteg::kernels {

namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r' || s.back() == ';')) s.remove_suffix(1);
  return s;
}

template <class T>
std::optional<T> number(std::string_view s) {
  int base = 10;
  bool negative = false;
  if (s.starts_with("-")) {
    negative = true;
    s.remove_prefix(1);
  }
  if (s.starts_with("0x")) {
    base = 16;
    s.remove_prefix(2);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, base);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return static_cast<T>(negative ? -value : value);
}

// Longest mnemonic of the opcode table that the text begins with, up to a dot or the end.
std::optional<Opcode> opcode_of(std::string_view text) {
  std::optional<Opcode> best;
  std::size_t length = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Opcode::count_); ++i) {
    const OpcodeInfo& info = opcode_info(static_cast<Opcode>(i));
    const std::string_view m = info.mnemonic;
    const std::string_view base = m.substr(0, m.find('.'));
    for (const std::string_view form : {m, base}) {
      if (!text.starts_with(form) || (text.size() > form.size() && text[form.size()] != '.')) continue;
      if (form.size() > length) {
        length = form.size();
        best = info.op;
      }
    }
  }
  // Mnemonics of newer compilers that stand for an opcode of the table.
  static constexpr std::pair<std::string_view, Opcode> aliases[] = {
      {"IMNMX", Opcode::iadd3}, {"VIADDMNMX", Opcode::iadd3}, {"VOTEU", Opcode::uisetp}, {"I2FP", Opcode::i2f},
      {"FSETP", Opcode::isetp}, {"FSEL", Opcode::sel},        {"CALL", Opcode::nop},     {"RET", Opcode::nop},
      {"FMNMX", Opcode::fadd},  {"P2R", Opcode::mov},         {"R2P", Opcode::mov},      {"VOTE", Opcode::plop3},
      {"ULDC", Opcode::uldc}};
  if (!best) {
    const std::string_view base = text.substr(0, text.find('.'));
    for (const auto& [name, op] : aliases)
      if (base == name) best = op;
  }
  return best;
}

int width_of(std::string_view mnemonic) {
  if (mnemonic.find(".128") != std::string_view::npos) return 16;
  if (mnemonic.find(".64") != std::string_view::npos) return 8;
  return 4;
}

Operand parse_operand(std::string_view text) {
  Operand out;
  text = trimmed(text);
  while (!text.empty() && (text.front() == '-' || text.front() == '|' || text.front() == '!' || text.front() == '~')) {
    out.negated = out.negated || text.front() == '-' || text.front() == '!';
    text.remove_prefix(1);
  }
  out.reuse = text.find(".reuse") != std::string_view::npos;
  const std::string_view head = text.substr(0, text.find_first_of(".|+]"));
  const auto numbered = [&](std::string_view prefix, OperandKind kind, std::string_view zero) {
    if (head == zero) {
      out.kind = kind;
      out.index = rz;
      return true;
    }
    if (!head.starts_with(prefix)) return false;
    const auto index = number<std::int16_t>(head.substr(prefix.size()));
    if (!index || *index < 0 || *index > 255) return false;
    out.kind = kind;
    out.index = *index;
    return true;
  };
  if (numbered("UR", OperandKind::ureg, "URZ") || numbered("UP", OperandKind::upred, "UPT") ||
      numbered("R", OperandKind::reg, "RZ") || numbered("P", OperandKind::pred, "PT")) {
    return out;
  }
  if (text.starts_with("c[")) {
    out.kind = OperandKind::constant;
  } else if (text.starts_with("SR")) {
    out.kind = OperandKind::special;
  } else {
    out.kind = OperandKind::immediate;
    out.value = number<std::int32_t>(head).value_or(0);
  }
  return out;
}

std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i == text.size() || (text[i] == ',' && depth <= 0)) {
      const std::string_view part = trimmed(text.substr(begin, i - begin));
      if (!part.empty()) out.push_back(part);
      begin = i + 1;
    }
  }
  return out;
}

class Assembler {
 public:
  explicit Assembler(std::string_view name) : file_(name) {
    program_.name = std::string(name);
    program_.warps = 1;
  }

  void line(std::string_view raw, int line_number) {
    line_ = line_number;
    if (const auto comment = raw.find("//"); comment != std::string_view::npos) raw = raw.substr(0, comment);
    std::string_view address;
    if (const auto open = raw.find("/*"); open != std::string_view::npos) {
      const auto close = raw.find("*/", open);
      address = raw.substr(open + 2, close == std::string_view::npos ? std::string_view::npos : close - open - 2);
      raw = raw.substr(0, open);
    }
    const std::string_view text = trimmed(raw);
    if (text.empty() || text.front() == '#') return;
    if (text.front() == '.') return directive(text);
    if (text.back() == ':' && text.front() != '[') {
      labels_[std::string(text.substr(0, text.size() - 1))] = here();
      return;
    }
    if (!address.empty()) {
      if (const auto value = number<std::int64_t>("0x" + std::string(trimmed(address)))) addresses_[*value] = here();
    }
    instruction(text);
  }

  Result<Program> finish() {
    for (const Branch& branch : branches_) resolve(branch);
    if (program_.code.empty()) error("at least one instruction", "none");
    if (!errors_.empty()) return errors_;
    if (program_.code.back().op != Opcode::exit) {
      Instruction exit;
      exit.op = Opcode::exit;
      program_.code.push_back(exit);
    }
    program_.threads = program_.warps * 32;
    const auto size = static_cast<std::int32_t>(program_.code.size());
    program_.mainloop_begin = size;
    program_.epilogue_begin = size;
    for (const Loop& loop : program_.loops) {
      if (!loop.is_main) continue;
      program_.mainloop_begin = std::min(program_.mainloop_begin, loop.begin);
      program_.epilogue_begin = loop.branch + 1;
    }
    return std::move(program_);
  }

  void error(std::string expected, std::string found) {
    errors_.push_back({file_, line_, 1, "", std::move(expected), std::move(found)});
  }
  [[nodiscard]] std::size_t error_count() const { return errors_.size(); }

 private:
  struct Branch {
    std::int32_t at;
    std::string target;
    int line;
    bool main;
    std::int64_t trips;
  };
  struct Access {
    Space space;
    int bytes;
    std::string expression;
  };

  [[nodiscard]] std::int32_t here() const { return static_cast<std::int32_t>(program_.code.size()); }

  static std::string_view word(std::string_view& text) {
    text = trimmed(text);
    const auto end = text.find_first_of(" \t");
    const std::string_view out = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : trimmed(text.substr(end));
    return out;
  }

  void directive(std::string_view text) {
    const std::string_view name = word(text);
    if (name == ".warps") {
      const auto value = number<int>(trimmed(text));
      if (!value || *value < 1 || *value > 32) return error("1 to 32 warps", std::string(text));
      program_.warps = *value;
    } else if (name == ".trips") {
      trips_main_ = trimmed(text) == "main";
      const auto value = number<std::int64_t>(trimmed(text));
      if (!trips_main_ && (!value || *value < 1)) return error("main or a positive number of trips", std::string(text));
      trips_ = value.value_or(1);
    } else if (name == ".mask") {
      const auto value = number<std::int64_t>(trimmed(text));
      if (!value) return error("a lane mask", std::string(text));
      mask_ = static_cast<std::uint32_t>(*value);
    } else if (name == ".access") {
      const std::string base(word(text));
      const std::string_view space = word(text);
      const auto bytes = number<int>(word(text));
      if (space != "shared" && space != "global") return error("shared or global", std::string(space));
      if (!bytes || (*bytes != 4 && *bytes != 8 && *bytes != 16)) return error("4, 8 or 16 bytes per lane", "");
      if (!evaluate_lane_expression(text, 0)) return error("an expression over lane", std::string(text));
      access_[base] = {space == "shared" ? Space::shared : Space::global, *bytes, std::string(text)};
    } else {
      error(".warps, .trips, .access, .mask, .unroll or .end", std::string(name));
    }
  }

  bool control_bits(std::string_view bits, Control& out) {
    // B------:R-:W-:-:S01
    if (bits.size() != 19 || bits[0] != 'B' || bits[8] != 'R' || bits[11] != 'W' || bits[16] != 'S') return false;
    for (std::size_t i = 0; i < 6; ++i) {
      if (bits[1 + i] == static_cast<char>('0' + i))
        out.wait_mask = static_cast<std::uint8_t>(out.wait_mask | 1u << i);
      else if (bits[1 + i] != '-')
        return false;
    }
    const auto counter = [](char c) -> std::int8_t {
      return c >= '0' && c <= '5' ? static_cast<std::int8_t>(c - '0') : std::int8_t{-1};
    };
    out.read_barrier = counter(bits[9]);
    out.write_barrier = counter(bits[12]);
    out.yield = bits[14] == 'Y';
    const auto stall = number<int>(bits[17] == '0' ? bits.substr(18) : bits.substr(17));
    if (!stall || *stall < 0 || *stall > 15) return false;
    out.stall = static_cast<std::uint8_t>(*stall);
    return true;
  }

  void instruction(std::string_view text) {
    Instruction in;
    if (text.front() == '[') {
      const auto close = text.find(']');
      if (close == std::string_view::npos || !control_bits(text.substr(1, close - 1), in.control)) {
        return error("control bits like [B0-----:R-:W0:-:S02]", std::string(text.substr(0, 24)));
      }
      text = trimmed(text.substr(close + 1));
    }
    if (text.starts_with("@")) {
      in.guard = parse_operand(word(text).substr(1));
    }
    const std::string_view mnemonic = word(text);
    std::string_view lookup = mnemonic;
    if (lookup == "HFMA2.MMA") lookup = "HFMA2";
    const auto op = opcode_of(lookup);
    if (!op) return error("a known opcode", std::string(mnemonic));
    in.op = *op;
    if (in.op == Opcode::imad && mnemonic.starts_with("IMAD.WIDE")) in.op = Opcode::imad_wide;
    const std::string_view base = opcode_info(in.op).mnemonic;
    in.modifiers = std::string(mnemonic.starts_with(base) ? mnemonic.substr(base.size()) : std::string_view{});
    operands(in, mnemonic, split_operands(text));
    program_.code.push_back(in);
  }

  void operands(Instruction& in, std::string_view mnemonic, const std::vector<std::string_view>& parts) {
    std::size_t next = 0;
    const bool store = in.op == Opcode::sts || in.op == Opcode::stg || in.op == Opcode::ldgsts || in.op == Opcode::red;
    if (in.op == Opcode::bra) {
      if (parts.empty()) return error("a branch target", "");
      branches_.push_back({here(), std::string(parts.back()), line_, trips_main_, trips_});
      return;
    }
    if (in.op == Opcode::depbar) {
      if (parts.size() >= 2) in.depbar_count = number<std::int16_t>(parts[1]).value_or(0);
      return;
    }
    if (in.op == Opcode::bar_sync || in.op == Opcode::exit || in.op == Opcode::nop || in.op == Opcode::ldgdepbar)
      return;
    if (!store && next < parts.size()) in.dst[0] = parse_operand(parts[next++]);
    // Predicate destinations come before the sources.
    while (!store && next < parts.size() && next < 3 && parse_operand(parts[next]).kind == OperandKind::pred &&
           in.op != Opcode::sel) {
      in.dst[1] = parse_operand(parts[next++]);
    }
    std::size_t position = 0;
    for (; next < parts.size() && position < in.src.size(); ++next) {
      std::string_view part = parts[next];
      if (const auto open = part.find('['); open != std::string_view::npos && !part.starts_with("c[")) {
        std::string_view inside = part.substr(open + 1);
        if (part.starts_with("desc")) inside = part.substr(part.rfind('[') + 1);
        in.src[position] = parse_operand(inside);
        attach_pattern(in, mnemonic, inside);
        ++position;
        continue;
      }
      in.src[position++] = parse_operand(part);
    }
  }

  void attach_pattern(Instruction& in, std::string_view mnemonic, std::string_view inside) {
    in.access_bytes = static_cast<std::uint8_t>(width_of(mnemonic));
    const std::string base(inside.substr(0, inside.find_first_of(".+-]")));
    AccessPattern pattern;
    pattern.bytes_per_lane = in.access_bytes;
    pattern.active_mask = mask_;
    pattern.space =
        in.op == Opcode::lds || in.op == Opcode::sts || in.op == Opcode::ldsm ? Space::shared : Space::global;
    pattern.store = in.op == Opcode::sts || in.op == Opcode::stg;
    const auto found = access_.find(base);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      std::int64_t offset = lane * in.access_bytes;
      if (found != access_.end()) {
        const auto value = evaluate_lane_expression(found->second.expression, lane);
        if (!value || *value < 0)
          return error("an expression that is not negative for any lane", found->second.expression);
        offset = *value;
      }
      pattern.offset[lane] = static_cast<std::uint32_t>(offset);
    }
    pattern.shared_offset = pattern.offset;
    if (program_.patterns.size() >= most_accesses) return error("at most 30000 memory instructions", "more");
    in.pattern = static_cast<std::int16_t>(program_.patterns.size());
    program_.patterns.push_back(pattern);
  }

  void resolve(const Branch& branch) {
    line_ = branch.line;
    std::optional<std::int32_t> target;
    const std::string_view name = trimmed(std::string_view(branch.target));
    if (const auto found = labels_.find(std::string(name)); found != labels_.end()) target = found->second;
    if (const auto value = number<std::int64_t>(name); value && !target) {
      if (const auto found = addresses_.find(*value); found != addresses_.end()) target = found->second;
    }
    if (!target) return;  // leaves the text: a forward branch that is not taken
    if (*target > branch.at) return;
    if (program_.loops.size() >= 8) return error("at most 8 loops", "more");
    program_.code[static_cast<std::size_t>(branch.at)].loop = static_cast<std::int16_t>(program_.loops.size());
    program_.loops.push_back({*target, branch.at, branch.trips, branch.main});
  }

  static constexpr std::size_t most_accesses = 30'000;

  std::string file_;
  int line_ = 0;
  Program program_;
  Diagnostics errors_;
  std::map<std::string, std::int32_t> labels_;
  std::map<std::int64_t, std::int32_t> addresses_;
  std::map<std::string, Access> access_;
  std::vector<Branch> branches_;
  std::uint32_t mask_ = 0xffffffffu;
  bool trips_main_ = true;
  std::int64_t trips_ = 1;
};

struct SourceLine {
  std::string_view text;
  int number;
};

// Expands .unroll N ... .end; nesting is not needed and not allowed.
std::vector<SourceLine> expanded(std::string_view text, Assembler& assembler) {
  constexpr std::size_t most_lines = 200'000;
  std::vector<SourceLine> out, block;
  std::int64_t times = 0;
  int number_of_line = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view raw = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number_of_line;
    const std::string_view line = trimmed(raw);
    if (line.starts_with(".unroll")) {
      times = number<std::int64_t>(trimmed(line.substr(7))).value_or(0);
      if (times < 1 || times > 4096) {
        assembler.error(".unroll 1 to 4096", std::string(line));
        times = 1;
      }
      block.clear();
    } else if (line == ".end" && times > 0) {
      for (; times > 0 && out.size() < most_lines; --times) out.insert(out.end(), block.begin(), block.end());
      times = 0;
    } else {
      (times > 0 ? block : out).push_back({raw, number_of_line});
    }
  }
  if (times > 0) assembler.error(".end after .unroll", "the end of the file");
  return out;
}

}  // namespace

Result<Program> parse_assembly(std::string_view text, std::string_view name) {
  Assembler assembler(name);
  for (const SourceLine& line : expanded(text, assembler)) {
    assembler.line(line.text, line.number);
    if (assembler.error_count() > 50) break;
  }
  return assembler.finish();
}

}  // namespace noteg::kernels
