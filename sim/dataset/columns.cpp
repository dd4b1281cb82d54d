#include "sim/dataset/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "arch/field.hpp"
#include "sim/dataset/physics.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::dataset {

namespace {

constexpr std::array<std::string_view, 4> targets{"time_us", "power_w", "energy_mj", "tflops"};

// Told of a run, not of what ran: sentences, notes, properties of this program.
bool is_remark(std::string_view name) {
  return name.starts_with("engine.") || name.starts_with("confidence.") || name == "power_note" ||
         name == "bottleneck.because" || name == "bottleneck.clock_held_by" || name == "throttle_reason" ||
         name == "kernel.name";
}

Group group_of(std::string_view name) {
  if (std::ranges::find(targets, name) != targets.end()) return Group::target;
  if (is_remark(name)) return Group::other;
  if (name == "arch" || name == "clock_mode" || name.starts_with("kernel.")) return Group::config;
  return Group::counter;
}

RunColumn of_counter(report::Counter counter, Group group) {
  return {{counter.name, std::string(base_text(counter.unit)), counter.sentence, group},
          [get = std::move(counter.get)](const Run& run) { return get(*run.report); }};
}

// Other clock modes know no launches.
Value count_of(const Run& run, std::optional<int> count) {
  const bool counts = run.options->clock_mode == power::ClockMode::cool && count;
  return counts ? static_cast<double>(*count) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<RunColumn> option_columns() {
  return {
      {{"l2_state", "", "what L2 holds at the start: empty, cold, warm (A and B), steady (A) or overwritten",
        Group::config},
       [](const Run& run) -> Value { return std::string(memory::name_of(run.options->l2)); }},
      {{"clock_given_mhz", "MHz", "SM clock where it was given, absent where it was solved for", Group::config},
       [](const Run& run) -> Value {
         return run.options->sm_clock_mhz.value_or(std::numeric_limits<double>::quiet_NaN());
       }},
      {{"operand_activity", "0..1", "how much the operands' bits change: 1 random, 0 constant", Group::config},
       [](const Run& run) -> Value { return run.options->operands.activity; }},
      {{"launches", "count", "of clock mode cool: launches from rest; absent: very many", Group::config},
       [](const Run& run) -> Value { return count_of(run, run.options->launches); }},
      {{"warm_up", "count", "of clock mode cool: how many of these are not timed", Group::config},
       [](const Run& run) -> Value { return count_of(run, run.options->warm_up); }},
  };
}

}  // namespace

static std::vector<RunColumn> run_report_columns(Group group) {
  std::vector<RunColumn> columns;
  for (report::Counter& counter : report::counter_table())
    if (group_of(counter.name) == group) columns.push_back(of_counter(std::move(counter), group));
  if (group == Group::config)
    for (RunColumn& column : option_columns()) columns.push_back(std::move(column));
  return columns;
}

namespace {

// Keys that differ between the GPUs known and that a kernel feels, in base units. Named as --set names them:
// arch.l2.size.
constexpr std::array keys{"sms",
                          "l2.size",
                          "l2.partitions",
                          "l2.read_bandwidth",
                          "l2.write_bandwidth",
                          "l2.sm_bandwidth",
                          "l2.latency",
                          "l2.far_latency",
                          "dram.bandwidth",
                          "dram.read_efficiency",
                          "dram.mixed_efficiency",
                          "dram.latency",
                          "dram.service",
                          "dram.granule",
                          "clock.boost",
                          "clock.sustained",
                          "launch.kernel",
                          "launch.cta_rate",
                          "power.limit",
                          "power.idle",
                          "power.leakage",
                          "power.thermal_resistance",
                          "power.voltage_floor",
                          "power.floor_clock",
                          "power.dram_byte",
                          "sm.cta_launch",
                          "sm.occupancy.max_warps",
                          "sm.occupancy.max_ctas",
                          "sm.occupancy.unified_l1_shared",
                          "sm.occupancy.max_shared_per_cta",
                          "sm.pipes.fma.lanes",
                          "sm.pipes.fma.latency",
                          "sm.memory.data_width",
                          "sm.memory.lds_latency",
                          "sm.memory.ldg_latency",
                          "sm.energy.issue",
                          "sm.energy.operand",
                          "sm.energy.fma",
                          "sm.energy.data_byte",
                          "sm.energy.l2_byte",
                          "sm.energy.clock_tree"};

double number_of(const arch::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<RunColumn> arch_columns() {
  std::vector<RunColumn> columns;
  for (const char* key : keys) {
    const std::optional<std::size_t> at = arch::find_field(key);
    if (!at) continue;
    const arch::Field& field = arch::fields()[*at];
    const std::string unit(field.kind == arch::Kind::quantity ? base_text(field.unit) : "");
    columns.push_back({{std::string("arch.") + key, unit, std::string(field.doc), Group::arch},
                       [get = field.get](const Run& run) -> Value { return number_of(get(*run.gpu)); }});
  }
  return columns;
}

namespace {

struct PhysicsColumn {
  const char* name;
  const char* unit;
  const char* meaning;
  double Physics::*member;
};

constexpr PhysicsColumn physics_table[] = {
    {"ctas", "count", "CTAs of the grid", &Physics::ctas},
    {"ctas_per_sm", "count", "CTAs that fit an SM together", &Physics::ctas_per_sm},
    {"warps_per_sm", "count", "warps of those", &Physics::warps_per_sm},
    {"waves", "x", "CTAs over those that fit on the chip at once", &Physics::waves},
    {"wave_efficiency", "0..1", "mean over busiest SM, in CTAs", &Physics::wave_efficiency},
    {"useful_share", "0..1", "elements of C over the elements that tiles cover", &Physics::useful_share},
    {"iterations", "count", "k tiles of a CTA", &Physics::iterations},
    {"arithmetic_intensity", "FLOP/B", "operations per byte of A, B and C once", &Physics::arithmetic_intensity},
    {"math_instructions", "count",
     "FFMA of warps, or instructions of the tensor cores (of warp groups for wgmma), padding included",
     &Physics::math_instructions},
    {"shared_load_instructions", "count", "loads from shared memory, of warps; wgmma has none",
     &Physics::shared_load_instructions},
    {"shared_bytes", "B", "what those load, or tensor cores read by themselves", &Physics::shared_bytes},
    {"l2_bytes", "B", "tiles of A and B that CTAs ask for", &Physics::l2_bytes},
    {"dram_read_bytes", "B", "part of them that L2 does not hold", &Physics::dram_read_bytes},
    {"dram_write_bytes", "B", "results to DRAM", &Physics::dram_write_bytes},
    {"clock_mhz", "MHz", "clock given, or the highest that the board holds with these events", &Physics::clock_mhz},
    {"power_share", "x", "power of these events at the highest clock, over the limit", &Physics::power_share},
    {"compute_us", "us", "math instructions of the busiest SM at that clock", &Physics::compute_us},
    {"shared_us", "us", "shared-memory loads of the busiest SM", &Physics::shared_us},
    {"l2_us", "us", "tiles at the bandwidth of L2", &Physics::l2_us},
    {"dram_us", "us", "DRAM traffic at the bandwidth that reads reach", &Physics::dram_us},
    {"latency_us", "us", "k-tiles of all waves at the latency of L2, over the stages", &Physics::latency_us},
    {"roofline_us", "us", "launch and the largest of those five times", &Physics::roofline_us},
    {"power_w", "W", "power of these events over that time", &Physics::power_w},
    {"energy_mj", "mJ", "that power times that time", &Physics::energy_mj},
    {"tflops", "TFLOP/s", "useful operations over that time", &Physics::tflops},
};

}  // namespace

static std::vector<RunColumn> physics_columns() {
  std::vector<RunColumn> all;
  for (const PhysicsColumn& c : physics_table)
    all.push_back({{std::string("physics.") + c.name, c.unit, c.meaning, Group::physics},
                   [member = c.member](const Run& run) -> Value {
                     if (run.physics != nullptr) return run.physics->*member;
                     return physics_of(*run.gpu, *run.report, *run.options).*member;
                   }});
  return all;
}

std::vector<Column> row_columns() {
  return {
      {"gpu_copy", "count", "0: the GPU as its file says; else the number of a perturbed copy", Group::other},
      {"label", "", "what tells replicas of one run apart, as the sweep names them", Group::other},
  };
}

std::vector<Column> all_row_columns() {
  std::vector<Column> all{{"row_id", "count", "number of the row in its sweep, from 0", Group::other}};
  for (Column& column : row_columns()) all.push_back(std::move(column));
  all.push_back({"error", "", "why the run is impossible; absent where it is not", Group::other});
  return all;
}

namespace {

void append(Values& to, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    to.is_text = true;
    const auto known = std::ranges::find(to.words, *text);
    if (!text->empty() && known == to.words.end()) to.words.push_back(*text);
    to.codes.push_back(
        text->empty() ? -1 : static_cast<std::int32_t>(std::ranges::find(to.words, *text) - to.words.begin()));
    return;
  }
  double number = std::numeric_limits<double>::quiet_NaN();
  if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isfinite(*real)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*whole);
  if (const auto* claim = std::get_if<bool>(&value)) number = *claim ? 1 : 0;
  to.numbers.push_back(number);
}

}  // namespace

std::vector<RunColumn> run_columns() {
  std::vector<RunColumn> all;
  for (std::vector<RunColumn>& part :
       std::vector{run_report_columns(Group::config), arch_columns(), physics_columns(),
                   run_report_columns(Group::counter), run_report_columns(Group::target)})
    for (RunColumn& column : part) all.push_back(std::move(column));
  return all;
}

std::optional<Column> known_column(std::string_view name) {
  for (const RunColumn& column : run_columns())
    if (column.column.name == name) return column.column;
  return std::nullopt;
}

Result<gpu::SimReport> unsimulated(const arch::GpuSpec& gpu, const kernels::KernelConfig& kernel,
                                   const kernels::GemmShape& shape, const gpu::SimOptions& options) {
  Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, shape);
  if (!resolved) return resolved.errors();
  gpu::SimReport report;
  report.arch_id = gpu.id;
  report.arch_name = gpu.name;
  report.kernel = std::move(*resolved);
  report.shape = shape;
  const kernels::KernelConfig& k = report.kernel;
  report.grid_ctas = ceil_div(shape.m, k.tile.m) * ceil_div(shape.n, k.tile.n) * shape.batch * std::max(1, k.split_k);
  report.registers_per_thread = k.registers.value_or(0);
  report.shared_bytes_per_cta = k.shared_bytes.value_or(0);
  const bool burst = options.clock_mode == power::ClockMode::burst;
  const bool cool = options.clock_mode == power::ClockMode::cool;
  report.clock_mode = options.sm_clock_mhz ? "given" : burst ? "burst" : cool ? "cool" : "sustained";
  return report;
}

TableBuilder::TableBuilder(const std::function<bool(Group)>& wanted) {
  for (RunColumn& column : run_columns()) {
    if (!wanted(column.column.group)) continue;
    table_.columns.push_back({column.column, false, {}, {}, {}});
    columns_.push_back(std::move(column));
  }
}

void TableBuilder::add(const Run& run) {
  Run once = run;
  const Physics physics = physics_of(*run.gpu, *run.report, *run.options);
  once.physics = &physics;
  for (std::size_t i = 0; i < columns_.size(); ++i) append(table_.columns[i], columns_[i].get(once));
  ++table_.rows;
}

std::string column_reference() {
  std::string text =
      "# What a data set holds\n\nMade from the table of columns (`sim/dataset/columns.cpp`), as are the headers of "
      "the "
      "files; a test fails where it is\nout of date. Do not edit it by hand: run `NOTEG_UPDATE_GENERATED=1 "
      "test_dataset`. The groups config, arch and physics are known before\na simulation, counters and targets after "
      "it.\n\n| name | group | unit | what it says |\n| --- | --- | --- | --- |\n";
  std::vector<Column> all = all_row_columns();
  for (RunColumn& c : run_columns()) all.push_back(std::move(c.column));
  for (const Column& c : all)
    text += fmt::format("| `{}` | {} | {} | {} |\n", c.name, name_of(c.group), c.unit, c.meaning);
  return text;
}

}  // namespace noteg::dataset
