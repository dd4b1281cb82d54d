#include "kernels/config/config_file.hpp"

#include <array>

#include "kernels/families/family.hpp"
#include "kernels/ir/tensor_form.hpp"
#include "kernels/names/tokens.hpp"
#include "sim/support/text.hpp"

namespace noteg::kernels {
namespace {

using names::extents;

// Reads a text into the configuration; false: not what the key takes.
using Setter = bool (*)(KernelConfig&, std::string_view);

struct Key {
  std::string_view key, accepts, fallback, meaning;
  Setter set;
};

template <class Field, class Parsed>
bool take(Field& field, const std::optional<Parsed>& parsed) {
  if (parsed) field = *parsed;
  return parsed.has_value();
}

std::optional<int> integer(std::string_view text, long long low, long long high) {
  const std::optional<long long> value = parse_integer(text);
  if (!value || *value < low || *value > high) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<bool> boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

bool set_name(KernelConfig& c, std::string_view text) {
  if (text.empty() || text.size() > 512) return false;
  c.name = std::string(text);
  return true;
}

// 16 is the cube 16x16x16 of a naive kernel, 128x64 leaves K to the family's default.
bool set_tile_text(KernelConfig& c, std::string_view text) {
  if (const auto cube = extents(text, 1))
    c.tile = {(*cube)[0], (*cube)[0], (*cube)[0]};
  else if (const auto flat = extents(text, 2))
    c.tile = {(*flat)[0], (*flat)[1], 0};
  else if (const auto full = extents(text, 3))
    c.tile = {(*full)[0], (*full)[1], (*full)[2]};
  else
    return false;
  return true;
}

bool set_pair(std::optional<int>& m, std::optional<int>& n, std::string_view text) {
  const auto pair = extents(text, 2);
  if (!pair) return false;
  m = (*pair)[0];
  n = (*pair)[1];
  return true;
}

bool set_dtype(KernelConfig& c, std::string_view text) {
  if (!take(c.dtype_in, data_type_from(text))) return false;
  const AccumulatorTypes usual = accumulators_for(c.dtype_in);
  c.dtype_acc = usual.count > 0 ? usual.type[0] : c.dtype_in;
  c.dtype_out = bytes_of(c.dtype_in) == 2 ? c.dtype_in : c.dtype_acc;
  return true;
}

bool set_instruction(KernelConfig& c, std::string_view text) {
  const auto shape = extents(text, 3);
  if (shape) c.instruction = {(*shape)[0], (*shape)[1], (*shape)[2]};
  return shape.has_value();
}

bool set_cluster(KernelConfig& c, std::string_view text) {
  const auto pair = extents(text, 2);
  if (!pair || (*pair)[0] * (*pair)[1] > 16) return false;
  c.cluster_m = (*pair)[0];
  c.cluster_n = (*pair)[1];
  return true;
}

// 1, 2, 4 ... 32 elements.
bool set_align(std::optional<int>& field, std::string_view text) {
  const std::optional<int> value = integer(text, 1, 32);
  if (!value || (*value & (*value - 1)) != 0) return false;
  field = value;
  return true;
}

// Powers of two: what CLBlast's tuner tries.
bool set_clblast(int& field, std::string_view text) {
  const std::optional<int> value = integer(text, 1, 64);
  if (!value || (*value & (*value - 1)) != 0) return false;
  field = *value;
  return true;
}

bool set_boolean(bool& field, std::string_view text) {
  const std::optional<bool> value = boolean(text);
  if (value) field = *value;
  return value.has_value();
}

bool set_warps(KernelConfig& c, std::string_view text) {
  const std::optional<int> value = integer(text, 1, 32);
  if (!value || (*value & (*value - 1)) != 0) return false;
  c.threads = 32 * *value;
  return true;
}

// The tiles of a group go down its rows first: CUTLASS's interleaving with M and N in each other's place.
bool set_group(KernelConfig& c, std::string_view text) {
  const std::optional<int> value = integer(text, 1, 32);
  if (!value || (*value & (*value - 1)) != 0) return false;
  c.raster = Raster::along_n;
  c.swizzle_log2 = 0;
  for (int rows = *value; rows > 1; rows /= 2) ++c.swizzle_log2;
  return true;
}

bool set_shared(KernelConfig& c, std::string_view text) { return take(c.shared_bytes, integer(text, 0, 1048576)); }

constexpr std::string_view family_key = "family";  // its row names every family of the catalogue

constexpr std::array keys{
    Key{"name", "a text of up to 512 characters", "empty", "What reports call the kernel.", set_name},
    Key{family_key, "", "simt",
        "How the kernel works: ", [](KernelConfig& c, std::string_view t) { return take(c.family, family_from(t)); }},
    Key{"flavor", "generic, cutlass, cublas, xmma or deep_gemm", "generic",
        "Whose code a simt or mma kernel imitates: registers, padding, staging.",
        [](KernelConfig& c, std::string_view t) { return take(c.flavor, flavor_from(t)); }},
    Key{"dtype", "f32, tf32, f16, bf16, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8 or s4", "f32",
        "Type of A and B. The tensor-core families add in f32 (integers in s32) and store 16-bit types as such, others "
        "as accumulated; the others take f32.",
        set_dtype},
    Key{"dtype_in", "f32, tf32, f16, bf16, f8e4m3, f8e5m2, mxfp8, mxfp4, nvfp4, s8 or s4", "dtype", "Type of A and B.",
        [](KernelConfig& c, std::string_view t) { return take(c.dtype_in, data_type_from(t)); }},
    Key{"dtype_b", "s8 or s4", "dtype_in",
        "Type of B in memory where the main loop widens it to A's (mma; triton: s8).",
        [](KernelConfig& c, std::string_view t) { return take(c.dtype_b, data_type_from(t)); }},
    Key{"dtype_acc", "f32, f16 or s32", "dtype", "Type of the accumulators.",
        [](KernelConfig& c, std::string_view t) { return take(c.dtype_acc, data_type_from(t)); }},
    Key{"dtype_out", "f32, f16, bf16, s8 or s32", "dtype", "Type of C.",
        [](KernelConfig& c, std::string_view t) { return take(c.dtype_out, data_type_from(t)); }},
    Key{"layout", "nn, nt, tn or tt", "nn",
        "A then B in the row-major reading of C = A B: n = not transposed (A along K, B along N).",
        [](KernelConfig& c, std::string_view t) { return take(c.layout, layout_from(t)); }},
    Key{"tile", "extents such as 128x128x8", "none: must be given",
        "CTA tile along M, N, K. Without K: 8 (naive: the cube of M; mma 64 bytes, wgmma 128). One number is a cube.",
        set_tile_text},
    Key{"warp_tile", "extents such as 32x64", "the squarest grid of warps", "Warp tile along M, N (simt, mma).",
        [](KernelConfig& c, std::string_view t) { return set_pair(c.warp_m, c.warp_n, t); }},
    Key{"thread_tile", "extents such as 8x8",
        "simt: the warp tile over 4x8 lanes; blocked: 8x8, 4x4 for tiles under 64",
        "Elements of C per thread along M, N: its accumulators.",
        [](KernelConfig& c, std::string_view t) { return set_pair(c.thread_m, c.thread_n, t); }},
    Key{"threads", "an integer from 1 to 1024", "from the tiles", "Threads per CTA.",
        [](KernelConfig& c, std::string_view t) { return take(c.threads, integer(t, 1, 1024)); }},
    Key{"stages", "an integer from 1 to 16",
        "naive 1, blocked 2, simt 4 (cublas 2, xmma 3), mma 4 (xmma 3), wgmma as many as fit",
        "Shared-memory buffers: 1 single, 2 double (LDG and STS), 3 and more filled by asynchronous copies.",
        [](KernelConfig& c, std::string_view t) { return take(c.stages, integer(t, 1, 16)); }},
    Key{"async_copy", "true or false",
        "true for simt (but cublas) and mma kernels of 3 stages and more, and mma with one",
        "Global to shared memory by LDGSTS instead of LDG and STS.",
        [](KernelConfig& c, std::string_view t) { return take(c.async_copy, boolean(t)); }},
    Key{"sliced_k", "an integer from 1 to 8", "1",
        "Groups of warps that split the tile's K and add their results at the end (simt, mma).",
        [](KernelConfig& c, std::string_view t) { return take(c.sliced_k, integer(t, 1, 8)); }},
    Key{"static_tile", "true or false", "false",
        "The tile is a constant of the compiled code, not an argument of the launch: the inner loop is unrolled whole "
        "and rows of A are read 16 bytes at a time (naive).",
        [](KernelConfig& c, std::string_view t) { return set_boolean(c.static_tile, t); }},
    Key{"registers", "an integer from 16 to 255", "as compiled for known kernels, else by a rule",
        "Registers per thread.",
        [](KernelConfig& c, std::string_view t) { return take(c.registers, integer(t, 16, 255)); }},
    Key{"shared_bytes", "an integer from 0 to 1048576", "stages x (M + N) x K elements of the tile, with padding",
        "Shared memory per CTA, static and dynamic, in bytes.", set_shared},
    Key{"align_a", "1, 2, 4, 8, 16 or 32", "simt 1; the others the widest that divides the extents",
        "Elements per global access of A.",
        [](KernelConfig& c, std::string_view t) { return set_align(c.align_a, t); }},
    Key{"align_b", "1, 2, 4, 8, 16 or 32", "as align_a", "Elements per global access of B.",
        [](KernelConfig& c, std::string_view t) { return set_align(c.align_b, t); }},
    Key{"align_c", "1, 2, 4, 8, 16 or 32", "as align_a", "Elements per global access of C.",
        [](KernelConfig& c, std::string_view t) { return set_align(c.align_c, t); }},
    Key{"instruction", "extents such as 16x8x16", "the deepest of the type; wgmma: 64 x tile N",
        "Shape of one matrix instruction (mma, wgmma). wgmma: its 64 rows lie along M, or along N where they come "
        "second, "
        "and its columns are those of the tile, or half of them where two consumers of coop share the tile's rows.",
        set_instruction},
    Key{"shared_layout", "swizzled, padded or plain", "swizzled",
        "How operand tiles lie in shared memory: 16-byte chunks permuted by XOR, rows padded by 16 bytes, or neither "
        "(mma).",
        [](KernelConfig& c, std::string_view t) { return take(c.shared_layout, shared_layout_from(t)); }},
    Key{"sparse", "true or false", "false",
        "A is 2:4 sparse: half of its values and their places are stored (mma, wgmma).",
        [](KernelConfig& c, std::string_view t) { return take(c.sparse, boolean(t)); }},
    Key{"cluster", "extents such as 2x1", "1x1", "CTAs of a cluster along M, N; 16 at most (wgmma, tcgen05).",
        set_cluster},
    Key{"schedule", "ws, coop or pingpong", "coop, pingpong for tiles of fewer than 128 rows",
        "Consumers of a wgmma kernel: one warp group, two on one tile, two in turns on two tiles.",
        [](KernelConfig& c, std::string_view t) { return take(c.schedule, schedule_from(t)); }},
    Key{"persistent", "true or false", "true for coop and pingpong",
        "CTAs take one tile after the other (wgmma, tcgen05).",
        [](KernelConfig& c, std::string_view t) {
          const std::optional<bool> value = boolean(t);
          if (value) c.persistent = value;
          return value.has_value();
        }},
    Key{"a_in_registers", "true or false", "false", "A goes to registers before it is multiplied (wgmma, RS form).",
        [](KernelConfig& c, std::string_view t) { return take(c.a_in_registers, boolean(t)); }},
    Key{"scale_vectors", "true or false", "false",
        "The epilogue multiplies C by a scale for each row and one for each column (tcgen05).",
        [](KernelConfig& c, std::string_view t) { return take(c.scale_vectors, boolean(t)); }},
    Key{"mdimc", "8, 16, 32 or 64", "16", "CLBlast: threads along its M, which is N here.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.mdimc, t); }},
    Key{"ndimc", "8, 16, 32 or 64", "8", "CLBlast: threads along its N, which is M here.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.ndimc, t); }},
    Key{"mdima", "8, 16, 32 or 64", "16", "CLBlast: threads along its M while A is copied.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.mdima, t); }},
    Key{"ndimb", "8, 16, 32 or 64", "16", "CLBlast: threads along its N while B is copied.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.ndimb, t); }},
    Key{"kwi", "1, 2, 4 ... 64", "2", "CLBlast: k values that the inner loop unrolls.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.kwi, t); }},
    Key{"vwm", "1, 2, 4 or 8", "1", "CLBlast: elements of a load along its M.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.vwm, t) && c.clblast.vwm <= 8; }},
    Key{"vwn", "1, 2, 4 or 8", "1", "CLBlast: elements of a load along its N.",
        [](KernelConfig& c, std::string_view t) { return set_clblast(c.clblast.vwn, t) && c.clblast.vwn <= 8; }},
    Key{"strm", "true or false", "false", "CLBlast: a thread's vectors along M lie MDIMC vectors apart.",
        [](KernelConfig& c, std::string_view t) { return set_boolean(c.clblast.strm, t); }},
    Key{"strn", "true or false", "false", "CLBlast: a thread's vectors along N lie NDIMC vectors apart.",
        [](KernelConfig& c, std::string_view t) { return set_boolean(c.clblast.strn, t); }},
    Key{"sa", "true or false", "true", "CLBlast: A goes through shared memory.",
        [](KernelConfig& c, std::string_view t) { return set_boolean(c.clblast.sa, t); }},
    Key{"sb", "true or false", "true", "CLBlast: B goes through shared memory.",
        [](KernelConfig& c, std::string_view t) { return set_boolean(c.clblast.sb, t); }},
    Key{"num_warps", "1, 2, 4 ... 32", "4", "Triton: warps per CTA; sets threads.",
        [](KernelConfig& c, std::string_view t) { return set_warps(c, t); }},
    Key{"num_stages", "an integer from 1 to 16", "3",
        "Triton: tiles under way, one buffer less in shared memory; sets stages.",
        [](KernelConfig& c, std::string_view t) { return take(c.stages, integer(t, 1, 16)); }},
    Key{"group_m", "1, 2, 4, 8, 16 or 32", "8",
        "Triton: rows of tiles that are walked together; sets raster along_n and swizzle_log2.", set_group},
    Key{"gathers_rows", "true or false", "false",
        "Triton: a table names the rows of A and C, and extents are arguments, as in kernels for experts.",
        [](KernelConfig& c, std::string_view t) { return take(c.gathers_rows, boolean(t)); }},
    Key{"causal", "true or false", "false", "Attention: a query sees the keys before it only.",
        [](KernelConfig& c, std::string_view t) { return set_boolean(c.attention.causal, t); }},
    Key{"group", "an integer from 1 to 256", "1", "Attention: query heads of a key head (GQA).",
        [](KernelConfig& c, std::string_view t) { return take(c.attention.group, integer(t, 1, 256)); }},
    Key{"page", "an integer from 0 to 65536", "0", "Attention: tokens of a page of the cache; 0 without pages.",
        [](KernelConfig& c, std::string_view t) { return take(c.attention.page, integer(t, 0, 65536)); }},
    Key{"scans", "an integer from 1 to 64", "1",
        "FlashAttention-3: groups of 31 sequences that a CTA looks through for its next tile.",
        [](KernelConfig& c, std::string_view t) { return take(c.attention.scans, integer(t, 1, 64)); }},
    Key{"query_rows", "an integer from 0 to 192", "0",
        "FlashAttention-3: rows of a tile that are queries, where a sequence has fewer than a tile; 0: all.",
        [](KernelConfig& c, std::string_view t) { return take(c.attention.query_rows, integer(t, 0, 192)); }},
    Key{"split_k", "an integer from 1 to 4096", "1", "CTAs that share one tile of C, each a part of K.",
        [](KernelConfig& c, std::string_view t) { return take(c.split_k, integer(t, 1, 4096)); }},
    Key{"split_k_mode", "none, serial or parallel", "serial where split_k > 1",
        "serial: the CTAs of a tile add in turn; parallel: a second pass adds partial results.",
        [](KernelConfig& c, std::string_view t) { return take(c.split_k_mode, split_k_mode_from(t)); }},
    Key{"raster", "along_m or along_n", "along_m", "Which coordinate of the CTA moves fastest.",
        [](KernelConfig& c, std::string_view t) { return take(c.raster, raster_from(t)); }},
    Key{"swizzle_log2", "an integer from 0 to 5", "0", "CUTLASS raster: 2^s columns of tiles are interleaved.",
        [](KernelConfig& c, std::string_view t) { return take(c.swizzle_log2, integer(t, 0, 5)); }},
    Key{"reads_c", "true or false", "false", "C is read and added (beta is not 0).",
        [](KernelConfig& c, std::string_view t) { return take(c.reads_c, boolean(t)); }},
    Key{"bias", "true or false", "false", "A bias vector is added in the epilogue.",
        [](KernelConfig& c, std::string_view t) { return take(c.bias, boolean(t)); }},
};

Diagnostic unknown_key(std::string_view key) {
  std::vector<std::string> names;
  for (const Key& known : keys) names.emplace_back(known.key);
  const std::vector<std::string> near = nearest_names(key, names, 1);
  std::string found = "an unknown key";
  if (!near.empty()) found += " (did you mean " + near.front() + "?)";
  return {"", 0, 0, std::string(key), "a known key", std::move(found)};
}

KernelKeyDoc doc_of(const Key& key) {
  KernelKeyDoc doc{std::string(key.key), std::string(key.accepts), std::string(key.fallback), std::string(key.meaning)};
  if (key.key != family_key) return doc;
  doc.accepts = family_list();
  for (const FamilyDescriptor* family : all_families) {
    if (family != all_families.front()) doc.meaning += ", ";
    doc.meaning += std::string(family->name) + " (" + std::string(family->meaning) + ")";
  }
  doc.meaning += ".";
  return doc;
}

}  // namespace

std::vector<KernelKeyDoc> kernel_keys() {
  std::vector<KernelKeyDoc> docs;
  for (const Key& key : keys) docs.push_back(doc_of(key));
  return docs;
}

std::optional<Diagnostic> set_kernel_key(KernelConfig& config, std::string_view key, std::string_view text) {
  for (const Key& known : keys) {
    if (known.key != key) continue;
    if (known.set(config, text)) return std::nullopt;
    return Diagnostic{"", 0, 0, std::string(key), doc_of(known).accepts, "\"" + std::string(text) + "\""};
  }
  return unknown_key(key);
}

std::string kernel_reference() {
  std::string page =
      "# Kernel configurations\n\n"
      "The keys of `kernels/library/*.yaml` and of `--set key=value`. This page is written by the program from the "
      "table that "
      "also\n"
      "loads the files (`kernels/config/config_keys.cpp`); run `NOTEG_UPDATE_GENERATED=1 test_kernels` after a "
      "change.\n"
      "Unknown and repeated keys are errors. A kernel is found by path, or by name in `NOTEG_KERNEL_PATH`, in "
      "`kernels/` of\n"
      "the source tree, and in `share/noteg/kernels` beside the program. Every value that is left out is printed by "
      "`noteg simulate --format json`.\n\n"
      "| key | takes | without it | meaning |\n| --- | --- | --- | --- |\n";
  for (const KernelKeyDoc& key : kernel_keys()) {
    page += "| `";
    page += key.key;
    page += "` | ";
    page += key.accepts;
    page += " | ";
    page += key.fallback;
    page += " | ";
    page += key.meaning;
    page += " |\n";
  }
  return page;
}

}  // namespace noteg::kernels
