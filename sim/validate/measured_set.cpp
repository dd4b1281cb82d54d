#include "sim/validate/measured_set.hpp"

#include <algorithm>
#include <array>

#include "sim/support/text.hpp"
#include "sim/validate/measured_source.hpp"
#include "sim/validate/quantisation/quantisation.hpp"

namespace noteg::validate {
namespace {

using gpu::L2State;

// The CUTLASS profiler fills its matrices with integers from -4 to 4 (Options::Initialization in options.cu).
// H200M: FFMA GEMMs on such numbers take 0.41 (65536x1024x512) to 0.43 (8192x8192x8192) of the way from zeros (383 W,
// 404 W) to uniform reals (651 W, 689 W), wherever those lie.
constexpr double small_whole_numbers = 0.42;

// vidur runs 20 layers of four products each and then times 20 more (mlp_wrapper.py). On the H100 no launch of these
// has a free start: short products of random numbers run no faster than long ones. aiconfigurator runs six calls three
// times, times them six times more (helper.py, benchmark_with_power); its A100 and L40S show no free start either
// (above half a millisecond an A100 takes 5 % longer than a board that was cool would). vidur and aiconfigurator
// alternate buffers or layers, so their weights come from DRAM; aiconfigurator's six sets of buffers do not where they
// all fit into L2 (as times on an L40S show, up to just its 96 MB). The CUTLASS profiler allots as many copies of a
// problem as exceed three times the L2 and goes round them: no launch finds anything of its own in L2
// (initialize_workspace in gemm_operation_profiler.cu).
constexpr std::array<MeasuredSet, 18> sets{{
    {"neusight", Convention::blas_swapped, L2State::warm, true, false, true,
     "CUDA events around one PyTorch call, mean of the 5 fastest of 25, same tensors each call; host dispatch is "
     "inside; pauses between shapes and the fastest calls favour a cool chip",
     power::ClockMode::cool, 5, 0, "L4"},
    {"gpperf_cutlass", Convention::blas_column_major, L2State::cold, false, false, false,
     "CUTLASS profiler, mean of 10 launches over buffers that together exceed three times the L2, median of repeats; 3 "
     "before them warm up",
     power::ClockMode::cool, 13, 3, "", small_whole_numbers},
    {"gpperf_naive", Convention::row_major, L2State::cold, false, false, false,
     "one cold launch of a board at rest, minimum of 4 processes", power::ClockMode::cool, 1},
    {"measured", Convention::blas_storage, L2State::warm, false, true, false,
     "replayed graph of back-to-back launches on one H200, clock read during the run but for library kernels; pauses "
     "between the points keep the limiter out",
     power::ClockMode::cool, 1},
    {"vidur", Convention::blas_swapped, L2State::cold, false, false, false, "profiler durations of kernels",
     power::ClockMode::cool, 160, 80, "H100-SXM5-80GB", 1, 0, true},
    {"aiconfigurator", Convention::blas_swapped, L2State::cold, false, true, false,
     "replayed graph on distinct buffers, 6 calls 6 times at most; rows with power ran for a second",
     power::ClockMode::cool, 54, 18, "A100-SXM4-80GB,L40S", 1, 6},
    {"aiconfigurator_uninit", Convention::blas_swapped, L2State::cold, false, true, false,
     "as aiconfigurator, weights in memory that nobody wrote: long launches run up to 6 % faster",
     power::ClockMode::cool, 54, 18, "A100-SXM4-80GB,L40S", unwritten_weights, 6},
    {"aiconfigurator_power", Convention::blas_swapped, L2State::cold, false, true, false,
     "as aiconfigurator, repeated for 0.3 to 1 s with the board's power read", power::ClockMode::sustained,
     std::nullopt, 0, "", 1, 6},
    {"aiconfigurator_attention", Convention::row_major, L2State::warm, true, true, false,
     "replayed graph of calls of the operator on the same cache; what the operator does beside the kernel is inside",
     power::ClockMode::cool, 36},
    {"aiconfigurator_moe", Convention::row_major, L2State::cold, true, true, false,
     "replayed graph of the whole layer: routing, two grouped products, activation", power::ClockMode::cool, 36},
    {"triton_inductor", Convention::blas_swapped, L2State::overwritten, false, false, false,
     "triton.testing.do_bench: CUDA events, L2 overwritten before each launch; some microseconds of launch inside",
     power::ClockMode::cool},
    {"kerneltuner", Convention::blas_column_major, L2State::warm, false, false, false,
     "OpenCL event time, median of 32"},
    {"llmcompass", Convention::row_major, L2State::warm, true, false, false,
     "host wall clock, median of 50 calls on the same tensors behind three seconds of rest (matmul.py, run_on_gpu)",
     power::ClockMode::cool, 25},
    {"siboehm", Convention::row_major, L2State::warm, false, false, false, "published GFLOP/s, one run"},
    {"leimao", Convention::row_major, L2State::warm, false, false, false, "published TFLOP/s, up to 25 % between runs"},
    {"fast_cu", Convention::row_major, L2State::warm, false, false, false, "published TFLOP/s"},
    {"leetcuda", Convention::row_major, L2State::warm, false, false, false, "published TFLOP/s"},
    {"wangzyon", Convention::row_major, L2State::warm, false, false, false, "printed GFLOP/s"},
}};

}  // namespace

std::span<const MeasuredSet> measured_sets() { return sets; }

MeasuredSet measured_set_of(std::string_view source) {
  for (const MeasuredSet& set : sets)
    if (set.source == source) return set;
  MeasuredSet own;
  own.source = source;
  own.note = "read as row-major layouts, warm L2, pure kernel times";
  return own;
}

std::vector<std::string> unknown_sources(const MeasuredData& data) {
  std::vector<std::string> names;
  for (const MeasuredRow& row : data.rows) {
    const std::string_view source = RowView(data, row).text(Column::source);
    const bool known = std::ranges::find(sets, source, &MeasuredSet::source) != sets.end();
    if (!source.empty() && !known && std::ranges::find(names, source) == names.end()) names.emplace_back(source);
  }
  return names;
}

std::optional<kernels::Layout> layout_of(Convention convention, std::string_view letters) {
  if (letters == "rr") return kernels::Layout::nn;
  switch (convention) {
    case Convention::row_major: return kernels::layout_from(letters);
    case Convention::blas_swapped: return kernels::layout_from_blas(letters, true);
    case Convention::blas_storage:
    case Convention::blas_column_major: return kernels::layout_from_blas(letters, false);
  }
  return std::nullopt;
}

namespace {

// aiconfigurator's collect_gemm.py of each framework. TensorRT-LLM: five sets of weights; 4-bit ones are made on the
// CPU before each loop of a second, in which power is read eleven times. A reading is the mean of the second before it
// (NVML, nvmlDeviceGetPowerUsage), so that they climb from an idle board. vLLM: 4-bit weights are one set.
void read_loop(bool by_tensorrt_llm, bool by_vllm, MeasuredCase& measured) {
  const bool narrow = measured.config.dtype_in == kernels::DataType::nvfp4;
  if (by_tensorrt_llm) measured.buffers = 5;
  if (by_tensorrt_llm && narrow) measured.meter_share = 0.5;
  if (by_vllm && narrow) measured.buffers = 1;
}

bool named(std::string_view list, const std::string& gpu) {
  const std::vector<std::string> gpus = comma_list(list);
  return std::ranges::find(gpus, gpu) != gpus.end();
}

// TensorRT runs a network twice from rest and times its last layer in the second run. In front of that layer stand
// three products of 16-bit numbers over 12288 columns (collect_gemm_trt.py). How many launches of the layer that comes
// to.
void read_network(std::int64_t n, std::int64_t k, MeasuredCase& measured) {
  constexpr double columns = 12288, runs = 2;
  const auto deep = static_cast<double>(k), wide = static_cast<double>(n);
  const bool narrow = kernels::bytes_of(measured.config.dtype_in) < 2;  // twice as fast as what stands before
  const double before = (2 * deep * columns + columns * columns) / (deep * wide) * (narrow ? 2 : 1);
  measured.options.launches = static_cast<int>(std::min(std::ceil(runs * (before + 1)), 1e6));
  measured.options.warm_up = *measured.options.launches - 1;
}

}  // namespace

void read_measurement(RowView& row, const MeasuredSet& set, TimeColumn time, MeasuredCase& measured) {
  measured.options.sm_clock_mhz = row.positive(Column::sm_clock_mhz);
  const bool cold = time == TimeColumn::cold;
  const Column column = cold ? Column::time_cold_ms : Column::time_ms;
  measured.options.l2 = cold ? gpu::L2State::cold : set.l2;
  // TensorRT runs three products of 300 MB of weights in front of the layer that it times.
  const std::string_view notes = row.text(Column::notes);
  const auto names = [&](std::string_view word) { return notes.find(word) != std::string_view::npos; };
  const bool of_plugin = row.text(Column::op) == "gemm_int8" || row.text(Column::op) == "gemm_weight_only";
  if (!cold && !of_plugin) measured.buffers = set.buffers;
  if (measured.buffers > 0 && set.source == "aiconfigurator_power") read_loop(names("trtllm"), names("vllm"), measured);
  measured.options.clock_mode = set.clock_mode;
  const bool unwritten = names("weights uninitialised");
  measured.options.operands.activity = unwritten ? unwritten_weights : set.operand_activity;
  measured.options.warm_up = set.warm_up;
  if (of_plugin)  // TensorRT builds an engine between its layers, in which the board rests
    read_network(row.integer(Column::n, 1).value_or(1), row.integer(Column::k, 1).value_or(1), measured);
  else if (!named(set.limited_gpus, measured.gpu))
    measured.options.launches = set.launches;
  else  // what ran before has heated the chip too
    measured.options.clock_mode = power::ClockMode::sustained;
  measured.options.library =
      set.before_nvjet ? gpu::Library::cublas_before_nvjet : library_in_notes(notes, row.text(Column::op));
  const bool looped = set.clock_mode == power::ClockMode::cool && set.power_is_kernels && row.positive(Column::power_w);
  if (looped) {  // for a meter to follow: the clock has settled
    measured.options.clock_mode = power::ClockMode::sustained;
    measured.options.launches = std::nullopt;
  }
  if (set.host_included || of_plugin) measured.host = host_time_of(set.source, row.text(Column::op), measured.gpu);
  // What was quantised a moment ago is in L2.
  if (measured.quantises && measured.options.l2 == gpu::L2State::cold) measured.options.l2 = gpu::L2State::steady;
  measured.time_ms = row.positive(column);
  row.need(column);
  if (cold) return;  // power and energy were taken with warm launches
  if (set.power_is_kernels) measured.power_w = row.positive(Column::power_w);
  measured.energy_j = row.positive(Column::energy_j_per_launch);
  measured.own_power_run = names("sustained_time_ms=");
}

void transpose_problem(kernels::KernelConfig& config, kernels::GemmShape& shape) {
  std::swap(shape.m, shape.n);
  std::swap(config.tile.m, config.tile.n);
  std::swap(config.warp_m, config.warp_n);
  std::swap(config.thread_m, config.thread_n);
  std::swap(config.align_a, config.align_b);
  std::swap(config.cluster_m, config.cluster_n);
  if (kernels::copies_in_bulk(config.family)) std::swap(config.instruction.m, config.instruction.n);
  config.raster = config.raster == kernels::Raster::along_m ? kernels::Raster::along_n : kernels::Raster::along_m;
  const bool a_along_k = !kernels::b_contiguous_in_n(config.layout);  // A' is B transposed
  const bool b_along_n = !kernels::a_contiguous_in_k(config.layout);
  config.layout = a_along_k ? (b_along_n ? kernels::Layout::nn : kernels::Layout::nt)
                            : (b_along_n ? kernels::Layout::tn : kernels::Layout::tt);
}

}  // namespace noteg::validate
