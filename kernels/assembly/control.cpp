#include "kernels/assembly/control.hpp"

#include "kernels/assembly/text.hpp"

namespace noteg::kernels {
namespace {

constexpr std::string_view form = "B------:R-:W-:-:S01";

// '-' is none; a digit beyond the last counter is a mistake.
bool read_counter(std::string_view text, std::int8_t& out, Mistakes& mistakes) {
  if (text == "-") return true;
  if (text.front() < '0' || text.front() > '5') {
    mistakes.add(text, "a dependence counter 0 to 5, or -");
    return false;
  }
  out = static_cast<std::int8_t>(text.front() - '0');
  return true;
}

}  // namespace

std::optional<Control> read_control(std::string_view text, Mistakes& mistakes) {
  const auto fixed = [&](std::size_t at) { return text[at] == form[at]; };
  if (text.size() != form.size() || !fixed(0) || !fixed(7) || !fixed(8) || !fixed(10) || !fixed(11) || !fixed(13) ||
      !fixed(15) || !fixed(16)) {
    mistakes.add(text, "control bits like B0-----:R-:W0:-:S02");
    return std::nullopt;
  }
  Control out;
  for (std::size_t i = 0; i < 6; ++i) {
    const char c = text[1 + i];
    if (c == static_cast<char>('0' + i)) {
      out.wait_mask = static_cast<std::uint8_t>(out.wait_mask | 1u << i);
    } else if (c != '-') {
      mistakes.add(text.substr(1 + i, 1), std::string(1, static_cast<char>('0' + i)) + " or - in the wait mask");
      return std::nullopt;
    }
  }
  if (!read_counter(text.substr(9, 1), out.read_barrier, mistakes)) return std::nullopt;
  if (!read_counter(text.substr(12, 1), out.write_barrier, mistakes)) return std::nullopt;
  if (text[14] != 'Y' && text[14] != '-') {
    mistakes.add(text.substr(14, 1), "Y or - for the yield hint");
    return std::nullopt;
  }
  out.yield = text[14] == 'Y';
  const auto stall = whole_number(text.substr(17));
  if (!stall || *stall < 0 || *stall > 15) {
    mistakes.add(text.substr(16), "a stall count S00 to S15");
    return std::nullopt;
  }
  out.stall = static_cast<std::uint8_t>(*stall);
  return out;
}

}  // namespace noteg::kernels
