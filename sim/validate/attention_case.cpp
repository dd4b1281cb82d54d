#include "sim/validate/attention_case.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/families/family.hpp"
#include "kernels/families/flash3/flash3_plan.hpp"
#include "sim/support/ceil_div.hpp"

namespace noteg::validate {
namespace {

constexpr int rows_of_block = 64;  // of the kernel for paged caches
constexpr int page = 16;           // tokens, the usual size

int keys_of_block(int head) { return head <= 64 ? 256 : head <= 128 ? 128 : 64; }

// Of the counts of slices that change the blocks of the longest slice, the smallest within 15 % of the best use of the
// SMs (num_splits_heuristic of FlashAttention-2).
int slices_for(std::int64_t ctas, std::int64_t slots, std::int64_t blocks) {
  constexpr double full_enough = 0.8, near_best = 0.85;
  if (static_cast<double>(ctas) >= full_enough * static_cast<double>(slots)) return 1;
  const std::int64_t most = std::min<std::int64_t>({128, slots, blocks});
  const auto changes = [&](std::int64_t n) { return n == 1 || ceil_div(blocks, n) != ceil_div(blocks, n - 1); };
  const auto use = [&](std::int64_t n) {
    const double waves = static_cast<double>(ctas * n) / static_cast<double>(slots);
    return changes(n) ? waves / std::ceil(waves) : 0.0;
  };
  double best = 0;
  for (std::int64_t n = 1; n <= most; ++n) best = std::max(best, use(n));
  for (std::int64_t n = 1; n <= most; ++n)
    if (changes(n) && use(n) >= near_best * best) return static_cast<int>(n);
  return 1;
}

}  // namespace

std::string read_attention(const MeasuredRow& row, const MeasuredData& data, MeasuredCase& measured) {
  const RowView view(data, row);
  const bool on_warpgroups =
      view.text(Column::instr) == "wgmma" || view.text(Column::kernel_name).find("fa3") != std::string_view::npos;
  const std::string_view notes = view.text(Column::notes);
  const std::optional<int> heads = note_value(notes, "heads"), key_heads = note_value(notes, "kv_heads");
  if (!heads || !key_heads || *key_heads < 1 || *heads % *key_heads != 0)
    return "notes: expected heads=H;kv_heads=G with G a divisor of H";
  const kernels::GemmShape tokens = measured.shape;
  const int group = *heads / *key_heads;
  kernels::KernelConfig& c = measured.config;
  c.family = on_warpgroups ? kernels::Family::flash3 : kernels::Family::attention;
  c.attention.causal = note_value(notes, "causal").value_or(0) != 0 && tokens.m > 1;
  c.attention.group = group;
  c.attention.page = page;
  const int head = static_cast<int>(tokens.k);
  // FlashInfer, which SGLang takes on an A100, works on 128 rows and puts the heads of short queries side by side.
  const bool is_flashinfer = !on_warpgroups && view.text(Column::kernel_name) == "flash_attention" && tokens.m > 1;
  const kernels::Tile wide{2 * rows_of_block, 2 * head, rows_of_block};
  c.tile = on_warpgroups   ? kernels::flash3_block(head, c.attention.causal, true)
           : is_flashinfer ? wide
                           : kernels::Tile{rows_of_block, 2 * head, keys_of_block(head)};
  // A decoded token's heads lie in one block of rows, those of FlashAttention-3 always do (PackGQA, which it takes for
  // sequences of different lengths); otherwise each head has blocks of its own.
  const bool packs = on_warpgroups || tokens.m == 1 || (is_flashinfer && tokens.m < c.tile.m);
  const std::int64_t rows = packs ? tokens.m * group : ceil_div(tokens.m, c.tile.m) * c.tile.m * group;
  measured.shape = {rows, 2 * tokens.k, tokens.n, tokens.batch * *key_heads};
  // vLLM and SGLang put the new keys and values into the pages of the cache by a kernel of its own, within the time.
  if (notes.find("paged KV cache") != std::string_view::npos) {
    operators::MemoryKernel write;
    write.name = "cache write";
    write.rows = static_cast<double>(tokens.batch * tokens.m);
    write.columns = 2.0 * *key_heads * head;
    write.operations = 0;
    write.scatters = true;
    measured.before = write;
  }
  return "";
}

void settle_key_slices(MeasuredCase& measured, const arch::GpuSpec& gpu) {
  kernels::KernelConfig& c = measured.config;
  // Of a single token only, whose heads were put into the rows of a block: with a key head each, none are.
  if (!traits_of(c).keeps_scores || measured.shape.m > c.tile.m) return;
  const bool by_warpgroups = c.family == kernels::Family::flash3;
  if (!by_warpgroups && c.attention.group == 1) return;
  const std::int64_t slots = (by_warpgroups ? 1 : 2) * std::int64_t{gpu.sms};
  c.split_k = slices_for(measured.shape.batch, slots, ceil_div(measured.shape.k, c.tile.k));
  if (c.split_k > 1) c.split_k_mode = kernels::SplitKMode::parallel;
}

}  // namespace noteg::validate
