// FlashAttention-2 as profilers print it: flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, ...>> says the head
// size, the rows of queries and the keys of a block, and the warps. Whether a launch is causal is a matter of the
// problem.
#include <array>

#include "kernels/names/tokens.hpp"

namespace noteg::kernels::names {
namespace {

// The four integers at the beginning of "128, 128, 64, 4, false, ...".
std::optional<std::array<int, 4>> four_numbers(std::string_view text) {
  std::array<int, 4> out{};
  for (int& number : out) {
    while (text.starts_with(' ') || text.starts_with("(int)")) text.remove_prefix(text.starts_with(' ') ? 1 : 5);
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9' && number < 10000) {
      number = 10 * number + (text.front() - '0');
      text.remove_prefix(1);
    }
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return out;
}

}  // namespace

Reading read_attention(std::string_view name) {
  constexpr std::string_view traits = "Flash_fwd_kernel_traits<";
  const std::size_t at = name.find(traits);
  if (at == std::string_view::npos || name.find("flash_fwd") == std::string_view::npos) return std::nullopt;
  const std::string_view arguments = name.substr(at + traits.size());
  const auto numbers = four_numbers(arguments);
  const bool is_bf16 = arguments.find("bfloat16") != std::string_view::npos;
  if (!numbers || (!is_bf16 && arguments.find("half") == std::string_view::npos)) return std::nullopt;
  const auto [head, rows, keys, warps] = *numbers;
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.family = Family::attention;
  config.dtype_in = config.dtype_out = is_bf16 ? DataType::bf16 : DataType::f16;
  config.dtype_acc = DataType::f32;
  config.tile = {rows, 2 * head, keys};
  config.threads = 32 * warps;
  return parsed;
}

// FlashAttention-3: FlashAttnFwdSm90<CollectiveMainloopFwdSm90<stages, cluster, tuple<C<rows>, C<keys>, C<head>>, head
// of values, type, float, Sm90, causal, ...>. The first tuple after the cluster is the block.
Reading read_flash3(std::string_view name) {
  const std::size_t at = name.find("CollectiveMainloopFwdSm90<");
  if (at == std::string_view::npos || name.find("FlashAttnFwdSm90") == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(at);
  std::array<int, 6> extents{};  // of the cluster, then of the block
  for (int& extent : extents) {
    constexpr std::string_view before = "C<";
    const std::size_t place = rest.find(before);
    if (place == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(place + before.size());
    while (rest.starts_with("(int)")) rest.remove_prefix(5);
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9' && extent < 10000) {
      extent = 10 * extent + (rest.front() - '0');
      rest.remove_prefix(1);
    }
  }
  const bool is_bf16 = rest.find("bfloat16") != std::string_view::npos;
  if (!is_bf16 && rest.find("half") == std::string_view::npos) return std::nullopt;
  ParsedName parsed;
  KernelConfig& config = parsed.config;
  config.family = Family::flash3;
  config.dtype_in = config.dtype_out = is_bf16 ? DataType::bf16 : DataType::f16;
  config.dtype_acc = DataType::f32;
  config.tile = {extents[3], 2 * extents[5], extents[4]};
  const std::size_t arch = rest.find("Sm90");
  if (arch != std::string_view::npos) {
    const std::string_view flag = rest.substr(arch, 16);
    config.attention.causal =
        flag.find("true") != std::string_view::npos || flag.find("(bool)1") != std::string_view::npos;
  }
  return parsed;
}

// Kernels of narrow weights or scales by blocks whose schedule is not expressed.
Reading read_low_bit(std::string_view name) {
  if (name.find("marlin::Marlin<") != std::string_view::npos || name.starts_with("Marlin<"))
    return refused("--family mma --set dtype_b=s4 with a tile (its striped schedule is not modelled)",
                   "\"" + std::string(name) + "\", Marlin");
  if (name.find("deep_gemm::") != std::string_view::npos)
    return refused("--family wgmma --tile 128x128x128 --dtype f8e4m3 (scales of 128 x 128 are not modelled apart)",
                   "\"" + std::string(name) + "\", DeepGEMM");
  return std::nullopt;
}

// Inductor's kernels are numbered, not described: the tile has to be said.
Reading read_triton(std::string_view name) {
  for (const std::string_view known : {"triton_mm", "triton_mixed_mm", "triton_tem_fused"})
    if (name.starts_with(known))
      return refused("--family triton --config \"BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, num_warps=4, num_stages=3\"",
                     "\"" + std::string(name) + "\", a name that does not tell its tile");
  return std::nullopt;
}

}  // namespace noteg::kernels::names
