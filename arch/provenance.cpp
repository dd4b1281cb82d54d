#include "arch/provenance.hpp"

#include <array>

namespace noteg::arch {
namespace {

constexpr std::array keys{
    SourceKey{"MICRO25",
              "Huerta et al., MICRO 2025, doi 10.1145/3725843.3756041: pipeline of Turing, Ampere and Blackwell"},
    SourceKey{"MICRO25-art", "configuration files of that paper's artifact (RTX A6000, RTX 2080 Ti, RTX 5070 Ti)"},
    SourceKey{"UB4090", "accel-sim style microbenchmarks run on a GeForce RTX 4090; one run, clock not locked"},
    SourceKey{"LUO24", "Luo et al., arXiv 2402.13499: A100 PCIe 40GB, RTX 4090, H800 PCIe"},
    SourceKey{"LUO25", "Luo et al., arXiv 2501.12084, extension of LUO24"},
    SourceKey{"HPMLL", "raw logs of the LUO25 artifact"},
    SourceKey{"H100R", "an independent H100 SXM5 run of the HPMLL suite with raw logs, 1980 MHz"},
    SourceKey{"H100S", "CUDA Performance Study, NVIDIA H100 SXM5; memory latencies only"},
    SourceKey{"GPUB", "raw data of gpu-benches (L40, A40, A100, H100 PCIe, H200)"},
    SourceKey{"ABD22", "Abdelkhalik et al., arXiv 2208.11174 (A100)"},
    SourceKey{"NAK80", "instruction latency tables for SM80 in the Mesa NAK compiler"},
    SourceKey{"SUN22",
              "Sun et al., arXiv 2206.02874, on the tensor cores of Ampere; scattered values, as others quote them"},
    SourceKey{"A100MEM", "survey of A100 memory-hierarchy sources"},
    SourceKey{"NOC24", "Jin et al., MICRO 2024, on GPU networks on chip"},
    SourceKey{"CPG", "CUDA C++ Programming Guide, tables per compute capability, and the occupancy calculator's"},
    SourceKey{"BPG", "CUDA guides, table of native arithmetic throughput"},
    SourceKey{"ACCEL", "configuration files of accel-sim and gpgpu-sim"},
    SourceKey{"NEUSIGHT", "device configurations of NeuSight"},
    SourceKey{"LLMC", "configuration of GA100 in LLMCompass"},
    SourceKey{"WP", "NVIDIA architecture whitepapers and data sheets"},
    SourceKey{"SPEC", "public specification pages of products"},
    SourceKey{"PTX", "PTX ISA: instructions, their shapes, types and the compute capabilities that have them"},
    SourceKey{"SEMI26", "SemiAnalysis, microbenchmarks of the B200's tensor cores and copies, March 2026"},
    SourceKey{"CNC26", "Chips and Cheese on the B200: SMs, caches, memory"},
    SourceKey{"QUANT26",
              "times of quantising kernels on a B200 as users report them to vLLM (43658) and FlashInfer (2496)"},
    SourceKey{"JAR25", "Jarmusch and others, arXiv 2512.02189 (B200) and 2507.10789 (RTX 5080)"},
    SourceKey{"SMI", "listings of nvidia-smi in public benchmark logs"},
    SourceKey{"GPPERF", "arXiv 2411.16954 and its measurements (RTX 4070)"},
    SourceKey{"H200M", "the project's own microbenchmarks and runs on an NVIDIA H200 SXM"},
    SourceKey{"H100M", "the project's own microbenchmarks and runs on an NVIDIA H100 SXM5"},
    SourceKey{"TORCHMM",
              "rates of torch.mm, most at 8192 cubed, as users report them to zzc0721/torch-performance-test-data and "
              "chsasank/device-benchmarks"},
    SourceKey{"MEASURED", "rows of the measured run times, named in the detail"},
    SourceKey{"DERIVED", "arithmetic on sourced values, formula in the detail"},
    SourceKey{"OWN", "your own measurement or document, named in the detail"},
};

bool is_key(std::string_view text) {
  for (const SourceKey& known : keys) {
    if (known.key == text) return true;
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::span<const SourceKey> source_keys() { return keys; }

std::optional<std::string> wrong_source(std::string_view source) {
  std::string_view listed = source.substr(0, source.find(':'));
  while (true) {
    const std::size_t comma = listed.find(',');
    const std::string_view key = trimmed(listed.substr(0, comma));
    if (!is_key(key)) return "\"" + std::string(key.substr(0, 60)) + "\"";
    if (comma == std::string_view::npos) return std::nullopt;
    listed.remove_prefix(comma + 1);
  }
}

std::string Provenance::to_string() const {
  std::string text;
  if (!fitted.empty()) text = "fitted on " + fitted;
  if (!guess.empty()) text = "guess: " + guess;
  if (!source.empty()) text += text.empty() ? source : "; " + source;
  return text;
}

}  // namespace noteg::arch
