#include "sim/adapt/suggest.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "arch/load.hpp"
#include "kernels/config/config_file.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/sampling.hpp"
#include "sim/forest/random.hpp"
#include "sim/support/csv.hpp"
#include "sim/tune/catalogue.hpp"
#include "sim/tune/problem.hpp"

namespace noteg::adapt {
namespace {

kernels::GemmShape shape_of(forest::Random& random) {
  const auto share = [&] { return (random.below(1u << 20) + 0.5) / (1u << 20); };
  const double tokens = share(), n = share();
  return dataset::layer_shape(tokens, n, share());
}

kernels::KernelConfig frame_of(kernels::DataType type) {
  kernels::KernelConfig frame;
  frame.dtype_in = type;
  const bool integers = type == kernels::DataType::s8;
  frame.dtype_acc = integers ? kernels::DataType::s32 : kernels::DataType::f32;
  frame.dtype_out = kernels::bytes_of(type) < 2 ? kernels::DataType::bf16 : type;
  frame.layout = kernels::Layout::nt;
  return frame;
}

// How CUTLASS, and how PyTorch, name a type.
struct TypeNames {
  kernels::DataType type;
  const char *cutlass, *torch;
};
constexpr std::array<TypeNames, 6> type_names{{{kernels::DataType::f32, "f32", "float32"},
                                               {kernels::DataType::tf32, "tf32", "float32"},
                                               {kernels::DataType::f16, "f16", "float16"},
                                               {kernels::DataType::bf16, "bf16", "bfloat16"},
                                               {kernels::DataType::s8, "s8", "int8"},
                                               {kernels::DataType::f8e4m3, "e4m3", "float8_e4m3fn"}}};

const TypeNames& names_of(kernels::DataType type) {
  for (const TypeNames& names : type_names)
    if (names.type == type) return names;
  return type_names[2];
}

}  // namespace

Result<std::vector<Launch>> suggest(const arch::GpuSpec& gpu, const learn::Places& measured, std::size_t count,
                                    const Candidates& candidates, const validate::Chooser& chooser,
                                    const validate::Simulator& simulator) {
  forest::Random random(candidates.seed);
  std::vector<Launch> all;
  dataset::TableBuilder builder([](dataset::Group) { return true; });
  gpu::SimOptions options;
  std::string reason = "none";
  for (const kernels::DataType type : candidates.types)
    for (std::size_t i = 0; i < candidates.of_each; ++i) {
      const kernels::GemmShape shape = shape_of(random);
      const Result<kernels::KernelConfig> kernel = chooser(gpu, frame_of(type), shape, options);
      const Result<gpu::SimReport> report =
          kernel ? simulator(gpu, *kernel, shape, options) : Result<gpu::SimReport>(kernel.errors());
      if (!report) {
        reason = report.errors().front().to_string();
        continue;
      }
      builder.add({&gpu, &options, &*report});
      all.push_back({shape, report->kernel, report->time_us});
    }
  if (all.empty()) return Diagnostic{"", 0, 0, "--suggest", "a launch that " + gpu.name + " can run", reason};
  const dataset::Table table = builder.take();
  const Result<learn::Places> places = learn::places_of(table, learn::coordinates());
  if (!places) return places.errors();
  std::vector<Launch> out;
  for (const std::size_t i : learn::most_telling({}, measured, *places, count)) out.push_back(all[i]);
  return out;
}

std::string to_csv(const std::vector<Launch>& launches, const arch::GpuSpec& gpu) {
  std::string text = csv_line({"gpu", "op", "dtype_in", "dtype_acc", "layout", "batch", "M", "N", "K", "kernel_name",
                               "time_ms", "power_w", "sm_clock_mhz"});
  for (const Launch& launch : launches)
    text += csv_line({gpu.names.empty() ? gpu.id : gpu.names.front(), "linear",
                      std::string(kernels::name_of(launch.kernel.dtype_in)),
                      std::string(kernels::name_of(launch.kernel.dtype_acc)), "tn", std::to_string(launch.shape.batch),
                      std::to_string(launch.shape.m), std::to_string(launch.shape.n), std::to_string(launch.shape.k),
                      "", "", "", ""});
  return text;
}

std::string torch_script(const std::vector<Launch>& launches, const arch::GpuSpec& gpu, const std::string& csv) {
  std::string list;
  for (const Launch& launch : launches)
    list += fmt::format("    (\"{}\", {}, {}, {}),\n", names_of(launch.kernel.dtype_in).torch, launch.shape.m,
                        launch.shape.n, launch.shape.k);
  return fmt::format(
      R"(# Measures {count} launches on a {gpu} and writes {csv}: median GPU time of 20 launches each, weights not in L2.
# float32 runs without TF32; int8 and float8 launches are left blank where this PyTorch cannot run them.
import csv, statistics, torch

launches = [  # type, M, N, K of C = A B^T
{list}]
torch.backends.cuda.matmul.allow_tf32 = False


def time_ms(dtype, m, n, k):
    kind = getattr(torch, dtype)
    copies = max(2, int(256e6 // (n * k * torch.empty(0, dtype=kind).element_size())) + 1)
    a = (torch.randn(m, k, device="cuda") * 0.1).to(kind)
    b = [(torch.randn(n, k, device="cuda") * 0.1).to(kind) for _ in range(min(copies, 64))]
    run = lambda w: torch.nn.functional.linear(a, w)
    for w in b[:3]:
        run(w)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for w in b:
            run(w)
    times = []
    for _ in range(20):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record(); graph.replay(); stop.record(); stop.synchronize()
        times.append(start.elapsed_time(stop) / len(b))
    return statistics.median(times)


rows = list(csv.DictReader(open("{csv}")))
for row, launch in zip(rows, launches):
    try:
        row["time_ms"] = time_ms(*launch)
        print(*launch, row["time_ms"])
    except RuntimeError as error:
        print(*launch, "not measured:", error)
with open("{csv}", "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys())
    writer.writeheader()
    writer.writerows(row for row in rows if row["time_ms"])
)",
      fmt::arg("count", launches.size()), fmt::arg("gpu", gpu.name), fmt::arg("csv", csv), fmt::arg("list", list));
}

std::vector<std::string> profiler_lines(const std::vector<Launch>& launches) {
  std::vector<std::string> lines;
  for (const Launch& launch : launches) {
    const char* type = names_of(launch.kernel.dtype_in).cutlass;
    // Column-major as CUTLASS names it: C^T = B A^T has rows N and columns M.
    lines.push_back(fmt::format(
        "cutlass_profiler --operation=Gemm --m={} --n={} --k={} --A={}:row --B={}:column --accumulator-type={} "
        "--profiling-iterations=20 --warmup-iterations=5 --output=measured.csv --append=true",
        launch.shape.m, launch.shape.n, launch.shape.k, type, type, kernels::name_of(launch.kernel.dtype_acc)));
  }
  return lines;
}

namespace {

// A shape that every kernel of a catalogue takes: what is asked of it is its name.
constexpr kernels::GemmShape any_shape{4096, 4096, 4096, 1};

// The catalogue's kernels of a type by name, those layouts that libraries are asked for most: operands as they are
// stored, and weights transposed.
std::vector<std::string> library_names(const arch::GpuSpec& gpu, kernels::DataType type) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const kernels::Layout layout : {kernels::Layout::nn, kernels::Layout::tn}) {
    kernels::KernelConfig frame;
    tune::set_types(frame, type);
    frame.layout = layout;
    for (const kernels::KernelConfig& kernel : tune::library_kernels(gpu, frame)) {
      Result<kernels::KernelConfig> resolved = kernels::resolve(kernel, any_shape);
      if (!resolved) continue;
      const auto shared = static_cast<double>(resolved->shared_bytes.value_or(0));
      if (shared > gpu.sm.occupancy.max_shared_per_cta.value) continue;
      kernels::name_as_library(*resolved);
      if (kernels::config_from_name(resolved->name) && known.insert(resolved->name).second)
        names.push_back(resolved->name);
    }
  }
  return names;
}

std::string sequence(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + fmt::format("\"{}\"", word);
  return "[" + text + "]";
}

// K whole in five of eight rows: a library cuts it only where the grid leaves SMs idle.
std::string blocks_of(const std::string& gpu, const std::vector<std::string>& names) {
  const std::string common = fmt::format("gpus: \"{}\", kernel_name: {}", gpu, sequence(names));
  return fmt::format("  - {{{0}}}\n  - {{{0}, split_k: [1, 2, 4, 8]}}\n", common);
}

// What the CUTLASS profiler runs in f32, beside the library's own kernels.
std::string cutlass_block(const std::string& gpu) {
  return fmt::format(
      "  - {{gpus: \"{}\", family: simt, tile: [128x128x8, 128x64x8, 64x128x8, 64x64x8, 256x128x8], stages: [2, 3, 4, "
      "5],\n     layout: [nn, nt, tn, tt], swizzle_log2: [0, 1, 2], reads_c: [false, true]}}\n",
      gpu);
}

}  // namespace

Result<std::string> card_sweep(const CardSweep& wanted) {
  std::string kernels;
  Diagnostics errors;
  for (const std::string& name : wanted.gpus) {
    const Result<arch::GpuSpec> gpu = arch::load_gpu(name);
    if (!gpu) {
      errors.insert(errors.end(), gpu.errors().begin(), gpu.errors().end());
      continue;
    }
    for (const kernels::DataType type : wanted.types) {
      const std::vector<std::string> names = library_names(*gpu, type);
      if (!names.empty()) kernels += blocks_of(name, names);
      if (type == kernels::DataType::f32) kernels += cutlass_block(name);
      if (names.empty() && type != kernels::DataType::f32)
        errors.push_back({"", 0, 0, "--dtype", "types that the libraries have kernels of for " + gpu->name,
                          std::string(kernels::name_of(type))});
    }
  }
  if (!errors.empty()) return errors;
  return fmt::format(
      "method: sobol\nrows: {}\nseed: {}\ngpus: {}\n"
      "shape:\n  layers: 0.4\n  convolutions: 0.1\n"
      "  m: {{from: 16, to: 16384, scale: log, multiple_of: 8}}\n"
      "  n: {{from: 16, to: 16384, scale: log, multiple_of: 8}}\n"
      "  k: {{from: 16, to: 16384, scale: log, multiple_of: 8}}\n"
      "  batch: {{from: 1, to: 64, scale: log}}\n"
      "kernels:\n{}"
      "run: {{clock_mode: [sustained, cool, burst], launches: [10, 100, 1000], operands: [1, 0.7, 0.4, 0],\n"
      "      l2: [warm, cold, steady]}}\n",
      wanted.rows, wanted.seed, sequence(wanted.gpus), kernels);
}

}  // namespace noteg::adapt
