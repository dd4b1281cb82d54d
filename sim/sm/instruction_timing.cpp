#include "sim/sm/instruction_timing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/support/arithmetic.hpp"

namespace noteg::sm {

namespace {

constexpr int listed_columns = 256;  // N of the wgmma forms in the table

constexpr int listed_rows = 128;  // M of the tcgen05 forms: 64 rows take as long

const std::vector<arch::TensorFormSpec>& tensor_table(const arch::SmSpec& sm, const kernels::TensorForm& form) {
  return form.in_tensor_memory ? sm.tcgen05.forms : form.warp_group ? sm.tensor.wgmma : sm.tensor.mma;
}

std::optional<arch::TensorFormSpec> listed_form(const arch::SmSpec& sm, kernels::TensorForm form) {
  if (form.in_tensor_memory) form.shape.m = listed_rows;
  if (form.warp_group || form.in_tensor_memory) form.shape.n = listed_columns;
  const auto& table = tensor_table(sm, form);
  const auto found = std::ranges::find(table, name_of(form), &arch::TensorFormSpec::name);
  if (found == table.end()) return std::nullopt;
  return *found;
}

}  // namespace

std::optional<TensorTiming> tensor_timing(const arch::SmSpec& sm, const kernels::TensorForm& form) {
  const std::optional<arch::TensorFormSpec> spec = listed_form(sm, form);
  if (!spec) return std::nullopt;
  TensorTiming out{spec->latency.value, spec->interval.value};
  if (form.warp_group || form.in_tensor_memory) {
    const double share = static_cast<double>(form.shape.n) / listed_columns;
    return TensorTiming{out.latency * share, out.interval * share};
  }
  if (form.acc == kernels::DataType::f32) {
    const double more = out.interval * (sm.tensor.f32_accumulate_slowdown - 1);
    out.latency += more / 2;
    out.interval += more;
  }
  return out;
}

std::string tensor_forms_of(const arch::SmSpec& sm, const kernels::TensorForm& like) {
  std::string names;
  for (const arch::TensorFormSpec& form : tensor_table(sm, like)) names += (names.empty() ? "" : ", ") + form.name;
  return names;
}

double peak_macs_per_cycle(const arch::SmSpec& sm, const kernels::TensorForm& form) {
  // Shapes that some generation has; the deepest has the best rate.
  double best = 0;
  struct Kind {
    bool warp_group, in_tensor_memory;
    int rows, columns;
  };
  for (const Kind& kind : {Kind{false, false, 16, 8}, Kind{true, false, 64, listed_columns},
                           Kind{false, true, listed_rows, listed_columns}}) {
    for (const int k : {4, 8, 16, 32, 64, 128}) {
      kernels::TensorForm one = form;
      one.warp_group = kind.warp_group;
      one.in_tensor_memory = kind.in_tensor_memory;
      one.shape = {kind.rows, kind.columns, k};
      const std::optional<TensorTiming> timing = tensor_timing(sm, one);
      if (!timing) continue;
      const double macs = static_cast<double>(one.shape.m) * one.shape.n * one.shape.k;
      best = std::max(best, macs / timing->interval * (kind.rows > 16 ? 1 : sm.sub_cores));
    }
  }
  return best;
}

std::optional<kernels::TensorForm> tensor_form_in(const kernels::Program& program) {
  for (const kernels::Instruction& in : program.code) {
    if (kernels::opcode_info(in.op).unit != kernels::Unit::tensor) continue;
    if (const auto form = kernels::tensor_form_from(in.op, in.modifiers)) return form;
  }
  return std::nullopt;
}

std::uint64_t pipe_interval(int lanes) { return static_cast<std::uint64_t>(ceil_div(32, std::clamp(lanes, 1, 32))); }

int variable_latency(kernels::Opcode op, const arch::SmSpec& sm) {
  const auto whole = [](Cycles c) { return std::max(1, static_cast<int>(c.value)); };
  const int mufu = whole(sm.pipes.mufu.latency);
  if (kernels::opcode_info(op).unit == kernels::Unit::fp64) return whole(sm.pipes.fp64.latency);
  return op == kernels::Opcode::s2ur ? std::max(20, mufu) : mufu;
}

kernels::LatencyModel latency_model(const arch::SmSpec& sm) {
  kernels::LatencyModel out;
  out.fma = as_int(sm.pipes.fma.latency);
  out.fma_heavy = as_int(sm.pipes.fma_heavy.latency);
  out.alu = as_int(sm.pipes.alu.latency);
  out.half = as_int(sm.pipes.half.latency);
  out.cross_pipe = std::max(out.fma, out.alu) + as_int(sm.pipes.cross_pipe_penalty);
  out.to_memory = std::max(out.fma, out.alu) + as_int(sm.pipes.memory_address_penalty);
  out.to_decoupled = std::max(out.fma, out.alu);
  out.uniform_to_vector = as_int(sm.pipes.uniform.latency);
  out.predicate_to_branch = as_int(sm.pipes.predicate_to_branch);
  out.fma_interval = static_cast<int>(pipe_interval(sm.pipes.fma.lanes));
  out.fma_heavy_interval = static_cast<int>(pipe_interval(sm.pipes.fma_heavy.lanes));
  out.alu_interval = static_cast<int>(pipe_interval(sm.pipes.alu.lanes));
  out.memory_interval = as_int(sm.memory.address_cycles);
  out.async_copy = sm.has_async_copy;
  const arch::OccupancySpec& holds = sm.occupancy;
  out.most_ctas = holds.max_ctas;
  out.most_threads = holds.max_threads;
  if (!holds.shared_configs.empty())
    out.shared_memory = static_cast<int>(std::ranges::max_element(holds.shared_configs)->value);
  out.shared_memory_reserved = static_cast<int>(holds.shared_reserved_per_cta.value);
  return out;
}

kernels::LatencyModel latency_model(const arch::SmSpec& sm, const std::optional<kernels::TensorForm>& form) {
  kernels::LatencyModel out = latency_model(sm);
  if (!form) return out;
  if (const std::optional<TensorTiming> timing = tensor_timing(sm, *form)) {
    out.tensor = static_cast<int>(std::lround(timing->latency));
    out.tensor_interval = std::max(1, static_cast<int>(timing->interval));
  }
  return out;
}

}  // namespace noteg::sm
