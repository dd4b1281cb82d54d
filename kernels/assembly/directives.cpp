// Directives: what a listing does not say about a kernel.
#include <limits>

#include <fmt/format.h>

#include "kernels/assembly/state.hpp"
#include "kernels/assembly/text.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels {
namespace {

constexpr int most_warps = 32;  // of a CTA: 1024 threads
constexpr std::string_view all_directives =
    ".kernel, .warps, .threads, .registers, .shared, .k, .stages, .tiles, .traffic, .mainloop, .epilogue, .iterations, "
    ".access, .mask, .role, .unroll or .end";

std::optional<std::int64_t> bounded(AssemblyState& state, std::string_view text, std::int64_t least, std::int64_t most,
                                    std::string_view what) {
  const auto value = whole_number(text);
  if (value && *value >= least && *value <= most) return value;
  state.mistakes.add(text, fmt::format("{} to {} {}", least, most, what));
  return std::nullopt;
}

// key=value words of a directive; `read` says whether it knows the key and takes the value.
template <class Read>
void options(AssemblyState& state, std::string_view text, std::string_view expected, Read read) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || !read(word.substr(0, equals), word.substr(equals + 1)))
      state.mistakes.add(word, std::string(expected));
  }
}

void read_tiles(AssemblyState& state, std::string_view text) {
  options(state, text, "prologue=N and peeled=N, k tiles", [&](std::string_view key, std::string_view value) {
    const auto number = whole_number(value);
    if (!number || *number < 0 || *number > 64) return false;
    if (key == "prologue") state.program.prologue_tiles = static_cast<int>(*number);
    if (key == "peeled") state.program.peeled_tiles = static_cast<int>(*number);
    return key == "prologue" || key == "peeled";
  });
}

void read_traffic(AssemblyState& state, std::string_view text) {
  options(state, text, "a=BYTES and b=BYTES, asked for by a CTA in an iteration of the main loop",
          [&](std::string_view key, std::string_view value) {
            const auto number = parse_number(value);
            if (!number || *number < 0) return false;
            if (key == "a") state.program.a_bytes_per_iteration = *number;
            if (key == "b") state.program.b_bytes_per_iteration = *number;
            return key == "a" || key == "b";
          });
}

void read_iterations(AssemblyState& state, std::string_view text) {
  state.iterations_are_main = text == "main";
  state.iterations = 1;
  if (state.iterations_are_main) return;
  const auto value = whole_number(text);
  if (!value || *value < 1) return state.mistakes.add(text, "main or a positive number of iterations");
  state.iterations = *value;
}

bool read_warp_range(std::string_view text, Role& role) {
  const auto dash = text.find('-');
  const auto first = whole_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last >= most_warps) return false;
  role.first_warp = static_cast<int>(*first);
  role.warps = static_cast<int>(*last - *first) + 1;
  return true;
}

// .role NAME warps=0-3 [registers=N]: the instructions up to the next .role are these warps' own stream.
void read_role(AssemblyState& state, std::string_view text) {
  Role role;
  const std::string_view name = take_word(text);
  if (name.empty() || name.find('=') != std::string_view::npos) return state.mistakes.add(name, "a name of the role");
  role.name = std::string(name);
  role.begin = role.end = state.here();
  const std::string_view rest = text;
  options(state, text, "warps=FIRST-LAST, and registers=N if the role sets its own",
          [&](std::string_view key, std::string_view value) {
            if (key == "warps") return read_warp_range(value, role);
            const auto number = whole_number(value);
            if (key != "registers" || !number || *number < 1 || *number > 255) return false;
            role.registers = static_cast<int>(*number);
            return true;
          });
  std::vector<Role>& roles = state.program.roles;
  const int next = roles.empty() ? 0 : roles.back().first_warp + roles.back().warps;
  if (role.warps == 0) {
    state.mistakes.add(rest, "warps=FIRST-LAST");
  } else if (role.first_warp != next) {
    state.mistakes.add(rest, fmt::format("warps from {} on", next), fmt::format("warps from {}", role.first_warp));
  }
  if (roles.empty() && state.here() > 0) state.mistakes.add(name, "the first .role before the first instruction");
  if (!roles.empty()) roles.back().end = state.here();
  roles.push_back(role);
}

}  // namespace

void read_directive(AssemblyState& state, std::string_view text) {
  const std::string_view name = take_word(text);
  Program& p = state.program;
  const auto number = [&](int& to, std::int64_t least, std::int64_t most, std::string_view what) {
    if (const auto value = bounded(state, text, least, most, what)) to = static_cast<int>(*value);
  };
  const auto maybe = [&](std::optional<int>& to, std::int64_t most, std::string_view what) {
    if (const auto value = bounded(state, text, 1, most, what)) to = static_cast<int>(*value);
  };
  if (name == ".access") return read_access(state, text);
  if (name == ".role") return read_role(state, text);
  if (name == ".tiles") return read_tiles(state, text);
  if (name == ".traffic") return read_traffic(state, text);
  if (name == ".iterations") return read_iterations(state, text);
  if (name == ".warps") return maybe(state.warps, most_warps, "warps");
  if (name == ".threads") return maybe(state.threads, most_warps * 32, "threads");
  if (name == ".registers") return number(p.registers, 0, 255, "registers a thread");
  if (name == ".k") return number(p.k_per_iteration, 0, 65536, "of K an iteration");
  if (name == ".stages") return number(p.stages, 1, 64, "stages");
  if (name == ".kernel") {
    p.name = std::string(text);
  } else if (name == ".shared") {
    if (const auto value = bounded(state, text, 0, 1 << 20, "bytes of shared memory")) p.shared_bytes = *value;
  } else if (name == ".mask") {
    if (const auto value = bounded(state, text, 0, std::numeric_limits<std::uint32_t>::max(), "as a lane mask"))
      state.mask = static_cast<std::uint32_t>(*value);
  } else if (name == ".mainloop") {
    state.mainloop_begin = state.here();
  } else if (name == ".epilogue") {
    state.epilogue_begin = state.here();
  } else {
    state.mistakes.add(name, std::string(all_directives));
  }
}

}  // namespace noteg::kernels
