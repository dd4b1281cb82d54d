// Every architecture key means something: another value of it changes a figure of some run. Keys and values come from
// the table of keys, so that a key which reaches no model code fails here without a word about it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "arch/field.hpp"
#include "arch/read_spec.hpp"
#include "kernels/assembly/assembly.hpp"
#include "sim/compiled/measured_launches.hpp"
#include "sim/gpu/memory_port.hpp"
#include "sim/gpu/operating_point.hpp"
#include "sim/operators/expert_layer.hpp"
#include "sim/power/clock.hpp"
#include "sim/power/components.hpp"
#include "sim/report/write.hpp"
#include "tests/properties/random_case.hpp"

namespace noteg::properties {
namespace {

// Keys that no figure can depend on, and why.
const std::map<std::string_view, std::string_view> without_effect{
    {"sm.occupancy.unified_l1_shared", "what is left for L1 is known, but no model asks how much L1 holds"},
};

// One run: the machine, and every figure of it as text. A refusal is an answer too.
struct Probe {
  const char* gpu;
  arch::Overrides arch;
  std::function<std::string(const arch::GpuSpec&)> figures;
};

struct Launch {
  std::string name;                   // as profilers print it, or
  kernels::KernelOverrides settings;  // family and tile first
  kernels::GemmShape shape;
  gpu::SimOptions options{};
  bool traced = false;  // power over time too
};

std::string figures_of(const Launch& launch, const arch::GpuSpec& gpu) {
  kernels::KernelConfig named;
  if (!launch.name.empty()) named = *kernels::config_from_name(launch.name);
  const Result<kernels::KernelConfig> config = kernels::apply_overrides(named, launch.settings);
  if (!config) return to_string(config.errors());
  gpu::SmCache cache;
  const Result<gpu::SimReport> report = gpu::simulate(gpu, *config, launch.shape, launch.options, cache);
  if (!report) return to_string(report.errors());
  std::string text = report::to_json(*report);
  if (launch.traced)
    text += power::to_csv(power::power_trace(gpu::clock_request(gpu, launch.options), report->activity_at));
  return text;
}

std::string opened_rows(const arch::GpuSpec& gpu, const kernels::KernelOverrides& settings, kernels::GemmShape shape) {
  gpu::SmCache cache;
  const auto launch = gpu::launch_of(gpu, *kernels::apply_overrides({}, settings), shape, {}, cache);
  return launch ? fmt::format("{}", launch->traffic.opened_rows) : to_string(launch.errors());
}

// Beats of L2 over those of long pieces, of a grouped product whose rows lie in more pages than are translated.
std::string gathered_beats(const arch::GpuSpec& gpu) {
  gpu::SmCache cache;
  const operators::GroupedGemm gemm{operators::early_expert_config(4096, 8, kernels::DataType::bf16), 2048, 4096,
                                    operators::Histogram(8, 1024), 4096};
  const auto launch = operators::grouped_launch(gpu, gemm, gpu::L2State::warm, cache);
  return launch ? fmt::format("{}", launch->traffic.read_beats) : to_string(launch.errors());
}

Probe kernel(const char* gpu, Launch launch, arch::Overrides arch = {}) {
  return {gpu, std::move(arch), [launch](const arch::GpuSpec& changed) { return figures_of(launch, changed); }};
}

// Lines of assembly on one SM: cycles, counters and the energy of the events.
std::string figures_of(const kernels::Program& program, const sm::CoreSwitches& switches, double l1_hit_rate,
                       const arch::GpuSpec& gpu) {
  gpu::PortRequest request;
  request.gpu = &gpu;
  request.traffic.l1_hit_rate = l1_hit_rate;
  sm::SmWork work;
  work.iterations = 6;
  const sm::SmResult result = sm::run_sm(sm::decode(program, gpu.sm, {}, switches), gpu.sm, switches,
                                         gpu::port_to_l2(request, gpu.clock.sustained), work);
  const sm::CoreCounters& c = result.counters;
  gpu::ChipEvents events;
  events.counters = c;
  const power::Stack energy = power::event_energy(gpu, gpu::activity_of(events, Seconds{1e-6}), Volts{1.0}, {});
  return fmt::format("{} {} {} {} {} {} {}", result.cycles, c.shared_wavefronts, c.read_sectors, c.lsu_cycles,
                     c.rf_conflict_cycles, c.l1_bytes, power::total(energy).value);
}

Probe assembly(const char* gpu, const std::string& text, const sm::CoreSwitches& switches = {}, double l1_hit_rate = 0,
               arch::Overrides arch = {}) {
  const Result<kernels::Program> program = kernels::parse_assembly(text, "keys.nsass");
  EXPECT_TRUE(program) << to_string(program.errors());
  const auto shared = std::make_shared<const kernels::Program>(program ? *program : kernels::Program{});
  return {gpu, std::move(arch),
          [=](const arch::GpuSpec& changed) { return figures_of(*shared, switches, l1_hit_rate, changed); }};
}

// Launches of compiled kernels: atomic operations, and stores of parts of lines.
Probe compiled_launches(const char* gpu) {
  return {gpu, {}, [](const arch::GpuSpec& changed) {
            const auto all =
                compiled::validate_launches(NOTEG_SOURCE_DIR "/tests/data/compiled/keys_launches.csv", {&changed});
            if (!all) return to_string(all.errors());
            std::string figures;
            for (const compiled::LaunchOutcome& each : all->outcomes)
              figures += each.run ? report::to_json(each.run->report) : each.skipped;
            return figures;
          }};
}

// Each unit of an SM, eight warps on it.
const std::string all_units = R"(.warps 8
.access R8 shared 4 lane*4
.access R40 shared 8 lane*8
.access R44 shared 16 lane*16
.access R48 global 4 lane*4
.access R52 global 16 lane*16
.access R56 global 4 lane*128
loop:
[B------:R0:W0:-:S02] DFMA R4, R4, R6, R10 ;
[B------:R0:W1:-:S02] MUFU.EX2 R12, R12 ;
[B------:R0:W1:-:S02] MUFU.EX2 R14, R14 ;
[B------:R-:W-:-:S04] UIADD3 UR4, UR5, UR6, UR7 ;
[B------:R-:W-:-:S04] IADD3 R19, R19, UR4, R23 ;
[B------:R-:W-:-:S04] HFMA2 R13, R13, R14, R15 ;
[B------:R-:W-:-:S04] HFMA2 R13, R13, R14, R15 ;
[B------:R-:W-:-:S04] IMAD R16, R16, R17, R18 ;
[B------:R-:W-:-:S04] IMAD R16, R16, R17, R18 ;
[B------:R-:W-:-:S04] IADD3 R19, R19, R21, R23 ;
[B------:R-:W-:-:S04] FFMA R24, R25, R27, R29 ;
[B------:R0:W2:-:S02] SHFL.BFLY R30, R31, 0x1, 0x1f ;
[B------:R0:W2:-:S02] LDC R32, c[0x0][0x160] ;
[B------:R0:W2:-:S02] LDC R33, c[0x0][R2] ;
[B------:R0:W2:-:S02] LDS R34, [R8] ;
[B------:R0:W2:-:S02] LDS.64 R36, [R40] ;
[B------:R0:W2:-:S02] LDS.128 R60, [R44] ;
[B------:R0:W2:-:S02] LDS R34, [UR8] ;
[B------:R0:W3:-:S02] LDG.E R64, [R48] ;
[B------:R0:W3:-:S02] LDG.E R64, [UR4] ;
[B------:R0:W3:-:S02] LDG.E.128 R68, [R52] ;
[B012---:R0:W3:-:S02] LDG.E R64, [R56] ;
[B0-----:R0:W-:-:S02] STS [R8], R34 ;
[B0-----:R0:W-:-:S02] STS [UR8], R34 ;
[B0-----:R0:W-:-:S02] STG.E [R48], R34 ;
[B0-----:R0:W-:-:S02] STG.E [UR4], R34 ;
[B0--3--:R0:W4:-:S02] MEMBAR.SC.CTA ;
[B0---4-:R0:W4:-:S02] MEMBAR.SC.GPU ;
[B0---4-:R0:W4:-:S02] MEMBAR.SC.SYS ;
[B0123--:R-:W-:-:S06] BAR.SYNC 0x0 ;
[B----4-:R-:W-:-:S05] @P0 BRA loop ;
)";

// One instruction alone, again and again: what its own latency or rate decides.
std::string loop_of(const std::string& lines, int warps) {
  return fmt::format(".warps {}\n.access R56 global 4 lane*132\nloop:\n{}[B------:R-:W-:-:S01] @P0 BRA loop ;\n", warps,
                     lines);
}

std::vector<Probe> all_probes() {
  sm::CoreSwitches by_scoreboard;
  by_scoreboard.dependence = sm::Dependence::scoreboard;
  const kernels::KernelOverrides naive16{{"family", "naive"}, {"tile", "16x16x16"}};
  const kernels::KernelOverrides mma{{"family", "mma"}, {"tile", "128x128x32"}, {"dtype", "f16"}};
  const auto with = [](kernels::KernelOverrides settings, const char* key, const char* value) {
    settings.emplace_back(key, value);
    return settings;
  };
  const kernels::KernelOverrides wgmma{
      {"family", "wgmma"}, {"tile", "128x128x64"}, {"dtype", "f16"}, {"cluster", "2x1"}};
  const kernels::KernelOverrides bf16 = with({{"family", "mma"}, {"tile", "128x128x32"}}, "dtype", "bf16");
  const kernels::KernelOverrides deep{{"family", "mma"}, {"tile", "64x64x64"}, {"dtype", "f16"}, {"stages", "6"}};
  const kernels::KernelOverrides simt{{"family", "simt"}, {"tile", "128x128x8"}};
  const char* paired =
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel";
  const std::string mufu = "[B------:R0:W0:-:S02] MUFU.EX2 R12, R12 ;\n";
  const std::string dfma = "[B------:R0:W0:-:S02] DFMA R4, R4, R6, R8 ;\n";
  gpu::SimOptions cold, cool, zeros, slow;
  cold.l2 = gpu::L2State::cold;
  cool.clock_mode = power::ClockMode::cool;
  cool.launches = 20;
  zeros.operands = {0};
  slow.sm_clock_mhz = 900;
  const char* ada = "rtx4070";
  const char* hopper = "h200-sxm-141gb";
  return {
      kernel("b200-sxm-180gb", {"nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", {}, {2000, 2000, 1000, 1}}),
      kernel(hopper, {"", wgmma, {100, 4096, 4096, 1}}),
      kernel(hopper, {"", bf16, {16, 8192, 8192, 1}}),
      assembly(hopper, all_units),
      kernel(hopper, {"", mma, {2048, 2048, 1024, 1}, cold}),
      kernel(hopper, {"", {{"family", "simt"}, {"tile", "128x128x8"}}, {4096, 4096, 2048, 1}, slow}),
      assembly(hopper, all_units, by_scoreboard),
      assembly(ada, loop_of(mufu + dfma, 8)),
      assembly(hopper, loop_of("[B------:R-:W-:-:S01] FFMA R0, R1, R2, R3 ;\n", 8)),
      assembly(hopper, loop_of("[B------:R-:W-:-:S01] IADD3 R0, R1, R2, R3 ;\n", 8)),
      assembly(hopper, loop_of("[B------:R-:W-:-:S01] HFMA2 R0, R1, R2, R3 ;\n", 8)),
      assembly(hopper, loop_of("[B------:R-:W-:-:S01] UIADD3 UR4, UR5, UR6, UR7 ;\n", 8)),
      assembly(hopper, loop_of("[B------:R-:W-:-:S01] IMAD R0, R1, R2, R3 ;\n", 8)),
      assembly(hopper, loop_of("[B------:R0:W0:-:S02] LDG.E R64, [R56] ;\n", 8), {}, 1),
      assembly(hopper, all_units, {}, 0, {{"sm.front_end.l0_icache", "256 B"}, {"sm.front_end.l1_icache", "256 B"}}),
      kernel(hopper, {"", bf16, {16, 8192, 8192, 1}, zeros}),
      kernel(hopper, {"", with(wgmma, "a_in_registers", "true"), {2000, 2000, 1000, 1}}),
      kernel(hopper, {"", with(wgmma, "cluster", "2x2"), {2048, 4096, 1024, 1}}),
      kernel(hopper, {"", deep, {2048, 2048, 512, 1}},
             {{"sm.occupancy.max_shared_per_cta", "120 KiB"}, {"sm.occupancy.shared_reserved_per_cta", "17 KiB"}}),
      kernel(hopper, {paired, {}, {128, 64 * (4 * 132 + 112), 1024, 1}}),
      kernel(ada, {"", {{"family", "simt"}, {"tile", "128x128x8"}, {"stages", "3"}}, {1024, 1024, 512, 1}}),
      kernel(ada, {"", naive16, {1800, 1800, 1800, 1}}),
      kernel(ada, {"", simt, {4096, 4096, 1024, 1}}, {{"power.limit", "40 W"}}),
      kernel(ada, {"", simt, {8192, 8192, 4096, 1}, cool}, {{"power.limit", "400 W"}}),
      kernel(hopper, {"", mma, {4096, 4096, 4096, 1}, cool, true}, {{"power.limit", "300 W"}}),
      kernel(ada, {"", naive16, {4096, 4096, 8192, 1}, cold}, {{"dram.banks", "4"}}),
      kernel(ada, {"", {{"family", "naive"}, {"tile", "12x12x12"}}, {4096, 4096, 300, 1}}),
      kernel(ada, {"", with(simt, "reads_c", "true"), {8192, 8192, 256, 1}, cold}),
      compiled_launches(hopper),
      kernel("h100-sxm5-80gb", {"naive_tiled_sgemm_t8", {}, {8, 8 * 2112, 8, 1}}),  // its CTAs end faster than seen to
      kernel("a100-sxm4-80gb",
             {"", {{"family", "mma"}, {"tile", "64x64x32"}, {"dtype", "f16"}}, {4096, 8192, 32768, 1}, cold}),
      kernel(hopper, {"", {{"family", "flash3"}, {"tile", "128x256x128"}, {"dtype", "bf16"}}, {128, 256, 2048, 1}}),
      {"a100-sxm4-80gb", {{"l2.translation_reach", "32 MB"}, {"l2.translation_reads", "1.3"}}, gathered_beats},
      {ada,
       {},
       [naive16](const arch::GpuSpec& gpu) {
         return opened_rows(gpu, naive16, {8192, 8192, 512, 1});
       }},
  };
}

// Other values that the table allows, near ones and far ones.
std::vector<arch::Value> others(const arch::Field& field, const arch::Value& now) {
  using arch::Kind;
  std::vector<arch::Value> out;
  switch (field.kind) {
    case Kind::text: break;
    case Kind::flag: out.emplace_back(!std::get<bool>(now)); break;
    case Kind::count:
    case Kind::fraction:
    case Kind::quantity: {
      const double v = std::get<double>(now);
      for (const double other :
           {2 * v, v / 2, 0.95 * v, field.low, field.high, (v + field.low) / 2, (v + field.high) / 2}) {
        const double value = field.kind == Kind::count ? std::round(other) : other;
        if (value != v && value >= field.low && value <= field.high) out.emplace_back(value);
      }
      break;
    }
    case Kind::sizes: {
      std::vector<double> sizes = std::get<std::vector<double>>(now);
      sizes.pop_back();
      sizes.back() += 1024;
      out.emplace_back(sizes);
      sizes.pop_back();
      out.emplace_back(sizes);
      break;
    }
    case Kind::energies: {
      auto energies = std::get<std::vector<arch::NamedEnergy>>(now);
      for (arch::NamedEnergy& one : energies) one.energy = one.energy * 2;
      out.emplace_back(energies);
      break;
    }
    case Kind::forms: {
      auto forms = std::get<std::vector<arch::TensorFormSpec>>(now);
      for (arch::TensorFormSpec& one : forms) one.latency = one.latency * 2, one.interval = one.interval * 2;
      out.emplace_back(forms);
      break;
    }
  }
  return out;
}

struct Prepared {
  arch::GpuSpec gpu;
  std::string figures;
  const Probe* probe;
};

// Another legal value, the first or a later one, changes a figure.
bool changes(const arch::Field& field, const std::vector<Prepared>& all) {
  constexpr std::size_t most = 7;
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (const Prepared& at : all) {
      const std::vector<arch::Value> values = others(field, field.get(at.gpu));
      if (turn >= values.size()) continue;
      arch::GpuSpec gpu = at.gpu;
      field.set(gpu, values[turn]);
      if (!std::ranges::all_of(arch::rules(), [&](const arch::Rule& rule) { return rule.holds(gpu); })) continue;
      if (at.probe->figures(gpu) != at.figures) return true;
    }
  }
  return false;
}

TEST(Keys, EachChangesAFigureOfSomeRun) {
  const std::vector<Probe> probes = all_probes();
  std::vector<Prepared> prepared;
  for (const Probe& probe : probes) {
    const Result<arch::GpuSpec> gpu = arch::load_gpu(probe.gpu, probe.arch);
    ASSERT_TRUE(gpu) << to_string(gpu.errors());
    prepared.push_back({*gpu, probe.figures(*gpu), &probe});
  }
  for (const arch::Field& field : arch::fields()) {
    if (field.kind == arch::Kind::text) continue;  // names
    EXPECT_EQ(changes(field, prepared), !without_effect.contains(field.key)) << field.key;
  }
}

}  // namespace
}  // namespace noteg::properties
