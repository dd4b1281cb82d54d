#include "kernels/compiled/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <set>

#include "kernels/access/wavefronts.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

bool is_shared(S s) {
  return s == S::load_shared || s == S::store_shared || s == S::copy_to_shared || s == S::load_matrix || s == S::store_matrix || s == S::atomic_shared;
}
bool is_global(S s) { return s == S::load_global || s == S::store_global || s == S::copy_to_shared || s == S::atomic_global; }

// One execution's lanes relative to a line, and what they cost. Accesses that differ by whole lines cost the same.
struct Variant {
  std::uint32_t lanes = 0;
  std::array<std::uint32_t, 32> offset{}, shared{};
  InstructionCounts cost;
  double executions = 0;
};

std::uint32_t lanes_of_matrices(const Instruction& in, std::uint32_t lanes) {
  if (in.base != "LDSM" && in.base != "STSM") return lanes;
  return in.has("4") ? lanes : in.has("2") ? lanes & 0xffff : lanes & 0xff;
}

kernels::AccessPattern pattern_of(const Variant& v, const Step& step) {
  kernels::AccessPattern out;
  out.space = is_global(step.semantics) ? kernels::Space::global : kernels::Space::shared;
  out.store = step.semantics == S::store_global || step.semantics == S::store_shared || step.semantics == S::store_matrix;
  out.bytes_per_lane = step.bytes;
  out.active_mask = v.lanes;
  out.offset = v.offset;
  out.shared_offset = v.shared;
  return out;
}

InstructionCounts cost_of(const Variant& v, const Step& step) {
  InstructionCounts out;
  if (v.lanes == 0) return out;
  const kernels::AccessPattern pattern = pattern_of(v, step);
  if (is_shared(step.semantics)) {
    const kernels::AccessPattern shared = step.semantics == S::copy_to_shared ? kernels::shared_side(pattern) : pattern;
    out.wavefronts = kernels::shared_wavefronts(shared);
    const int words = kernels::distinct_words(shared);
    out.ideal_wavefronts = std::max(1, (words + 31) / 32);
  }
  if (is_global(step.semantics)) {
    const kernels::GlobalCost cost = kernels::global_cost(pattern);
    out.sectors = cost.sectors;
    out.lines = cost.lines;
    out.ideal_sectors = (cost.bytes + 31) / 32;
  }
  return out;
}

struct InstructionRecord {
  std::vector<Variant> variants;
  std::size_t last = 0;
};

constexpr std::size_t most_variants = 64;  // kept apart; more are counted, not remembered

// What one CTA does.
class CtaRecorder : public WarpWatcher {
 public:
  CtaRecorder(const EmulatedCode& code, PathNodes& nodes, int warps, std::uint32_t shared_begin)
      : code_(code), shared_begin_(shared_begin) {
    for (int i = 0; i < warps; ++i) warps_.push_back({PathBuilder(nodes), {}, {}, {}, 0});
    for (Warp& warp : warps_) {
      warp.entered.resize(code.blocks.size());
      warp.lanes.resize(code.blocks.size());
      warp.memory.resize(code.steps.size());
    }
  }

  void enters(int warp, std::int32_t block, std::uint32_t lanes) override {
    Warp& w = warps_[static_cast<std::size_t>(warp)];
    w.path.enter(block);
    w.entered[static_cast<std::size_t>(block)] += 1;
    w.lanes[static_cast<std::size_t>(block)] += std::popcount(lanes);
    w.hash = (w.hash ^ (static_cast<std::uint64_t>(block) << 32 | lanes)) * 0x9e3779b97f4a7c15 + 1;
  }

  void accesses(int warp, const Access& access) override {
    Variant v;
    v.lanes = lanes_of_matrices(*access.step->in, access.lanes & ~(access.guessed & ~access.address.known));
    if (access.lanes != 0 && (access.guessed & ~access.address.known) != 0) unknown_addresses_.insert(access.at);
    const std::uint32_t lanes = v.lanes;
    if (access.reads_nothing) v.lanes = lanes_of_matrices(*access.step->in, access.lanes);
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes == 0 ? 1u : lanes));
    const std::uint64_t base = access.address.value[lane] & ~std::uint64_t{127};
    const std::uint64_t shared_base = access.shared.value[lane] & ~std::uint64_t{127};
    for (std::size_t i = 0; i < 32; ++i) {
      if ((lanes >> i & 1) == 0) continue;
      v.offset[i] = static_cast<std::uint32_t>(access.address.value[i] - base);
      v.shared[i] = static_cast<std::uint32_t>(access.shared.value[i] - shared_base);
      const std::uint64_t shared = access.step->semantics == S::copy_to_shared ? access.shared.value[i] : access.address.value[i];
      if (is_shared(access.step->semantics)) shared_end_ = std::max(shared_end_, static_cast<std::uint32_t>(shared) + access.step->bytes);
    }
    note(warps_[static_cast<std::size_t>(warp)].memory[static_cast<std::size_t>(access.at)], v, *access.step, access.reads_nothing);
  }

  void assumes(std::int32_t at, bool taken) override { assumed_[{at, taken}] += 1; }

  [[nodiscard]] CtaClass finish(std::array<std::uint32_t, 3> id) const;
  [[nodiscard]] std::uint64_t signature() const {
    std::uint64_t out = 0;
    for (const Warp& w : warps_) out = (out ^ w.hash) * 0xbf58476d1ce4e5b9 + 7;
    return out;
  }
  [[nodiscard]] const std::map<std::pair<std::int32_t, bool>, std::int64_t>& assumed() const { return assumed_; }
  [[nodiscard]] const std::set<std::int32_t>& unknown_addresses() const { return unknown_addresses_; }

 private:
  struct Warp {
    PathBuilder path;
    std::vector<double> entered, lanes;  // by block
    std::vector<InstructionRecord> memory;
    std::uint64_t hash;
  };

  void note(InstructionRecord& record, Variant& v, const Step& step, bool reads_nothing) {
    const auto same = [&](const Variant& o) { return o.lanes == v.lanes && o.offset == v.offset && o.shared == v.shared; };
    if (record.last < record.variants.size() && same(record.variants[record.last])) {
      record.variants[record.last].executions += 1;
      return;
    }
    const auto at = std::ranges::find_if(record.variants, same);
    if (at != record.variants.end()) {
      at->executions += 1;
      record.last = static_cast<std::size_t>(at - record.variants.begin());
      return;
    }
    v.cost = cost_of(v, step);
    if (reads_nothing) v.cost.sectors = v.cost.lines = v.cost.ideal_sectors = 0;
    v.executions = 1;
    if (record.variants.size() < most_variants) {
      record.last = record.variants.size();
      record.variants.push_back(v);
      return;
    }
    Variant& rest = record.variants.back();  // a mean of many
    const double n = rest.executions;
    const auto mean = [n](double a, double b) { return (a * n + b) / (n + 1); };
    rest.cost.wavefronts = mean(rest.cost.wavefronts, v.cost.wavefronts);
    rest.cost.ideal_wavefronts = mean(rest.cost.ideal_wavefronts, v.cost.ideal_wavefronts);
    rest.cost.sectors = mean(rest.cost.sectors, v.cost.sectors);
    rest.cost.ideal_sectors = mean(rest.cost.ideal_sectors, v.cost.ideal_sectors);
    rest.cost.lines = mean(rest.cost.lines, v.cost.lines);
    rest.executions += 1;
  }

  const EmulatedCode& code_;
  std::uint32_t shared_begin_, shared_end_ = 0;
  std::vector<Warp> warps_;
  std::map<std::pair<std::int32_t, bool>, std::int64_t> assumed_;
  std::set<std::int32_t> unknown_addresses_;
};

void add_shape(AccessShape& out, const InstructionRecord& record, const Step& step, double& most) {
  for (const Variant& v : record.variants) {
    out.executions += v.executions;
    out.wavefronts += v.executions * v.cost.wavefronts;
    out.ideal_wavefronts += v.executions * v.cost.ideal_wavefronts;
    out.sectors += v.executions * v.cost.sectors;
    out.ideal_sectors += v.executions * v.cost.ideal_sectors;
    out.lines += v.executions * v.cost.lines;
    if (v.executions <= most) continue;
    most = v.executions;
    out.pattern = pattern_of(v, step);
  }
}

CtaClass CtaRecorder::finish(std::array<std::uint32_t, 3> id) const {
  CtaClass out;
  out.id = id;
  out.shared_end = shared_end_ > shared_begin_ ? shared_end_ - shared_begin_ : 0;
  out.counts.resize(code_.steps.size());
  std::map<std::vector<std::int32_t>, std::size_t> classes;
  std::vector<std::map<std::int32_t, double>> most;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const Warp& warp = warps_[w];
    const auto [at, is_new] = classes.try_emplace(warp.path.path(), out.warps.size());
    if (is_new) {
      out.warps.push_back({{}, warp.path.path(), {}});
      most.emplace_back();
    }
    WarpClass& group = out.warps[at->second];
    group.warps.push_back(static_cast<int>(w));
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) {
      if (warp.entered[b] == 0) continue;
      for (std::int32_t i = code_.blocks[b].begin; i < code_.blocks[b].end; ++i) {
        InstructionCounts& counts = out.counts[static_cast<std::size_t>(i)];
        counts.warps += warp.entered[b];
        counts.threads += warp.lanes[b];
        out.warp_instructions += warp.entered[b];
        const InstructionRecord& record = warp.memory[static_cast<std::size_t>(i)];
        if (record.variants.empty()) continue;
        AccessShape one;
        double none = 0;
        add_shape(one, record, code_.steps[static_cast<std::size_t>(i)], none);
        counts.wavefronts += one.wavefronts;
        counts.ideal_wavefronts += one.ideal_wavefronts;
        counts.sectors += one.sectors;
        counts.ideal_sectors += one.ideal_sectors;
        counts.lines += one.lines;
        add_shape(group.shapes[i], record, code_.steps[static_cast<std::size_t>(i)], most[at->second][i]);
      }
    }
  }
  return out;
}

// The signature of a CTA's way, without addresses.
class PathSignature : public WarpWatcher {
 public:
  explicit PathSignature(int warps) : hash_(static_cast<std::size_t>(warps)) {}
  void enters(int warp, std::int32_t block, std::uint32_t lanes) override {
    std::uint64_t& h = hash_[static_cast<std::size_t>(warp)];
    h = (h ^ (static_cast<std::uint64_t>(block) << 32 | lanes)) * 0x9e3779b97f4a7c15 + 1;
  }
  void accesses(int, const Access&) override {}
  void assumes(std::int32_t, bool) override {}
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t out = 0;
    for (const std::uint64_t h : hash_) out = (out ^ h) * 0xbf58476d1ce4e5b9 + 7;
    return out;
  }

 private:
  std::vector<std::uint64_t> hash_;
};

using CtaId = std::array<std::uint32_t, 3>;

// Which CTAs take the same way: boundaries along each axis by bisection, then cells of the grid that are checked.
class Classes {
 public:
  Classes(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory, const ProfileLimits& limits)
      : code_(code), launch_(launch), memory_(memory), limits_(limits) {}

  struct Cell {
    CtaId id{};
    double ctas = 0;
  };

  // Representatives with the CTAs that they stand for, by signature.
  std::vector<Cell> find() {
    std::array<std::vector<std::uint32_t>, 3> begins;
    for (std::size_t axis = 0; axis < 3; ++axis) begins[axis] = boundaries(axis);
    std::map<std::uint64_t, Cell> by_signature;
    for (std::size_t z = 0; z < begins[2].size(); ++z)
      for (std::size_t y = 0; y < begins[1].size(); ++y)
        for (std::size_t x = 0; x < begins[0].size(); ++x) {
          const CtaId first{begins[0][x], begins[1][y], begins[2][z]};
          const CtaId last{end_of(begins[0], x, 0) - 1, end_of(begins[1], y, 1) - 1, end_of(begins[2], z, 2) - 1};
          double ctas = 1;
          for (std::size_t axis = 0; axis < 3; ++axis) ctas *= last[axis] - first[axis] + 1.0;
          const std::uint64_t signature = at(first);
          if (!(last == first) && at(last) != signature) sampled_ = true;
          Cell& cell = by_signature[signature];
          if (cell.ctas == 0) cell.id = first;
          cell.ctas += ctas;
        }
    std::vector<Cell> out;
    for (const auto& [signature, cell] : by_signature) out.push_back(cell);
    std::ranges::sort(out, [](const Cell& a, const Cell& b) { return a.ctas != b.ctas ? a.ctas > b.ctas : a.id < b.id; });
    return out;
  }

  [[nodiscard]] bool sampled() const { return sampled_; }
  [[nodiscard]] bool endless() const { return endless_; }

 private:
  std::uint32_t end_of(const std::vector<std::uint32_t>& begins, std::size_t i, std::size_t axis) const {
    return i + 1 < begins.size() ? begins[i + 1] : static_cast<std::uint32_t>(launch_.grid[axis]);
  }

  std::vector<std::uint32_t> boundaries(std::size_t axis) {
    const auto n = static_cast<std::uint32_t>(launch_.grid[axis]);
    std::vector<std::uint32_t> samples;
    constexpr std::uint32_t parts = 4;
    for (std::uint32_t i = 0; i <= parts; ++i) samples.push_back(static_cast<std::uint32_t>(std::uint64_t{n - 1} * i / parts));
    if (n > 1) samples.push_back(1);
    std::ranges::sort(samples);
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    std::vector<std::uint32_t> out{0};
    for (std::size_t i = 1; i < samples.size(); ++i) split(axis, samples[i - 1], samples[i], out);
    return out;
  }

  std::uint64_t on_axis(std::size_t axis, std::uint32_t at_value) {
    CtaId id{};
    id[axis] = at_value;
    return at(id);
  }

  // Where the way changes between two CTAs of different ways. Where it changes with every CTA, quantiles stand for all.
  void split(std::size_t axis, std::uint32_t a, std::uint32_t b, std::vector<std::uint32_t>& out) {
    if (endless_ || on_axis(axis, a) == on_axis(axis, b)) return;
    if (b - a == 1) {
      out.push_back(b);
      return;
    }
    if (out.size() >= limits_.classes || tried_ > 4 * limits_.classes) {
      sampled_ = true;
      out.push_back(a + (b - a) / 2);
      return;
    }
    const std::uint32_t middle = a + (b - a) / 2;
    split(axis, a, middle, out);
    split(axis, middle, b, out);
  }

  std::uint64_t at(const CtaId& id) {
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    ++tried_;
    EmulatedCta cta(code_, launch_, memory_, id);
    PathSignature signature(cta.warps());
    std::uint64_t rounds = 0;
    while (!cta.finished() && !endless_) {
      cta.run_round(signature);
      if ((++rounds & 1023) == 0 && cta.blocks_run() > limits_.blocks) endless_ = true;
    }
    return known_[id] = signature.value();
  }

  const EmulatedCode& code_;
  const Launch& launch_;
  const LaunchMemory& memory_;
  const ProfileLimits& limits_;
  std::map<CtaId, std::uint64_t> known_;
  std::size_t tried_ = 0;
  bool sampled_ = false, endless_ = false;
};

std::string text_of(const EmulatedCode& code, std::int32_t at) {
  const Instruction& in = *code.steps[static_cast<std::size_t>(at)].in;
  return fmt::format("/*{:04x}*/ {} (line {})", in.address, in.text, in.line);
}

void tell_assumptions(Profile& out, const CtaRecorder& recorder, const Launch& launch) {
  std::set<std::string> told(out.assumptions.begin(), out.assumptions.end());
  const auto tell = [&](std::string text) {
    if (told.insert(text).second && out.assumptions.size() < 100) out.assumptions.push_back(std::move(text));
  };
  for (const auto& [key, count] : recorder.assumed()) {
    const bool given = launch.assumptions.contains(out.code.steps[static_cast<std::size_t>(key.first)].in->address);
    tell(fmt::format("{}: decided by a value that is not known; taken as {}{}", text_of(out.code, key.first),
                     key.second ? "taken" : "not taken", given ? ", as the launch file says" : ""));
  }
  for (const std::int32_t at : recorder.unknown_addresses())
    tell(fmt::format("{}: its address depends on a value that is not known; it moves no data", text_of(out.code, at)));
}

}  // namespace

void InstructionCounts::add(const InstructionCounts& o, double factor) {
  warps += o.warps * factor;
  threads += o.threads * factor;
  wavefronts += o.wavefronts * factor;
  ideal_wavefronts += o.ideal_wavefronts * factor;
  sectors += o.sectors * factor;
  ideal_sectors += o.ideal_sectors * factor;
  lines += o.lines * factor;
}

double Profile::warp_instructions() const {
  double sum = 0;
  for (const InstructionCounts& c : counts) sum += c.warps;
  return sum;
}

Result<Profile> profile(const Listing& listing, const Code& code, const Launch& launch, const LaunchMemory& memory,
                        const ProfileLimits& limits) {
  Profile out;
  out.code = prepare(listing, code, Wanted::addresses);
  const EmulatedCode paths = prepare(listing, code, Wanted::path);
  const Diagnostic endless{listing.file, code.line, 0, "kernel",
                           fmt::format("a kernel that ends within {} basic blocks for a CTA (assume: says how often a loop runs)", limits.blocks),
                           code.name + ", which does not"};
  Classes classes(paths, launch, memory, limits);
  const std::vector<Classes::Cell> cells = classes.find();
  if (classes.endless()) return endless;
  out.sampled = classes.sampled();
  if (out.sampled)
    out.assumptions.push_back(fmt::format("CTAs take many ways: {} of them stand for all {}", cells.size(), launch.ctas()));
  out.counts.resize(out.code.steps.size());
  for (const Classes::Cell& cell : cells) {
    EmulatedCta cta(out.code, launch, memory, cell.id);
    CtaRecorder recorder(out.code, out.nodes, cta.warps(), memory.shared_begin());
    while (!cta.finished()) {
      cta.run_round(recorder);
      if (cta.blocks_run() > limits.blocks) return endless;
    }
    CtaClass found = recorder.finish(cell.id);
    found.ctas = cell.ctas;
    for (std::size_t i = 0; i < found.counts.size(); ++i) out.counts[i].add(found.counts[i], cell.ctas);
    tell_assumptions(out, recorder, launch);
    out.classes.push_back(std::move(found));
  }
  return out;
}

}  // namespace noteg::compiled
