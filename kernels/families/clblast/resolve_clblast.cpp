// The rules of the clblast family, which are those of CLBlast's tuner. And what the family is.
#include <algorithm>

#include "kernels/families/build.hpp"
#include "kernels/families/common.hpp"
#include "kernels/families/rules.hpp"

namespace noteg::kernels {
namespace {

class ClblastResolver {
 public:
  explicit ClblastResolver(const KernelConfig& config) : config_(config) {}

  Result<KernelConfig> run(const GemmShape& shape) {
    errors_ = check_shape(shape);
    check_given();
    if (!errors_.empty()) return errors_;
    check_thread_grid();
    if (!errors_.empty()) return errors_;
    check_copies();
    if (!errors_.empty()) return errors_;
    fill();
    return config_;
  }

 private:
  void report(const std::string& key, std::string expected, std::string found) {
    errors_.push_back({"", 0, 0, key, std::move(expected), std::move(found)});
  }

  void check_given() {
    if (config_.dtype_in != DataType::f32 || config_.dtype_acc != DataType::f32 || config_.dtype_out != DataType::f32)
      report("dtype", "f32 (the clblast family computes with FFMA)", std::string(name_of(config_.dtype_in)));
    if (config_.layout != Layout::tn)
      report("layout", "tn (CLBlast's kernel reads both operands along M and N, having transposed what lies otherwise)",
             std::string(name_of(config_.layout)));
    Tile& tile = config_.tile;
    if (tile.k == 0) tile.k = 32;
    if (std::min({tile.m, tile.n, tile.k}) < 1 || std::max({tile.m, tile.n, tile.k}) > 256)
      report("tile", "three extents from 1 to 256: NWG x MWG x KWG", tile_text(tile));
    if (config_.split_k != 1) report("split_k", "1 (a clblast CTA walks all of K)", std::to_string(config_.split_k));
    if (config_.stages.value_or(1) != 1)
      report("stages", "1 (a clblast kernel has one buffer)", std::to_string(*config_.stages));
    if (config_.warp_m || config_.thread_m)
      report("warp_tile", "no value (mdimc and ndimc lay out the threads of a clblast kernel)", "one");
  }

  void divides(const std::string& key, int part, int whole, const std::string& of) {
    if (part < 1 || whole % part != 0)
      report(key, "a divisor of " + of + " = " + std::to_string(whole), std::to_string(part));
  }

  void check_thread_grid() {
    const ClblastParameters& p = config_.clblast;
    divides("mdimc", p.mdimc * p.vwm, config_.tile.n, "MWG by MDIMC x VWM");
    divides("ndimc", p.ndimc * p.vwn, config_.tile.m, "NWG by NDIMC x VWN");
    divides("kwi", p.kwi, config_.tile.k, "KWG");
    const int threads = p.mdimc * p.ndimc;
    if (threads < 32 || threads > largest_cta || threads % 32 != 0)
      report("mdimc", "a multiple of 32 up to 1024 for MDIMC x NDIMC", std::to_string(threads));
    if (config_.threads && *config_.threads != threads)
      report("threads", std::to_string(threads) + " (MDIMC x NDIMC)", std::to_string(*config_.threads));
  }

  void check_copies() {
    const ClblastParameters& p = config_.clblast;
    check_copy(p.sa, "mdima", p.mdima, p.vwm, config_.tile.n, "MWG by MDIMA x VWM");
    check_copy(p.sb, "ndimb", p.ndimb, p.vwn, config_.tile.m, "NWG by NDIMB x VWN");
  }

  void check_copy(bool staged, const std::string& key, int across, int width, int extent, const std::string& of) {
    if (!staged) return;
    const int threads = config_.clblast.mdimc * config_.clblast.ndimc;
    divides(key, across * width, extent, of);
    divides(key, across, threads, "the threads MDIMC x NDIMC");
    if (errors_.empty()) divides(key, threads / across, config_.tile.k, "KWG by the threads along K");
  }

  void fill() {
    const ClblastParameters& p = config_.clblast;
    config_.threads = p.mdimc * p.ndimc;
    config_.stages = config_.sliced_k = 1;
    config_.async_copy = false;
    config_.align_a = std::min(4, p.vwn);
    config_.align_b = config_.align_c = std::min(4, p.vwm);
    const int staged = (p.sa ? config_.tile.n : 0) + (p.sb ? config_.tile.m : 0);
    if (!config_.shared_bytes) config_.shared_bytes = std::int64_t{f32_bytes} * config_.tile.k * staged;
  }

  KernelConfig config_;
  Diagnostics errors_;
};

}  // namespace

constinit const FamilyDescriptor clblast_family{
    .family = Family::clblast,
    .name = "clblast",
    .meaning = "CLBlast's Xgemm",
    .traits = {.stages = {1, 1, "1 (a clblast kernel has one buffer)"}, .takes_clblast = true, .prefetched_bytes = 0},
    .resolve = [](const KernelConfig& config, const GemmShape& shape) { return ClblastResolver(config).run(shape); },
    .build = build_clblast,
};

}  // namespace noteg::kernels
