#include "sim/validate/measured_case.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kernels/families/family.hpp"
#include "sim/support/arithmetic.hpp"
#include "sim/support/text.hpp"
#include "sim/validate/measured_set.hpp"
#include "sim/validate/measured_source.hpp"
#include "sim/validate/operator_case.hpp"

namespace noteg::validate {
namespace {

using kernels::Family;
using kernels::KernelConfig;

// The family column: ours, or the H200 file's name for it. cublas is no family: the kernel's name decides.
std::optional<Family> family_of(std::string_view text) {
  if (text.starts_with("cutlass_")) text.remove_prefix(8);
  return kernels::family_from(text);
}

kernels::ClblastParameters clblast_parameters(std::string_view notes) {
  kernels::ClblastParameters p;
  const auto number = [&](std::string_view key, int& field) { field = note_value(notes, key).value_or(field); };
  const auto flag = [&](std::string_view key, bool& field) { field = note_value(notes, key).value_or(field) != 0; };
  number("MDIMC", p.mdimc);
  number("NDIMC", p.ndimc);
  number("MDIMA", p.mdima);
  number("NDIMB", p.ndimb);
  number("KWI", p.kwi);
  number("VWM", p.vwm);
  number("VWN", p.vwn);
  flag("STRM", p.strm);
  flag("STRN", p.strn);
  flag("SA", p.sa);
  flag("SB", p.sb);
  return p;
}

// Several families multiply by FFMA; of the others, the first with an instruction is the one that libraries have.
std::optional<Family> family_of_tensor(std::string_view instr) {
  for (const kernels::FamilyDescriptor* family : kernels::all_families)
    if (family->traits.multiplies_with == instr && instr != "ffma") return family->family;
  return std::nullopt;
}

std::string plain(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& error : errors) {
    std::string line = error.to_string();
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

// Builds one case; stops at the first thing that makes the row inexpressible.
class Builder {
 public:
  Builder(const MeasuredData& data, const MeasuredRow& row, TimeColumn time, UnknownKernel unknown)
      : row_(data, row),
        data_(&data),
        measured_row_(&row),
        set_(measured_set_of(row_.text(Column::source))),
        time_(time),
        unknown_(unknown) {}

  CaseOrReason build() {
    read_problem();
    if (is_attention(row_.text(Column::op))) return build_operator(read_attention);
    if (row_.text(Column::op) == "moe") return build_operator(read_experts);
    read_kernel();
    if (reason_.empty()) {
      read_columns();
      read_notes();
      read_library_slices();
      read_named_slices();
      read_raster();
      if (set_.convention == Convention::blas_column_major) transpose_problem(case_.config, case_.shape);
      read_measurement(row_, set_, time_, case_);
    }
    for (const std::string& problem : row_.problems()) reason_ += (reason_.empty() ? "" : "; ") + problem;
    if (!reason_.empty()) return reason_;
    return std::move(case_);
  }

 private:
  // What is more than a product of two matrices.
  template <class Read>
  CaseOrReason build_operator(Read read) {
    read_type(Column::dtype_in, case_.config.dtype_in);
    case_.config.name = std::string(row_.text(Column::kernel_name));
    read_measurement(row_, set_, time_, case_);
    reason_ = read(*measured_row_, *data_, case_);
    for (const std::string& problem : row_.problems()) reason_ += (reason_.empty() ? "" : "; ") + problem;
    if (!reason_.empty()) return reason_;
    return std::move(case_);
  }

  void read_problem() {
    case_.gpu = row_.text(Column::gpu);
    row_.need(Column::gpu);
    const auto size = [&](Column column) {
      row_.need(column);
      return row_.integer(column, 1).value_or(1);
    };
    const std::string_view op = row_.text(Column::op);
    constexpr std::array<std::string_view, 12> known{
        "",          "gemm",         "gemm_mixed",           "gemm_weight_only",  "linear",           "bmm",
        "gemm_int8", "linear_quant", "gemm_naive_smem_tile", "attention_prefill", "attention_decode", "moe"};
    if (std::ranges::find(known, op) == known.end()) row_.no_such(Column::op);
    case_.shape = {size(Column::m), size(Column::n), size(Column::k), row_.integer(Column::batch, 1).value_or(1)};
  }

  // The kernel's name, the family column, what is published: in this order of trust for the family.
  void read_kernel() {
    const std::string name(row_.text(Column::kernel_name));
    const std::string_view family_text = row_.text(Column::family);
    const std::optional<Family> family = family_of(family_text);
    std::string name_error = "no kernel_name and no family";
    if (!name.empty()) {
      const Result<kernels::ParsedName> parsed = kernels::parse_kernel_name(name);
      if (parsed) {
        case_.config = parsed->config;
        library_frame_ = parsed->swapped && family_text == "cublas";
        name_known_ = true;
      } else {
        name_error = plain(parsed.errors());
      }
    }
    case_.config.name = name;
    if (family) {
      case_.config.family = *family;
    } else if (!family_text.empty() && family_text != "cublas") {
      row_.no_such(Column::family);
    } else if (!name_known_) {
      read_published(name, name_error);
    }
    read_instruction();
  }

  // What multiplies must be what the family multiplies with; a library call has no family yet.
  void read_instruction() {
    const std::string_view instr = row_.text(Column::instr);
    if (instr.empty()) return;
    if (instr != "ffma" && !family_of_tensor(instr)) {
      row_.no_such(Column::instr);
    } else if (!case_.choose_kernel && reason_.empty() &&
               traits_of(case_.config).arithmetic != kernels::Arithmetic::by_type &&
               instr != traits_of(case_.config).multiplies_with) {
      row_.problem("instr \"" + std::string(instr) + "\" does not fit family " +
                   std::string(kernels::name_of(case_.config.family)));
    }
  }

  // Inductor's template: groups of eight rows of tiles; warps and stages are in columns of their own.
  void read_triton() {
    case_.config.family = Family::triton;
    case_.config.raster = kernels::Raster::along_n;
    case_.config.swizzle_log2 = 3;
  }

  void read_published(const std::string& name, const std::string& name_error) {
    if (name.starts_with("triton_mm") || name.starts_with("triton_mixed_mm")) return read_triton();
    if (name == "CLBlast_Xgemm") {  // the tuner ran it with alpha and beta of 1
      case_.config.family = Family::clblast;
      case_.config.reads_c = true;
      return;
    }
    if (row_.text(Column::op) == "gemm_naive_smem_tile") {
      case_.config.family = Family::naive;
      return;
    }
    const std::optional<PublishedKernel> known = published_kernel(row_.text(Column::source), name);
    const bool library = name.empty() || (known && known->inexpressible == library_call);
    const bool tiled = !row_.text(Column::tile_m).empty();
    if (library && !tiled && unknown_ == UnknownKernel::choose) {
      case_.choose_kernel = true;
      return;
    }
    if (const std::optional<Family> family =
            name.empty() && tiled ? family_of_tensor(row_.text(Column::instr)) : std::nullopt) {
      case_.config.family = *family;
      return;
    }
    if (!known || !known->inexpressible.empty()) {
      reason_ = known ? std::string(known->inexpressible) : name_error;
      return;
    }
    case_.config.family = known->family;
    case_.config.thread_m = known->thread_m;
    case_.config.thread_n = known->thread_n;
    case_.config.static_tile = traits_of(case_.config).takes_static_tile;  // tutorials have tiles as constants
    case_.config.stages = 1;
    case_.config.align_a = case_.config.align_b = case_.config.align_c = known->align;
  }

  template <class Field>
  void take(Column column, Field& field) {
    const std::optional<std::int64_t> value = row_.integer(column, 1);
    if (!value) return;
    if (*value > std::numeric_limits<int>::max())
      row_.no_such(column);
    else
      field = static_cast<int>(*value);
  }

  void read_columns() {
    KernelConfig& c = case_.config;
    if (!library_frame_) {  // such tiles are along the library's own M and N; the name says them in ours
      take(Column::tile_m, c.tile.m);
      take(Column::tile_n, c.tile.n);
    }
    take(Column::tile_k, c.tile.k);
    take(Column::warp_m, c.warp_m);
    take(Column::warp_n, c.warp_n);
    // CUTLASS divides a warp tile among its lanes by a rule of its own; what is recorded of it is nominal.
    if (c.flavor != kernels::Flavor::cutlass) {
      take(Column::thread_m, c.thread_m);
      take(Column::thread_n, c.thread_n);
    }
    take(Column::stages, c.stages);
    take(Column::threads, c.threads);
    take(Column::split_k, c.split_k);
    take(Column::regs, c.registers);
    if (const std::optional<std::int64_t> bytes = row_.integer(Column::smem_bytes, 0)) c.shared_bytes = *bytes;
    if (!case_.choose_kernel && c.tile.m == 0) row_.need(Column::tile_m);
    if (!case_.choose_kernel && c.tile.n == 0) row_.need(Column::tile_n);
    read_cluster();
    read_schedule();
    read_types();
    read_layout();
  }

  void read_cluster() {
    KernelConfig& c = case_.config;
    std::string text(row_.text(Column::cluster));
    if (text.empty()) return;
    if (std::ranges::count_if(text, [](char x) { return x == 'x' || x == 'X'; }) == 1) text += "x1";
    const std::optional<kernels::GemmShape> size = kernels::shape_from(text);
    const bool one = size && size->m == 1 && size->n == 1 && size->k == 1;
    if (!one && (!size || size->k != 1 || size->m < 1 || size->n < 1 || size->m * size->n > 16 ||
                 !kernels::copies_in_bulk(c.family)))
      return row_.no_such(Column::cluster);
    c.cluster_m = static_cast<int>(size->m);
    c.cluster_n = static_cast<int>(size->n);
  }

  // Ours for wgmma; for the others, in the words of those who measured, how tiles get to shared memory.
  void read_schedule() {
    KernelConfig& c = case_.config;
    const std::string_view text = row_.text(Column::schedule);
    if (text.empty()) return;
    const auto read = kernels::family_of(c.family).read_schedule;
    if (read == nullptr || !read(c, text)) row_.no_such(Column::schedule);
  }

  void read_type(Column column, kernels::DataType& field) {
    const std::string_view text = row_.text(column);
    if (text.empty()) return;
    const std::size_t times = column == Column::dtype_in ? text.find('x') : std::string_view::npos;
    const std::optional<kernels::DataType> second =
        times != std::string_view::npos ? kernels::data_type_from(text.substr(times + 1)) : std::nullopt;
    // Activations x weights, but for kernels that quantise the activations to the weights' type first.
    const bool quantises = row_.text(Column::op) == "linear_quant";
    if (second && !quantises) case_.config.dtype_b = second;
    if (const std::optional<kernels::DataType> known = kernels::data_type_from(!second     ? text
                                                                               : quantises ? text.substr(times + 1)
                                                                                           : text.substr(0, times)))
      field = *known;
    else
      row_.no_such(column);
  }

  void read_types() {
    KernelConfig& c = case_.config;
    if (!name_known_) row_.need(Column::dtype_in);
    read_type(Column::dtype_in, c.dtype_in);
    const bool whole = c.dtype_in == kernels::DataType::s8 || c.dtype_in == kernels::DataType::s4;
    if (!name_known_) c.dtype_acc = whole ? kernels::DataType::s32 : kernels::DataType::f32;
    read_type(Column::dtype_acc, c.dtype_acc);
    // Libraries store what they were given; from 8-bit operands they make the 16-bit numbers of the next layer.
    if (case_.choose_kernel)
      c.dtype_out = kernels::bytes_of(c.dtype_in) < 2 ? kernels::DataType::bf16 : c.dtype_in;
    else if (traits_of(c).stores_operand_type)
      c.dtype_out = c.dtype_in == kernels::DataType::tf32 ? kernels::DataType::f32 : c.dtype_in;
    else if (traits_of(c).arithmetic == kernels::Arithmetic::tensor_cores && !name_known_)
      c.dtype_out = c.dtype_acc;
    read_type(Column::dtype_out, c.dtype_out);
    // SGLang's static path was timed on 8-bit activations, whatever the notes say: 1792x256x65536 takes 0.435 ms on an
    // L40S, its product alone 0.43, and to read 16-bit activations would take 0.28 more.
    case_.quantises = case_.choose_kernel && row_.text(Column::op) == "linear_quant" &&
                      row_.text(Column::notes).find("static activation") == std::string_view::npos;
    if (case_.choose_kernel && row_.text(Column::op) == "gemm_mixed") cast_weights(case_);
    case_.known_scale = row_.text(Column::notes).find("static per-tensor") != std::string_view::npos;
  }

  void read_layout() {
    const std::string_view letters = row_.text(Column::layout);
    if (letters.empty()) {
      if (!name_known_) case_.config.layout = kernels::Layout::nn;
      return;
    }
    if (const std::optional<kernels::Layout> layout = layout_of(set_.convention, letters))
      case_.config.layout = *layout;
    else
      row_.no_such(Column::layout);
  }

  void read_notes() {
    const std::string_view notes = row_.text(Column::notes);
    KernelConfig& c = case_.config;
    if (const std::optional<int> value = note_value(notes, "sliced_k")) c.sliced_k = *value;
    if (const std::optional<int> value = note_value(notes, "raster_swizzle_log2")) c.swizzle_log2 = *value;
    if (notes.find("beta!=0") != std::string_view::npos) c.reads_c = true;
    const bool own_reduction = notes.find("splitKreduce") != std::string_view::npos;
    if (c.split_k > 1) c.split_k_mode = own_reduction ? kernels::SplitKMode::parallel : kernels::SplitKMode::serial;
    if (traits_of(c).takes_clblast) c.clblast = clblast_parameters(notes);
    c.bias = set_.fused_bias && row_.text(Column::op) == "linear";
  }

  // Library kernels of cp.async generations put slices of K along the third dimension of the grid.
  void read_library_slices() {
    KernelConfig& c = case_.config;
    const std::int64_t deep = row_.integer(Column::grid_z, 1).value_or(1);
    if (!traits_of(c).has_library_kernels || row_.text(Column::family) != "cublas" || !name_known_) return;
    if (c.split_k != 1 || !row_.text(Column::split_k).empty() || case_.shape.batch != 1 || deep < 2) return;
    c.split_k = static_cast<int>(std::min<std::int64_t>(deep, 4096));
    // Their sum is the other kernel of such a call; without one, CTAs add in turn.
    const bool own = row_.text(Column::notes).find("extra_kernels=") != std::string_view::npos;
    c.split_k_mode = own ? kernels::SplitKMode::parallel : kernels::SplitKMode::serial;
  }

  // A name may say that K is split but not into how many slices: the grid does, as long as no CTA takes two.
  void read_named_slices() {
    KernelConfig& c = case_.config;
    if (traits_of(c).needs != kernels::Needs::warpgroup_products || c.split_k_mode == kernels::SplitKMode::none ||
        c.split_k > 1)
      return;
    const auto size = [&](Column column) { return row_.integer(column, 1).value_or(1); };
    const auto padded = [](std::int64_t extent, int tile, int cluster) {
      return ceil_div(ceil_div(extent, std::max(1, tile)), cluster) * cluster;
    };
    const std::int64_t tiles =
        padded(case_.shape.m, c.tile.m, c.cluster_m) * padded(case_.shape.n, c.tile.n, c.cluster_n);
    const std::int64_t ctas = size(Column::grid_x) * size(Column::grid_y) * size(Column::grid_z);
    c.split_k = static_cast<int>(std::max<std::int64_t>(1, ctas / std::max<std::int64_t>(1, tiles)));
  }

  // The recorded grid tells along which coordinate CTAs follow each other: the first grid dimension moves fastest.
  // Hand-written kernels put the columns of a row-major C there, so that a warp writes along a row.
  void read_raster() {
    const KernelConfig& c = case_.config;
    if (traits_of(c).walks_columns_first) case_.config.raster = kernels::Raster::along_n;
    const std::optional<std::int64_t> x = row_.integer(Column::grid_x, 1), y = row_.integer(Column::grid_y, 1);
    if (kernels::copies_in_bulk(c.family) && x && y &&
        *x != *y)  // persistent: the longer dimension is the first to be walked
      case_.config.raster = *x > *y ? kernels::Raster::along_m : kernels::Raster::along_n;
    // CUTLASS solves a column-major problem as its transpose, and walks the rows of that one first; its profiler's
    // kernels in bands of up to eight columns (GemmIdentityThreadblockSwizzle<8>).
    if (!x && !y && set_.convention == Convention::blas_column_major && c.flavor == kernels::Flavor::cutlass) {
      case_.config.raster = kernels::Raster::along_n;
      const std::int64_t columns = ceil_div(case_.shape.m, std::max(1, c.tile.m));
      case_.config.swizzle_log2 = columns >= 6 ? 3 : columns >= 3 ? 2 : columns >= 2 ? 1 : 0;
    }
    if (!x || !y || c.tile.m <= 0 || c.tile.n <= 0 || c.swizzle_log2 != 0) return;
    const std::int64_t rows = ceil_div(case_.shape.m, c.tile.m), cols = ceil_div(case_.shape.n, c.tile.n);
    if (rows == cols) return;
    if (*x == rows && *y == cols) case_.config.raster = kernels::Raster::along_m;
    if (*x == cols && *y == rows) case_.config.raster = kernels::Raster::along_n;
  }

  RowView row_;
  const MeasuredData* data_;
  const MeasuredRow* measured_row_;
  MeasuredSet set_;
  TimeColumn time_;
  UnknownKernel unknown_;
  MeasuredCase case_;
  std::string reason_;
  bool name_known_ = false;
  bool library_frame_ = false;
};

}  // namespace

CaseOrReason case_of(const MeasuredData& data, const MeasuredRow& row, TimeColumn time, UnknownKernel unknown) {
  return Builder(data, row, time, unknown).build();
}

}  // namespace noteg::validate
