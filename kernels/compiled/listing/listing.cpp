#include "kernels/compiled/listing/listing.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "kernels/compiled/listing/operands.hpp"
#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::compiled {
namespace {

constexpr std::uint32_t bytes_per_instruction = 16;
constexpr std::size_t longest_line = 4096, most_labels = 1'000'000, most_kernels = 10'000;

bool starts(std::string_view s, std::string_view with) { return s.substr(0, with.size()) == with; }

template <class T>
std::optional<T> hexadecimal(std::string_view s) {
  T value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, 16);
  if (error != std::errc{} || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return value;
}

// The digits behind sm_ or EF_CUDA_SM.
int architecture_in(std::string_view s, std::string_view prefix) {
  const std::size_t at = s.find(prefix);
  if (at == std::string_view::npos) return 0;
  int value = 0;
  const std::string_view digits = s.substr(at + prefix.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

class ListingReader {
 public:
  ListingReader(std::string text, std::string file) {
    out_.file = std::move(file), out_.has_constants = text.find("c[0x3]") != std::string::npos;
    out_.text = std::make_shared<const std::string>(std::move(text));
  }

  Result<Listing> run() {
    std::string_view rest = *out_.text;
    while (!rest.empty() && errors_.size() < most_told) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      ++line_;
      read_line(rest.substr(0, end));
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    close_kernel();
    if (errors_.empty() && total_ == 0) {
      line_ = 0;
      error("a listing of machine code (nvdisasm -hex -c FILE.cubin, or cuobjdump -sass FILE)", "no instruction");
    }
    std::erase_if(out_.kernels, [](const Code& code) { return code.instructions.empty(); });
    if (!errors_.empty()) return errors_;
    return std::move(out_);
  }

 private:
  void error(std::string expected, std::string found) {
    errors_.push_back({out_.file, line_, 0, "", std::move(expected), std::move(found)});
  }

  void read_line(std::string_view raw) {
    if (raw.size() > longest_line) return error(fmt::format("lines of at most {} bytes", longest_line), "a longer one");
    const std::string_view line = trimmed(raw);
    if (line.empty()) return;
    if (starts(line, "//##")) return read_source(line);
    if (starts(line, "//") || starts(line, "#")) return read_comment(line);
    if (starts(line, "/* 0x")) return read_second_word(line);
    if (starts(line, "/*")) return read_instruction(line);
    if (starts(line, "[B")) return read_bracketed(line);
    if (line.size() > 10 && line[2] == ':' && line[4] == ':' && line[6] == ':') return read_colons(line);
    if (starts(line, ".sectioninfo")) return read_registers(line);
    if (starts(line, ".section")) return read_section(line);
    if (starts(line, ".target") || starts(line, "code for sm_")) return set_architecture(architecture_in(line, "sm_"));
    if (starts(line, ".headerflags")) return set_architecture(architecture_in(line, "EF_CUDA_SM"));
    if (starts(line, "Function")) {
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos) open_kernel(trimmed(line.substr(colon + 1)));
      return;
    }
    if (line.back() == ':') return read_label(line.substr(0, line.size() - 1));
  }

  void set_architecture(int sm) {
    if (sm < 50 || sm > 199) return;
    if (out_.sm != 0 && out_.sm != sm)
      return error(fmt::format("code of one architecture in a listing, sm_{} as above", out_.sm),
                   fmt::format("sm_{}: disassemble each one into a file of its own", sm));
    out_.sm = sm;
  }

  // "# sm90 name : ..." opens a kernel; other comments say nothing.
  void read_comment(std::string_view line) {
    const std::size_t colon = line.find(" : ");
    if (!starts(line, "# sm") || colon == std::string_view::npos) return;
    const std::string_view words = line.substr(2, colon - 2);
    const std::size_t space = words.find(' ');
    if (space == std::string_view::npos) return;
    set_architecture(architecture_in(words, "sm"));
    open_kernel(trimmed(words.substr(space)));
  }

  // //## File "/path/kernels.cu", line 12 inlined at ...
  void read_source(std::string_view line) {
    const std::size_t open = line.find('"');
    const std::size_t close = open == std::string_view::npos ? open : line.find('"', open + 1);
    const std::size_t at = line.find(", line ");
    if (close == std::string_view::npos || at == std::string_view::npos) return;
    const std::string name(line.substr(open + 1, close - open - 1));
    const auto known = std::ranges::find(out_.sources, name);
    source_file_ = static_cast<std::int16_t>(std::min<std::ptrdiff_t>(known - out_.sources.begin(), 32'000));
    if (known == out_.sources.end() && out_.sources.size() < 32'000) out_.sources.push_back(name);
    const std::string_view digits = line.substr(at + 7);
    std::from_chars(digits.data(), digits.data() + digits.size(), source_line_);
  }

  void read_section(std::string_view line) {
    const std::size_t at = line.find(".text.");
    if (at == std::string_view::npos) return close_kernel();
    std::string_view name = line.substr(at + 6);
    name = name.substr(0, name.find_first_of(",\" \t"));
    open_kernel(name);
  }

  void read_registers(std::string_view line) {
    constexpr std::string_view key = "SHI_REGISTERS=";
    const std::size_t at = line.find(key);
    if (!open_ || at == std::string_view::npos) return;
    int registers = 0;
    const std::string_view digits = line.substr(at + key.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), registers);
    if (registers > 0 && registers < 256) out_.kernels.back().registers = registers;
  }

  void open_kernel(std::string_view name) {
    close_kernel();
    source_line_ = 0;
    source_file_ = -1;
    if (out_.kernels.size() >= most_kernels) return error(fmt::format("at most {} kernels", most_kernels), "more");
    out_.kernels.push_back({std::string(name), line_, {}, {}, {}});
    open_ = true;
    labels_[std::string(name)] = 0;
  }

  void read_label(std::string_view name) {
    if (!open_ || starts(name, ".text.") || labels_.size() > most_labels) return;
    labels_[std::string(name)] = next_address();
  }

  std::uint32_t next_address() const {
    const std::vector<Instruction>& all = out_.kernels.back().instructions;
    return all.empty() ? 0 : all.back().address + bytes_per_instruction;
  }

  // /*0010*/ S2R R9, SR_CTAID.X ; /* 0x0000000000097919 */
  void read_instruction(std::string_view line) {
    const std::size_t end = line.find("*/");
    const auto address = hexadecimal<std::uint32_t>(line.substr(2, std::min(end, line.size()) - 2));
    if (end == std::string_view::npos || !address) return;  // a comment
    std::string_view rest = line.substr(end + 2);
    if (starts(trimmed(rest), ".")) return;  // data of another section, which nvdisasm lists without -c
    const std::size_t words = rest.rfind("/* 0x");
    const auto low = words == std::string_view::npos ? std::nullopt : word_in(rest.substr(words));
    if (!low)
      return error("an instruction with its hexadecimal words (nvdisasm -hex -c, cuobjdump -sass)",
                   "one without: its control bits are not known");
    add(rest.substr(0, words), *address);
    if (added_) instruction().low = *low;
    wants_word_ = added_;
  }

  static std::optional<std::uint64_t> word_in(std::string_view comment) {
    const std::size_t end = comment.find("*/");
    if (!starts(comment, "/* 0x") || end == std::string_view::npos) return std::nullopt;
    return hexadecimal<std::uint64_t>(trimmed(comment.substr(5, end - 5)));
  }

  void read_second_word(std::string_view line) {
    if (!wants_word_) return;  // words of another section
    wants_word_ = false;
    const auto high = word_in(line);
    if (!high) return error("the second hexadecimal word of the instruction above", std::string(line.substr(0, 60)));
    instruction().high = *high;
    instruction().control = control_bits(*high);
  }

  // [B0-----:R-:W1:Y:S02] MUFU.RCP R0, R0 ; /*00c0*/
  void read_bracketed(std::string_view line) {
    const std::size_t end = line.find(']');
    if (end != 20 || line[8] != ':') return error("control bits such as [B------:R-:W0:-:S01]", excerpt(line));
    kernels::Control control;
    for (int i = 0; i < 6; ++i)
      if (line[2 + static_cast<std::size_t>(i)] != '-') control.wait_mask |= static_cast<std::uint8_t>(1 << i);
    control.read_barrier = counter_in(line[10]);
    control.write_barrier = counter_in(line[13]);
    control.yield = line[15] == 'Y';
    control.stall = static_cast<std::uint8_t>(std::clamp((line[18] - '0') * 10 + (line[19] - '0'), 0, 15));
    add_with(line.substr(end + 1), control);
  }

  // Triton: 01:-:2:Y:4 <tab> text;
  void read_colons(std::string_view line) {
    kernels::Control control;
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : 0; };
    control.wait_mask = static_cast<std::uint8_t>((digit(line[0]) * 10 + digit(line[1])) & 0x3f);
    control.read_barrier = counter_in(line[3]);
    control.write_barrier = counter_in(line[5]);
    control.yield = line[7] == 'Y';
    const auto stall = line.size() > 9 ? hexadecimal<unsigned>(line.substr(9, 1)) : std::nullopt;
    if (line[8] != ':' || !stall) return error("control bits such as 01:-:2:Y:4", excerpt(line));
    control.stall = static_cast<std::uint8_t>(*stall);
    add_with(line.substr(10), control);
  }

  static std::int8_t counter_in(char c) {
    return c >= '0' && c <= '5' ? static_cast<std::int8_t>(c - '0') : std::int8_t{-1};
  }
  static std::string excerpt(std::string_view s) { return std::string(s.substr(0, 60)); }

  void add_with(std::string_view text, const kernels::Control& control) {
    text = text.substr(0, text.find("/*"));
    if (!open_) return error("a kernel's name above its code (Function:NAME)", "an instruction");
    add(text, next_address());
    if (added_) instruction().control = control;
  }

  Instruction& instruction() { return out_.kernels.back().instructions.back(); }

  void add(std::string_view text, std::uint32_t address) {
    added_ = false;
    if (wants_word_) error("the second hexadecimal word of the instruction above", "another instruction");
    wants_word_ = false;
    if (!open_) return error("a section or a function with a name above its code", "an instruction");
    if (total_ >= most_instructions)
      return total_++ == most_instructions ? error(fmt::format("at most {} instructions", most_instructions), "more")
                                           : void();
    if (address != next_address())
      return error(fmt::format("an instruction at /*{:04x}*/, 16 bytes after the one above", next_address()),
                   fmt::format("/*{:04x}*/", address));
    Instruction in;
    if (!parse_instruction(text, in))
      return error("an instruction such as @!P0 IMAD R2, R3, 0x4, R5", excerpt(trimmed(text)));
    in.address = address;
    in.line = line_;
    in.source_line = source_line_;
    in.source_file = source_file_;
    out_.kernels.back().instructions.push_back(in);
    ++total_;
    added_ = true;
  }

  // Targets of branches and calls, once all labels of the section are known.
  void close_kernel() {
    if (wants_word_) error("the second hexadecimal word of the last instruction", "the end of the code");
    wants_word_ = false;
    if (!open_) return;
    open_ = false;
    for (Instruction& in : out_.kernels.back().instructions) {
      for (std::size_t i = 0; i < in.operands; ++i) {
        if (in.operand[i].kind == Kind::label) resolve(in, in.operand[i]);
        if (in.base == "BRX") read_targets(in, in.operand[i].text);
      }
    }
    labels_.clear();
    const Code& code = out_.kernels.back();
    check_end(code);
    if (!code.instructions.empty() && !names_.insert(code.name).second)
      errors_.push_back({out_.file, code.line, 0, "", "kernels of different names", code.name + " again"});
  }

  // Nothing runs past the end of a kernel. What NOPs fill up is whole, also where it ends in a trap or a call that does
  // not return.
  void check_end(const Code& code) {
    if (code.instructions.empty()) return;
    const Instruction& last = code.instructions.back();
    if (last.base != "NOP" && !ends_its_path(last))
      errors_.push_back({out_.file, last.line, 0, "", "the kernel's code down to an EXIT, RET or BRA that ends it",
                         "the end in the midst of " + code.name});
  }

  // BRX R6 -0x1f0 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*): the entries of its table in their order.
  void read_targets(const Instruction& in, std::string_view text) {
    constexpr std::string_view head = "BRANCH_TARGETS ";
    const std::size_t begin = text.find(head);
    if (begin == text.npos) return;
    text = text.substr(begin + head.size());
    text = text.substr(0, text.find('"'));
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const auto known = labels_.find(trimmed(text.substr(0, comma)));
      if (known != labels_.end()) out_.kernels.back().targets[in.address].push_back(known->second);
      text.remove_prefix(std::min(text.size(), comma + 1));
    }
  }

  void resolve(const Instruction& in, Operand& operand) {
    std::string_view name = operand.text;
    while (!name.empty() && (name.front() == '`' || name.front() == '(')) name.remove_prefix(1);
    while (!name.empty() && name.back() == ')') name.remove_suffix(1);
    const auto known = labels_.find(name);
    if (known != labels_.end()) {
      operand.value = known->second;
    } else if (in.base == "BRA" || in.base == "CALL" || in.base == "BSSY") {
      errors_.push_back({out_.file, in.line, 0, "", "a label of this kernel", std::string(name)});
    } else {
      operand.kind = Kind::other;
    }
  }

  Listing out_;
  Diagnostics errors_;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::set<std::string> names_;
  int line_ = 0;
  std::int32_t source_line_ = 0;
  std::int16_t source_file_ = -1;
  std::size_t total_ = 0;
  bool open_ = false, added_ = false, wants_word_ = false;
};

}  // namespace

kernels::Control control_bits(std::uint64_t high) {
  const auto counter = [](std::uint64_t bits) { return bits >= 6 ? std::int8_t{-1} : static_cast<std::int8_t>(bits); };
  kernels::Control out;
  out.stall = high >> 41 & 0xf;
  out.yield = (high >> 45 & 1) == 0;
  out.write_barrier = counter(high >> 46 & 7);
  out.read_barrier = counter(high >> 49 & 7);
  out.wait_mask = high >> 52 & 0x3f;
  return out;
}

std::optional<std::int32_t> Code::at(std::uint64_t address) const {
  const std::uint64_t index = address / bytes_per_instruction;
  if (address % bytes_per_instruction != 0 || index >= instructions.size()) return std::nullopt;
  return static_cast<std::int32_t>(index);
}

Result<const Code*> Listing::kernel(const std::string& name) const {
  std::vector<std::string> names;
  for (const Code& code : kernels) {
    if (code.name == name || (name.empty() && kernels.size() == 1)) return &code;
    names.push_back(code.name);
  }
  if (name.empty())
    return Diagnostic{file,
                      0,
                      0,
                      "kernel",
                      fmt::format("the name of one of the {} kernels of the listing", names.size()),
                      "none (the first is " + names.front() + ")"};
  const std::vector<std::string> near = nearest_names(name, names, 3);
  return Diagnostic{file, 0, 0, "kernel", near.empty() ? "a kernel of the listing" : join_or(near), name};
}

Result<Listing> parse_listing(std::string text, std::string file) {
  if (text.size() > largest_listing)
    return Diagnostic{file,          0, 0, "", fmt::format("a listing of at most {} MiB", largest_listing >> 20),
                      "a larger one"};
  return ListingReader(std::move(text), std::move(file)).run();
}

Result<Listing> read_listing(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto wrong = [&](std::string expected, std::string found) {
    return Diagnostic{name, 0, 0, "", std::move(expected), std::move(found)};
  };
  if (Result<std::string> raw = read_file(path, std::size_t{1} << 20 << 8); !raw)
    return raw.errors();
  else if (!raw->starts_with("\x1f\x8b"))
    return parse_listing(std::move(*raw), name);
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(name.c_str(), "rb"), gzclose);
  if (!file) return wrong("a file that can be read", "one that cannot be opened");
  std::string text;
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (;;) {
    const std::size_t there = text.size();
    text.resize(there + piece);
    const int got = gzread(file.get(), text.data() + there, static_cast<unsigned>(piece));
    if (got < 0) return wrong("a whole gzip file", "a damaged one");
    text.resize(there + static_cast<std::size_t>(got));
    if (got == 0 || text.size() > largest_listing) break;
  }
  int status = Z_OK;
  gzerror(file.get(), &status);  // a truncated stream ends like a whole one, but leaves a status
  if (status != Z_OK && status != Z_STREAM_END) return wrong("a whole gzip stream", "a truncated one");
  return parse_listing(std::move(text), name);
}

}  // namespace noteg::compiled
