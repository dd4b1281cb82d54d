#include <fmt/format.h>

#include <algorithm>

#include "sim/report/counters.hpp"
#include "sim/report/write.hpp"

namespace noteg::report {
namespace {

using gpu::SimReport;

constexpr std::size_t columns = 80;
constexpr std::size_t label_width = 14;
constexpr std::size_t bar_width = 30;

// Lines with a label in the first column; whatever is too long is continued under its text, never beyond the margin.
// A kernel's name alone stands whole, so that it can be copied.
class Page {
 public:
  void line(std::string_view label, std::string_view text) {
    bool first = true;
    for (const std::string& part : wrap(text, columns - label_width)) {
      text_ += first ? fmt::format("{:<{}}{}\n", label.substr(0, label_width), label_width, part)
                     : fmt::format("{:<{}}{}\n", "", label_width, part);
      first = false;
    }
  }
  void whole_line(std::string_view label, std::string_view text) {
    text_ += fmt::format("{:<{}}{}\n", label, label_width, text);
  }
  void heading(std::string_view text) { text_ += fmt::format("\n{}\n", text.substr(0, columns)); }
  void bar_line(std::string_view label, double share, std::string_view value) {
    text_ += fmt::format("  {:<18} {} {}\n", label.substr(0, 18), bar(share, bar_width), value.substr(0, 27));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Looks figures up in the table, so that text, JSON and CSV say the same.
class Figures {
 public:
  explicit Figures(const SimReport& report) : report_(report), table_(counter_table()) {}

  [[nodiscard]] std::string operator()(std::string_view name) const {
    const auto found = std::ranges::find(table_, name, &Counter::name);
    return found == table_.end() ? "?" : figure(found->get(report_), found->unit);
  }
  template <class Use>
  void each_of(std::string_view group, const Use& use) const {
    for (const Counter& counter : table_)
      if (counter.group() == group) use(counter, number_of(counter.get(report_)));
  }

 private:
  const SimReport& report_;
  std::vector<Counter> table_;
};

void headline(Page& page, const SimReport& r, const Figures& f) {
  page.line("GPU", fmt::format("{} ({})", r.arch_name, r.arch_id));
  page.line("problem", problem_text(r));
  if (!r.kernel.name.empty()) page.whole_line("kernel", r.kernel.name);
  page.line(r.kernel.name.empty() ? "kernel" : "", kernel_text(r));
  std::string changed;
  for (const auto& [name, value] : r.switches)
    changed += fmt::format("{}{}={}", changed.empty() ? "" : ", ", name, value);
  if (!changed.empty()) page.line("switches", changed);
  page.heading(
      fmt::format("{}   {}   {} of the peak at {}", f("time_us"), f("tflops"), f("pct_of_peak"), f("sm_clock_mhz")));
  page.line("power", fmt::format("{}, {}, {}, {}{}; {}", f("power_w"), f("energy_mj"), f("tflops_per_w"),
                                 f("temperature_c"), r.throttled ? ", throttled" : "", r.power_note));
  const bool held = r.throttled || r.throttle_reason == "none";
  page.line("clock", fmt::format("{} at {}{} {}", r.clock_mode, f("sm_clock_mhz"), held ? ", held down by" : ":",
                                 r.throttle_reason == "none" ? "nothing" : r.throttle_reason));
  page.line(r.bottleneck.estimated ? "estimate" : "limited by",
            fmt::format("{}: {}", r.bottleneck.name, r.bottleneck.because));
  page.line("", fmt::format("without this limit: {} as fast", f("bottleneck.speedup_if_removed")));
}

void time_bars(Page& page, const SimReport& r, const Figures& f) {
  page.heading("where the time goes");
  const double total = std::max(r.phases_us.total(), 1e-12);
  f.each_of("phases_us", [&](const Counter& counter, double us) {
    page.bar_line(counter.leaf(), us / total,
                  fmt::format("{:5.1f} %  {}{}", 100 * us / total, figure(us, counter.unit),
                              counter.leaf() == "tail" && us > 0 ? ", idle SMs" : ""));
  });
}

// What the name alone does not say.
std::string_view stall_note(std::string_view name) {
  if (name == "by_design") return "  no loss";
  return name == "drained" ? "  warp has ended" : "";
}

// Largest first; what rounds to nothing is summed up in one line, so that the shares still add to 100 %.
void stall_bars(Page& page, const Figures& f) {
  page.heading("what resident warps do (share of warp cycles)");
  std::vector<std::pair<std::string, double>> rows;
  f.each_of("stalls", [&](const Counter& counter, double share) { rows.emplace_back(counter.leaf(), share); });
  std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.second; });
  double rest = 0;
  for (const auto& [name, share] : rows) {
    if (share < 0.005)
      rest += share;
    else
      page.bar_line(name, share, fmt::format("{:5.1f} %{}", 100 * share, stall_note(name)));
  }
  if (rest >= 0.0005) page.bar_line("others", rest, fmt::format("{:5.1f} %", 100 * rest));
}

void pipe_bars(Page& page, const Figures& f) {
  page.heading("how busy the pipes are");
  f.each_of("pipes", [&](const Counter& counter, double share) {
    page.bar_line(counter.leaf(), share, fmt::format("{:5.1f} %", 100 * share));
  });
}

void energy_bars(Page& page, const SimReport& r, const Figures& f) {
  page.heading("where the energy goes");
  f.each_of("energy_by_component_mj", [&](const Counter& counter, double mj) {
    const double share = mj / std::max(r.energy_mj, 1e-12);
    page.bar_line(counter.leaf(), share, fmt::format("{:5.1f} %  {}", 100 * share, figure(mj, counter.unit)));
  });
}

void occupancy_line(Page& page, const SimReport& r, const Figures& f) {
  const bool few = r.occupancy.limiter == gpu::Limiter::grid;
  page.line("occupancy",
            fmt::format("{}{} CTA{}, {} warps per SM, {}; {}", few ? "room for " : "", r.occupancy.ctas_per_sm,
                        r.occupancy.ctas_per_sm == 1 ? "" : "s", r.occupancy.warps_per_sm,
                        few ? "more than the grid has" : "limited by " + f("occupancy.limiter"), grid_text(r)));
}

std::string_view l2_words(std::string_view state) {
  if (state == "warm") return "repeated; as a layer among others: --l2 steady";
  if (state == "steady") return "a layer among others: weights come from DRAM";
  return state == "cold" ? "other data" : "flushed";
}

// What DRAM really moves is more than each matrix once, or nothing where L2 holds them.
std::string intensity_of_run(const SimReport& r) {
  const double bytes = r.memory.dram_read_bytes + r.memory.dram_write_bytes;
  const double operations = r.tflops * r.time_us * 1e6;
  return bytes > 0 ? figure(operations / bytes, Unit::flop_per_byte) + " as run" : "no byte of DRAM as run";
}

void memory_lines(Page& page, const SimReport& r, const Figures& f) {
  page.line("memory",
            fmt::format("L1 {}, L2 {} ({} hits), DRAM {} read, {} written", f("memory.l1_bytes"), f("memory.l2_bytes"),
                        f("memory.l2_hit_rate"), f("memory.dram_read_bytes"), f("memory.dram_write_bytes")));
  page.line("", fmt::format("L2 {} before ({}), DRAM {} of {}", f("memory.l2_before"), l2_words(f("memory.l2_before")),
                            f("memory.dram_gb_per_s"), f("memory.dram_peak_gb_per_s")));
  page.line("shared memory", fmt::format("{}, {} wavefronts lost to bank conflicts", f("memory.shared_bytes"),
                                         f("memory.shared_conflict_wavefronts")));
  page.line("registers", fmt::format("{} reads, {} from the cache, {} lost to banks", f("rf.reads"), f("rf.cache_hits"),
                                     f("rf.bank_conflict_cycles")));
  const bool has_matrices = r.shape.m > 0;  // compiled code has buffers
  page.line("roofline",
            fmt::format("{} with {} moved once, {}; under the {} roof", f("roofline.arithmetic_intensity"),
                        has_matrices ? "each matrix" : "its bytes", intensity_of_run(r), f("roofline.bound")));
}

void mix_line(Page& page, const SimReport& r, const Figures& f) {
  std::vector<std::pair<std::string, double>> mix(r.instructions_by_opcode.begin(), r.instructions_by_opcode.end());
  std::ranges::stable_sort(mix, std::greater{}, [](const auto& row) { return row.second; });
  std::string text = f("instructions.warp_total") + " warp instructions:";
  double rest = 100;
  for (std::size_t i = 0; i < std::min<std::size_t>(mix.size(), 8) && r.warp_instructions > 0; ++i) {
    const double percent = 100 * mix[i].second / r.warp_instructions;
    text += fmt::format("{} {} {:.1f}%", i == 0 ? "" : ",", mix[i].first, percent);
    rest -= percent;
  }
  if (rest >= 0.05 && !mix.empty()) text += fmt::format(", others {:.1f}%", rest);
  page.line("instructions", text);
  page.line("IPC", fmt::format("{} warp instructions per cycle on an SM that has CTAs", three_digits(r.ipc)));
}

// The sentence of JSON begins with what it says of the rows: none.
std::string_view why_not_validated(std::string_view on) {
  for (const std::string_view opening : {"none: ", "not validated, "})
    if (on.starts_with(opening)) on.remove_prefix(opening.size());
  return on.empty() ? "no measured runs" : on;
}

void trust_lines(Page& page, const SimReport& r, const Figures& f) {
  page.line("engine",
            fmt::format("{}: {} and {} warp instructions stepped through", r.engine.exact ? "exact" : "extrapolated",
                        f("engine.simulated_cycles"), f("engine.simulated_warp_instructions")));
  const bool validated = r.confidence.validated_mape >= 0;
  page.line("confidence", validated
                              ? fmt::format("mean error {} on {}", f("confidence.validated_mape"), r.confidence.on)
                              : fmt::format("not validated: {}", why_not_validated(r.confidence.on)));
  if (r.confidence.widest().high_us > 0)
    page.line("90 % interval",
              fmt::format("{} ({}): {}", interval_text(r), relative_interval_text(r),
                          validated ? "so wide that it held 90 % of measured runs kept aside" : r.confidence.because));
}

}  // namespace

std::string problem_text(const SimReport& r) {
  const std::string batch = r.shape.batch > 1 ? fmt::format(", batch {}", r.shape.batch) : "";
  return fmt::format("C[{}x{}] = A[{}x{}] B[{}x{}]{}, {} -> {}, layout {}", r.shape.m, r.shape.n, r.shape.m, r.shape.k,
                     r.shape.k, r.shape.n, batch, name_of(r.kernel.dtype_in), name_of(r.kernel.dtype_out),
                     name_of(r.kernel.layout));
}

std::string interval_text(const SimReport& r) {
  const gpu::TimeRange& range = r.confidence.widest();
  if (range.high_us <= 0) return "unknown";
  return fmt::format("{} to {}", figure(range.low_us, Unit::microseconds), figure(range.high_us, Unit::microseconds));
}

std::string relative_interval_text(const SimReport& r) {
  const gpu::TimeRange& range = r.confidence.widest();
  if (range.high_us <= 0) return "unknown";
  const auto percent = [&](double us) { return 100 * (us / r.time_us - 1); };
  return fmt::format("{:+.0f} % to {:+.0f} %", percent(range.low_us), percent(range.high_us));
}

std::string kernel_text(const SimReport& r) {
  const kernels::KernelConfig& k = r.kernel;
  std::string text = fmt::format("{} {}x{}x{}", name_of(k.family), k.tile.m, k.tile.n, k.tile.k);
  if (k.thread_m && k.thread_n) text += fmt::format(", {}x{} per thread", *k.thread_m, *k.thread_n);
  if (k.threads) text += fmt::format(", {} threads", *k.threads);
  if (k.stages) text += fmt::format(", {} stage{}", *k.stages, *k.stages == 1 ? "" : "s");
  if (kernels::copies_in_bulk(k.family))
    text += " (TMA)";
  else if (k.async_copy)
    text += *k.async_copy ? " (cp.async)" : " (LDG + STS)";
  if (k.sliced_k.value_or(1) > 1) text += fmt::format(", sliced K {}", *k.sliced_k);
  if (k.split_k > 1) text += fmt::format(", split K {} ({})", k.split_k, name_of(k.split_k_mode));
  return text + fmt::format(", {} registers, {} B shared", r.registers_per_thread, r.shared_bytes_per_cta);
}

std::string grid_text(const SimReport& r) {
  if (r.kernel.persistent.value_or(false))
    return fmt::format("{} persistent CTAs with {} tiles each on average", r.grid_ctas,
                       three_digits(r.occupancy.tiles_per_cta));
  return fmt::format("{} CTAs in {} waves", r.grid_ctas, three_digits(r.occupancy.waves));
}

std::string to_text(const SimReport& report) {
  const Figures figures(report);
  Page page;
  headline(page, report, figures);
  time_bars(page, report, figures);
  stall_bars(page, figures);
  pipe_bars(page, figures);
  energy_bars(page, report, figures);
  page.heading("the rest");
  occupancy_line(page, report, figures);
  memory_lines(page, report, figures);
  mix_line(page, report, figures);
  trust_lines(page, report, figures);
  return page.take();
}

}  // namespace noteg::report
