// Matrix instructions: dependent chains and rates against warps and independent chains, as measured per generation and
// type. Rates are multiply-accumulates per clock of one SM; zeros of a sparse A count.
#include <fmt/format.h>

#include <map>

#include "kernels/assembly/assembly.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "kernels/passes/passes.hpp"
#include "sim/sm/instruction_timing.hpp"
#include "tests/sm/tables/engine_probe.hpp"
#include "tests/sm/tables/measured_csv.hpp"
#include "tests/sm/tables/measured_row.hpp"

namespace noteg::sm::tables {
namespace {

using kernels::DataType;

kernels::TensorForm form(int k, DataType in, DataType acc, bool sparse = false) {
  return {{16, 8, k}, in, acc, sparse, false};
}

// One A and one B for all, accumulators of their own for each chain.
kernels::Program chains(const kernels::TensorForm& f, const std::string& gpu, int warps, int ilp, int in_loop) {
  std::string text = fmt::format(".warps {}\nloop:\n", warps);
  for (int i = 0; i < in_loop; ++i) {
    const int c = 16 + 4 * (i % ilp);
    text += ins(fmt::format("{}{} R{}, R4, R8, R{}{}", kernels::opcode_info(opcode_of(f)).mnemonic, modifiers_of(f), c,
                            c, f.sparse ? ", R12" : ""));
  }
  text += ins("BRA loop");
  const Result<kernels::Program> parsed = kernels::parse_assembly(text, "mma.nsass");
  EXPECT_TRUE(parsed) << to_string(parsed.errors());
  kernels::Program program = parsed ? *parsed : kernels::Program{};
  kernels::assign_control_bits(program, sm::latency_model(sm_of(gpu), f));
  return program;
}

double cycles_per_iteration(const kernels::Program& program, const std::string& gpu) {
  const arch::SmSpec& sm = sm_of(gpu);
  const DecodedProgram decoded = decode(program, sm);
  const auto cycles = [&](std::int64_t iterations) {
    SmWork work;
    work.iterations = iterations;
    return run_sm(decoded, sm, {}, {}, work).cycles;
  };
  constexpr std::int64_t few = 4, many = 12;
  return (cycles(many) - cycles(few)) / static_cast<double>(many - few);
}

double rate(const kernels::TensorForm& f, const std::string& gpu, int warps, int ilp) {
  constexpr int in_loop = 240;  // a multiple of all numbers of chains
  const double macs = static_cast<double>(f.shape.m) * f.shape.n * f.shape.k;
  return macs * in_loop * warps / cycles_per_iteration(chains(f, gpu, warps, ilp, in_loop), gpu);
}

double latency(const kernels::TensorForm& f, const std::string& gpu) {
  constexpr int in_loop = 240;
  return cycles_per_iteration(chains(f, gpu, 1, 1, in_loop), gpu) / in_loop;
}

// m16n8k16_f32_f16: accumulator, then operand type.
kernels::TensorForm form_of(const std::string& op) {
  const std::size_t k = op.find('k') + 1, first = op.find('_'), second = op.find('_', first + 1);
  return form(std::stoi(op.substr(k, first - k)), *kernels::data_type_from(op.substr(second + 1)),
              *kernels::data_type_from(op.substr(first + 1, second - first - 1)));
}

struct Published {
  const char* gpu;
  kernels::TensorForm form;
  int warps, ilp;  // 0: the latency of a chain
  double value;
  const char* source;
};

std::vector<Published> published() {
  const DataType f16 = DataType::f16, f32 = DataType::f32, tf32 = DataType::tf32, s8 = DataType::s8,
                 s32 = DataType::s32, s4 = DataType::s4, e4m3 = DataType::f8e4m3;
  return {
      {ga100, form(16, f16, f16), 0, 0, 24.6, "LUO24"},
      {ga100, form(16, f16, f32), 0, 0, 24.7, "SUN22"},
      {ga100, form(8, f16, f32), 0, 0, 17.7, "SUN22"},
      {ga100, form(8, tf32, f32), 0, 0, 25.0, "SUN22"},
      {ga100, form(4, tf32, f32), 0, 0, 17.8, "SUN22"},
      {ga100, form(32, s8, s32), 0, 0, 26.0, "LUO24"},
      {ga100, form(32, f16, f16, true), 0, 0, 24.5, "LUO24"},
      {ga100, form(16, f16, f16), 16, 2, 1019.8, "LUO24: 310.6 TFLOP/s at 1410 MHz"},
      {ga100, form(16, f16, f32), 8, 2, 1018, "ABD22: 310 to 312 TFLOP/s"},
      {ga100, form(32, s8, s32), 16, 2, 1995, "LUO24: 607.6 TOP/s"},
      {ga100, form(32, f16, f16, true), 16, 2, 2045, "LUO24: 622.8 TFLOP/s"},
      {ga100, form(64, s4, s32), 16, 2, 4035, "ABD22: 1229 TOP/s"},
      {ada, form(16, f16, f16), 0, 0, 24.6, "LUO24"},
      {ada, form(32, s8, s32), 0, 0, 24.5, "LUO24"},
      {ada, form(32, f16, f16, true), 0, 0, 24.5, "LUO24"},
      {ada, form(16, f16, f32), 0, 0, 33.0, "SUN22, UB4090"},
      {ada, form(16, f16, f32), 16, 2, 255.8, "UB4090"},
      {ada, form(16, f16, f16), 16, 2, 511.4, "UB4090"},
      {ada, form(32, e4m3, f16), 16, 2, 1024, "WP: 660 TFLOP/s on the RTX 4090"},
      {ada, form(32, e4m3, f32), 16, 2, 512, "WP: 330 TFLOP/s on the RTX 4090"},
      {gh100, form(16, s8, s32), 0, 0, 16.0, "H100R"},
      {gh100, form(4, tf32, f32), 0, 0, 16.06, "H100R"},
      {gh100, form(4, tf32, f32), 8, 4, 506, "H100R"},
      {gh100, form(16, s8, s32), 8, 4, 2032, "H100R"},
      {gh100, form(8, f16, f16), 8, 4, 1024, "H100R"},
      {gh100, form(32, e4m3, f32), 8, 4, 2580, "H100R"},
      {gh100, form(16, f16, f16), 16, 1, 1301, "H100R: 1298 to 1305"},
      {gh100, form(16, f16, f16), 32, 1, 1340, "H100R"},
  };
}

}  // namespace

std::vector<MeasuredRow> tensor_rows() {
  std::vector<MeasuredRow> rows;
  for (const MicroBenchmark& b : micro_benchmarks()) {
    if (b.name != "mma_latency" && b.name != "mma_throughput") continue;
    const kernels::TensorForm f = form_of(b.text("op"));
    const int warps = b.has("ilp") ? b.number("warps_per_sm") : 0, ilp = b.has("ilp") ? b.number("ilp") : 0;
    rows.push_back({b.name + ": " + b.params, b.value, "H200M",
                    [=] { return ilp == 0 ? latency(f, gh100) : rate(f, gh100, warps, ilp); }, Allowed::five_percent});
  }
  for (const Published& p : published()) {
    rows.push_back({fmt::format("mma {} {} warps {} ilp {}", p.gpu, name_of(p.form), p.warps, p.ilp), p.value, p.source,
                    [p] { return p.ilp == 0 ? latency(p.form, p.gpu) : rate(p.form, p.gpu, p.warps, p.ilp); },
                    Allowed::five_percent});
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Tensor, HardwareTable, testing::ValuesIn(tensor_rows()), test_name);

}  // namespace noteg::sm::tables
