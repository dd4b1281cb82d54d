#include "kernels/compiled/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "kernels/access/wavefronts.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

bool is_shared(S s) {
  return s == S::load_shared || s == S::store_shared || s == S::copy_to_shared || s == S::load_matrix ||
         s == S::store_matrix || s == S::atomic_shared;
}
bool is_global(S s) {
  return s == S::load_global || s == S::store_global || s == S::copy_to_shared || s == S::atomic_global;
}

// One execution's lanes relative to a line, and what they cost. Accesses that differ by whole lines cost the same.
struct Variant {
  std::uint32_t lanes = 0;
  std::array<std::uint32_t, 32> offset{}, shared{};
  InstructionCounts cost;
  double executions = 0;
};

bool thrown(S s) { return s == S::load_shared || s == S::store_shared || s == S::atomic_shared; }

std::uint32_t lanes_of_matrices(const Instruction& in, std::uint32_t lanes) {
  if (in.base != "LDSM" && in.base != "STSM") return lanes;
  return in.has("4") ? lanes : in.has("2") ? lanes & 0xffff : lanes & 0xff;
}

// Lanes of an atomic operation on one bank go one after the other, also where they share a word (H200M,
// shared_atomics: as many cycles as lanes); POPC adds the lanes of a word up before. As an access: different words.
void one_after_the_other(kernels::AccessPattern& pattern) {
  constexpr std::uint32_t banks = 32, word = 4;
  std::array<std::uint32_t, banks> before{};
  for (std::size_t i = 0; i < 32; ++i) {
    if ((pattern.active_mask >> i & 1) == 0) continue;
    const std::uint32_t bank = pattern.offset[i] / word % banks;
    pattern.offset[i] = (bank + banks * before[bank]++) * word;
  }
}

// Words of shared memory that stand for addresses nobody knows: 32 lanes thrown into 32 banks, four in the fullest.
std::uint32_t thrown_in(std::size_t lane) {
  const auto i = static_cast<std::uint32_t>(lane);
  return (i * 2654435761u >> 27) * 4 + i * 128;
}

kernels::AccessPattern pattern_of(const Variant& v, const Step& step) {
  kernels::AccessPattern out;
  out.space = is_global(step.semantics) ? kernels::Space::global : kernels::Space::shared;
  out.store =
      step.semantics == S::store_global || step.semantics == S::store_shared || step.semantics == S::store_matrix;
  out.bytes_per_lane = step.bytes;
  out.active_mask = v.lanes;
  out.offset = v.offset;
  out.shared_offset = v.shared;
  if (step.semantics == S::atomic_shared && !step.in->has("POPC")) one_after_the_other(out);
  return out;
}

// A copy of 16 bytes per lane comes by quarter warps, and each line of global memory in a wavefront of its own
// (counters of our H200: rows of 128 bytes 4, of 64 bytes 8).
int wide_copy_wavefronts(const kernels::AccessPattern& copy) {
  int sum = 0;
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    kernels::AccessPattern part = copy;
    part.active_mask &= 0xffu << (8 * quarter);
    if (part.active_mask == 0) continue;
    sum += std::max(kernels::global_cost(part).lines, kernels::shared_wavefronts(kernels::shared_side(part)));
  }
  return sum;
}

InstructionCounts cost_of(const Variant& v, const Step& step) {
  InstructionCounts out;
  if (v.lanes == 0) return out;
  const kernels::AccessPattern pattern = pattern_of(v, step);
  if (is_shared(step.semantics)) {
    const kernels::AccessPattern shared = step.semantics == S::copy_to_shared ? kernels::shared_side(pattern) : pattern;
    const bool wide_copy = step.semantics == S::copy_to_shared && step.bytes >= 16;
    out.wavefronts = wide_copy ? wide_copy_wavefronts(pattern) : kernels::shared_wavefronts(shared);
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

// What one CTA does. Events of a warp: a block with its lanes, or an access by instruction and variant.
class CtaRecorder : public WarpWatcher {
 public:
  CtaRecorder(const EmulatedCode& code, PathNodes& nodes, const Launch& launch, std::uint32_t shared_begin)
      : code_(code), shared_begin_(shared_begin), barriers_(launch.warps(), launch.threads()) {
    for (int i = 0; i < launch.warps(); ++i) warps_.emplace_back(nodes, code);
  }

  void enters(int warp, std::int32_t block, std::uint32_t lanes) override {
    Warp& w = warps_[static_cast<std::size_t>(warp)];
    w.path.enter(block);
    w.entered[static_cast<std::size_t>(block)] += 1;
    w.lanes[static_cast<std::size_t>(block)] += std::popcount(lanes);
    w.keep({-1 - block, lanes});
  }

  void accesses(int warp, const Access& access) override {
    Variant v;
    v.lanes = lanes_of_matrices(*access.step->in, access.lanes & ~(access.guessed & ~access.address.known));
    const std::uint32_t unknown = access.lanes & access.guessed & ~access.address.known;
    if (unknown != 0) unknown_addresses_.insert(access.at);
    const std::uint32_t lanes = v.lanes;
    if (lanes == 0 && unknown != 0 && thrown(access.step->semantics)) {
      v.lanes = unknown;
      for (std::size_t i = 0; i < 32; ++i) v.offset[i] = thrown_in(i);
    }
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes == 0 ? 1u : lanes));
    const std::uint64_t base = access.address.value[lane] & ~std::uint64_t{127};
    const std::uint64_t shared_base = access.shared.value[lane] & ~std::uint64_t{127};
    const bool copies = access.step->semantics == S::copy_to_shared;
    for (std::size_t i = 0; i < 32; ++i) {
      if ((lanes >> i & 1) == 0) continue;
      v.offset[i] = static_cast<std::uint32_t>(access.address.value[i] - base);
      if (copies) v.shared[i] = static_cast<std::uint32_t>(access.shared.value[i] - shared_base);
      const std::uint64_t shared = copies ? access.shared.value[i] : access.address.value[i];
      if (is_shared(access.step->semantics))
        shared_end_ = std::max(shared_end_, static_cast<std::uint32_t>(shared) + access.step->bytes);
    }
    Warp& w = warps_[static_cast<std::size_t>(warp)];
    const std::size_t variant =
        note(w.memory[static_cast<std::size_t>(access.at)], v, *access.step, access.reads_nothing);
    w.keep({access.at, static_cast<std::uint32_t>(variant)});
  }

  void acts(int warp, const AsyncAct& act) override {
    warps_[static_cast<std::size_t>(warp)].keep({act_event, barriers_.note(warp, act)});
  }

  void assumes(std::int32_t at, bool taken) override { assumed_[{at, taken}] += 1; }

  std::optional<std::size_t> position(int warp) const override {
    const Warp& w = warps_[static_cast<std::size_t>(warp)];
    return w.log_is_full ? std::nullopt : std::optional(w.log.size());
  }
  bool repeats(int warp, std::size_t a, std::size_t b, std::size_t c) const override {
    const std::vector<Event>& log = warps_[static_cast<std::size_t>(warp)].log;
    if (c - b != b - a || c > log.size()) return false;
    const auto at = [&](std::size_t i) { return log.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::equal(at(a), at(b), at(b));
  }
  void repeat(int warp, std::size_t from, std::size_t to, std::int64_t times) override {
    Warp& w = warps_[static_cast<std::size_t>(warp)];
    PathBuilder body = w.path.alone();
    apply(w, from, to, static_cast<double>(times), body);
    w.path.repeat(body.path(), times);
    // Part of the period of a loop around this one.
    const std::size_t here = w.log.size();
    w.keep({repeat_event, static_cast<std::uint32_t>(here - from)});
    w.keep({repeat_event, static_cast<std::uint32_t>(to - from)});
    w.keep({repeat_event, static_cast<std::uint32_t>(times)});
  }

  [[nodiscard]] CtaClass finish(std::array<std::uint32_t, 3> id) const;
  [[nodiscard]] std::uint64_t signature() const {
    std::uint64_t out = 0;
    const auto mix = [&](std::uint64_t v) { out = (out ^ v) * 0xbf58476d1ce4e5b9 + 7; };
    for (const Warp& w : warps_) {
      for (const std::int32_t node : w.path.path()) mix(static_cast<std::uint64_t>(node));
      for (const double lanes : w.lanes) mix(static_cast<std::uint64_t>(lanes));
    }
    return out;
  }
  [[nodiscard]] const std::map<std::pair<std::int32_t, bool>, std::int64_t>& assumed() const { return assumed_; }
  [[nodiscard]] const std::set<std::int32_t>& unknown_addresses() const { return unknown_addresses_; }

 private:
  static constexpr std::int32_t repeat_event = std::numeric_limits<std::int32_t>::max(), act_event = repeat_event - 1;
  static constexpr std::size_t longest_log = 1 << 22;
  struct Event {
    std::int32_t what = 0;
    std::uint32_t detail = 0;
    bool operator==(const Event&) const = default;
  };
  struct Warp {
    Warp(PathNodes& nodes, const EmulatedCode& code)
        : path(nodes), entered(code.blocks.size()), lanes(code.blocks.size()), memory(code.steps.size()) {}
    void keep(Event event) {
      if (log.size() < longest_log)
        log.push_back(event);
      else
        log_is_full = true;
    }
    PathBuilder path;
    std::vector<double> entered, lanes;  // by block
    std::vector<InstructionRecord> memory;
    std::vector<Event> log;
    bool log_is_full = false;
  };

  // Counts what stands in [from, to) so many times more; `body` takes its way, once.
  static void apply(Warp& w, std::size_t from, std::size_t to, double times, PathBuilder& body) {
    for (std::size_t i = from; i < to; ++i) {
      const Event event = w.log[i];
      if (event.what == repeat_event) {
        if (i + 2 >= to) return;
        const std::size_t begin = i - event.detail, length = w.log[i + 1].detail;
        const std::int64_t inner = w.log[i + 2].detail;
        PathBuilder alone = body.alone();
        apply(w, begin, begin + length, times * static_cast<double>(inner), alone);
        body.repeat(alone.path(), inner);
        i += 2;
      } else if (event.what == act_event) {
        // The turns of an instruction go on by themselves.
      } else if (event.what < 0) {
        const std::int32_t block = -1 - event.what;
        body.enter(block);
        w.entered[static_cast<std::size_t>(block)] += times;
        w.lanes[static_cast<std::size_t>(block)] += times * std::popcount(event.detail);
      } else {
        w.memory[static_cast<std::size_t>(event.what)].variants[event.detail].executions += times;
      }
    }
  }

  static std::size_t note(InstructionRecord& record, Variant& v, const Step& step, bool reads_nothing) {
    const auto same = [&](const Variant& o) {
      return o.lanes == v.lanes && o.offset == v.offset && o.shared == v.shared;
    };
    if (record.last >= record.variants.size() || !same(record.variants[record.last])) {
      const auto at = std::ranges::find_if(record.variants, same);
      record.last = static_cast<std::size_t>(at - record.variants.begin());
    }
    if (record.last < record.variants.size()) {
      record.variants[record.last].executions += 1;
      return record.last;
    }
    v.cost = cost_of(v, step);
    if (reads_nothing) v.cost.sectors = v.cost.lines = v.cost.ideal_sectors = 0;
    v.executions = 1;
    if (record.variants.size() < most_variants) {
      record.variants.push_back(v);
      return record.last;
    }
    record.last = most_variants - 1;
    Variant& rest = record.variants.back();  // a mean of many
    const double n = rest.executions;
    const auto mean = [n](double& a, double b) { a = (a * n + b) / (n + 1); };
    mean(rest.cost.wavefronts, v.cost.wavefronts);
    mean(rest.cost.ideal_wavefronts, v.cost.ideal_wavefronts);
    mean(rest.cost.sectors, v.cost.sectors);
    mean(rest.cost.ideal_sectors, v.cost.ideal_sectors);
    mean(rest.cost.lines, v.cost.lines);
    rest.executions += 1;
    return record.last;
  }

  const EmulatedCode& code_;
  std::uint32_t shared_begin_, shared_end_ = 0;
  BarrierLog barriers_;
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
  out.async = barriers_.plan(code_);
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
    std::ranges::sort(out,
                      [](const Cell& a, const Cell& b) { return a.ctas != b.ctas ? a.ctas > b.ctas : a.id < b.id; });
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
    for (std::uint32_t i = 0; i <= parts; ++i)
      samples.push_back(static_cast<std::uint32_t>(std::uint64_t{n - 1} * i / parts));
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
    CtaRecorder signature(code_, nodes_, launch_, 0);
    std::uint64_t rounds = 0;
    while (!cta.finished() && !endless_) {
      cta.run_round(signature);
      if ((++rounds & 1023) == 0 && cta.blocks_run() > limits_.blocks) endless_ = true;
    }
    return known_[id] = signature.signature();
  }

  const EmulatedCode& code_;
  const Launch& launch_;
  const LaunchMemory& memory_;
  const ProfileLimits& limits_;
  PathNodes nodes_;
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
    tell(fmt::format("{}: its address depends on a value that is not known; {}", text_of(out.code, at),
                     thrown(out.code.steps[static_cast<std::size_t>(at)].semantics)
                         ? "its lanes are taken to go to banks at random"
                         : "it moves no data"));
}

void tell_matches(Profile& out, const Launch& launch) {
  for (std::size_t i = 0; i < out.counts.size(); ++i) {
    const Step& step = out.code.steps[i];
    if (step.semantics != S::match || out.counts[i].warps <= 0) continue;
    out.assumptions.push_back(fmt::format("{}: {} different values among its lanes",
                                          text_of(out.code, static_cast<std::int32_t>(i)),
                                          values_matched(*step.in, launch)));
  }
}

}  // namespace

int values_matched(const Instruction& in, const Launch& launch) {
  constexpr int lanes = 32, half = 16;
  if (in.has("ALL")) return 1;
  const auto given = launch.assumptions.find(in.address);
  if (given == launch.assumptions.end() || !given->second.value) return half;
  return static_cast<int>(std::clamp<std::int64_t>(*given->second.value, 1, lanes));
}

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
  const Diagnostic endless{
      listing.file,
      code.line,
      0,
      "kernel",
      fmt::format("a kernel that ends within {} basic blocks for a CTA (assume: says how often a loop runs)",
                  limits.blocks),
      code.name + ", which does not"};
  Classes classes(paths, launch, memory, limits);
  const std::vector<Classes::Cell> cells = classes.find();
  if (classes.endless()) return endless;
  out.sampled = classes.sampled();
  if (out.sampled)
    out.assumptions.push_back(
        fmt::format("CTAs take many ways: {} of them stand for all {}", cells.size(), launch.ctas()));
  out.counts.resize(out.code.steps.size());
  for (const Classes::Cell& cell : cells) {
    EmulatedCta cta(out.code, launch, memory, cell.id);
    CtaRecorder recorder(out.code, out.nodes, launch, memory.shared_begin());
    while (!cta.finished()) {
      cta.run_round(recorder);
      if (cta.blocks_run() > limits.blocks) return endless;
    }
    CtaClass found = recorder.finish(cell.id);
    found.ctas = cell.ctas;
    for (const std::string& text : found.async.assumptions)
      if (std::ranges::find(out.assumptions, text) == out.assumptions.end()) out.assumptions.push_back(text);
    for (std::size_t i = 0; i < found.counts.size(); ++i) out.counts[i].add(found.counts[i], cell.ctas);
    out.bulk_sectors.resize(out.counts.size());
    for (const auto& [at, copies] : found.async.copies)
      out.bulk_sectors[static_cast<std::size_t>(at)] +=
          cell.ctas * found.counts[static_cast<std::size_t>(at)].warps * copies.share * copies.bytes / 32;
    tell_assumptions(out, recorder, launch);
    out.classes.push_back(std::move(found));
  }
  tell_matches(out, launch);
  return out;
}

}  // namespace noteg::compiled
