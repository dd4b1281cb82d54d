#include "kernels/compiled/emulator/cta_recorder.hpp"

#include <algorithm>

#include "kernels/access/wavefronts.hpp"
#include "kernels/compiled/emulator/sm_accesses.hpp"

namespace noteg::compiled {
namespace {

using S = Semantics;

bool is_shared(S s) {
  return s == S::load_shared || s == S::store_shared || s == S::copy_to_shared || s == S::load_matrix ||
         s == S::store_matrix || s == S::atomic_shared;
}

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
  out.space = asks_global(step.semantics) ? kernels::Space::global : kernels::Space::shared;
  out.store = is_store(step.semantics) || step.semantics == S::store_shared || step.semantics == S::store_matrix;
  out.bytes_per_lane = step.bytes;
  out.active_mask = v.lanes;
  out.offset = v.offset;
  out.shared_offset = v.shared;
  if (step.semantics == S::atomic_shared && !step.by_window && !step.in->has("POPC")) one_after_the_other(out);
  return out;
}

// A copy of 16 bytes per lane comes by quarter warps, and each of its requests takes a wavefront of its own (counters
// of our H200: rows of 128 bytes 4, of 64 bytes 8; H100M: rows of 80 and of 144 bytes 15 and 10.5).
int wide_copy_wavefronts(const kernels::AccessPattern& copy) {
  int sum = 0;
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    kernels::AccessPattern part = copy;
    part.active_mask &= 0xffu << (8 * quarter);
    if (part.active_mask == 0) continue;
    sum += std::max(kernels::copy_requests(part).requests, kernels::shared_wavefronts(kernels::shared_side(part)));
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
  if (asks_global(step.semantics)) {
    const kernels::GlobalCost cost = kernels::global_cost(pattern);
    out.sectors = cost.sectors;
    out.lines = cost.lines;
    out.ideal_sectors = (cost.bytes + 31) / 32;
    if (is_store(step.semantics)) out.masked = kernels::masked_lines(pattern);
    if (step.semantics == S::copy_to_shared) {
      const kernels::CopyRequests asked = kernels::copy_requests(pattern);
      out.again = asked.at_l2 - cost.sectors;
      out.split = asked.at_l2 - asked.whole;
    }
  }
  return out;
}

constexpr std::size_t most_variants = 64;  // kept apart; more are counted, not remembered

void add_shape(AccessShape& out, const InstructionRecord& record, const Step& step, double& most) {
  for (std::size_t i = 0; i < out.joins.size(); ++i) out.joins[i] += record.joins[i];
  out.lanes += record.lanes;
  out.of_peers += record.of_peers;
  for (const Variant& v : record.variants) {
    out.executions += v.executions;
    out.wavefronts += v.executions * v.cost.wavefronts;
    if (v.executions <= most) continue;
    most = v.executions;
    out.pattern = pattern_of(v, step);
  }
}

}  // namespace

bool is_thrown(Semantics s) { return s == S::load_shared || s == S::store_shared || s == S::atomic_shared; }

void CtaRecorder::note_semaphore(Warp& w, const Access& access) {
  if (code_.polls.empty()) return;
  const Step& step = *access.step;
  if (!is_coherent_beyond_sm(step)) return;
  if (step.polls) note_window(access);
  if (std::popcount(access.lanes & access.address.known) != 1) return;
  const auto lane = static_cast<std::size_t>(std::countr_zero(access.lanes & access.address.known));
  const std::uint64_t address = access.address.value[lane];
  if (window_ && !step.polls && window_->semaphore == address && step.semantics != S::load_global) {
    turn_ = window_;
    turn_->release = access.at;
  }
  if (step.polls) {
    w.looked_at = address;
    w.takes_lock = step.semantics == S::atomic_global && !step.in->has("ADD");
  }
  if (step.polls || step.semantics == S::load_global) return;
  if (const auto turn = waiting_.find(address); turn != waiting_.end()) {
    turn->second.release = access.at;
    if (!turn_ || turn->second.before > turn_->before)
      turn_ = turn->second;
    else if (turn_->semaphore == address)
      turn_->taken += 1;
    waiting_.erase(turn);
  }
  released_.insert(address);
}

void CtaRecorder::note_window(const Access& access) {
  constexpr std::int64_t least = 4;  // words; fewer are those of one semaphore
  const std::uint32_t lanes = access.lanes & access.address.known;
  const auto wait = code_.polls.lower_bound(access.at);
  if (window_ || std::popcount(lanes) < least || wait == code_.polls.end()) return;
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < 32; ++i)
    if ((lanes >> i & 1) != 0) words.push_back(access.address.value[i]);
  std::ranges::sort(words);
  const std::uint64_t apart = words[1] - words[0];
  const auto count = static_cast<std::int64_t>(words.size());
  if (apart == 0 || words.back() - words.front() != apart * static_cast<std::uint64_t>(count - 1)) return;
  window_.emplace();
  window_->wait = wait->first;
  window_->semaphore = words.back() + apart;
  window_->taken = 1;
  window_->window = count;
  window_->look = access.at;
}

void CtaRecorder::accesses(int warp, const Access& access) {
  note_semaphore(warps_[static_cast<std::size_t>(warp)], access);
  Variant v;
  v.lanes = lanes_of_matrices(*access.step->in, access.lanes & ~(access.guessed & ~access.address.known));
  const std::uint32_t unknown = access.lanes & access.guessed & ~access.address.known;
  if (unknown != 0) guesses_.unknown_addresses.insert(access.at);
  if (access.elsewhere != 0) guesses_.guessed_addresses.insert(access.at);
  const std::uint32_t lanes = v.lanes;
  if (lanes == 0 && unknown != 0 && is_thrown(access.step->semantics)) {
    v.lanes = unknown;
    for (std::size_t i = 0; i < 32; ++i) v.offset[i] = thrown_in(i);
  }
  // Wherever it goes, L2 has to answer; else a load from nobody knows where finds one word in L1.
  const bool is_coherent = is_coherent_beyond_sm(*access.step);
  const bool in_l1 = lanes == 0 && unknown != 0 && !is_coherent && access.step->semantics == S::load_global;
  if (lanes == 0 && is_coherent) v.lanes = unknown & (0 - unknown);
  if (in_l1) v.lanes = unknown;
  const auto lane = static_cast<std::size_t>(std::countr_zero(lanes == 0 ? 1u : lanes));
  const std::uint64_t base = access.address.value[lane] & ~std::uint64_t{127};
  const std::uint64_t shared_base = access.shared.value[lane] & ~std::uint64_t{127};
  const bool copies = access.step->semantics == S::copy_to_shared;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    v.offset[i] = static_cast<std::uint32_t>(access.address.value[i] - base);
    if (copies) v.shared[i] = static_cast<std::uint32_t>(access.shared.value[i] - shared_base);
    const std::uint64_t shared = copies ? access.shared.value[i] : access.address.value[i];
    // What random values lead beyond any SM's shared memory says nothing about the kernel.
    const std::uint32_t end = static_cast<std::uint32_t>(shared) + access.step->bytes;
    constexpr std::uint32_t most = 228 << 10;
    if (is_shared(access.step->semantics) && end <= shared_begin_ + most) shared_end_ = std::max(shared_end_, end);
  }
  Warp& w = warps_[static_cast<std::size_t>(warp)];
  const std::size_t variant =
      note(w.memory[static_cast<std::size_t>(access.at)], v, *access.step, access.reads_nothing || in_l1);
  if (access.step->by_window) {
    InstructionRecord& record = w.memory[static_cast<std::size_t>(access.at)];
    record.lanes += std::popcount(lanes);
    record.of_peers += std::popcount(lanes & access.peers);
  }
  w.keep({access.at, static_cast<std::uint32_t>(variant)});
  if (access.step->semantics == S::store_global) note_store(w, access);
}

void CtaRecorder::note_store(Warp& w, const Access& access) {
  sectors_of(access, scratch_);
  std::ranges::sort(scratch_);
  const std::size_t kept = std::min(w.stores, w.stored.size());
  std::size_t back = scratch_.empty() ? kept + 1 : 1;
  while (back <= kept && !std::ranges::includes(w.stored[(w.stores - back) % w.stored.size()], scratch_)) ++back;
  w.memory[static_cast<std::size_t>(access.at)].joins[back <= kept ? back : 0] += 1;
  w.stored[w.stores++ % w.stored.size()].swap(scratch_);
}

void CtaRecorder::repeat(int warp, std::size_t from, std::size_t to, std::int64_t times) {
  Warp& w = warps_[static_cast<std::size_t>(warp)];
  PathBuilder body = w.path.alone();
  apply(w, from, to, static_cast<double>(times), body);
  w.path.repeat(body.path(), times);
  std::vector<std::uint32_t> acts;
  add_acts(w, from, to, acts);
  barriers_.repeat(warp, acts, times);
  // Part of the period of a loop around this one.
  const std::size_t here = w.log.size();
  w.keep({repeat_event, static_cast<std::uint32_t>(here - from)});
  w.keep({repeat_event, static_cast<std::uint32_t>(to - from)});
  w.keep({repeat_event, static_cast<std::uint32_t>(times)});
}

// What stands in [from, to), that of skipped iterations as often as it was skipped.
void CtaRecorder::add_acts(const Warp& w, std::size_t from, std::size_t to, std::vector<std::uint32_t>& out) {
  constexpr std::size_t most = 1 << 14;
  for (std::size_t i = from; i < to && out.size() < most; ++i) {
    const Event event = w.log[i];
    if (event.what == act_event) out.push_back(event.detail);
    if (event.what != repeat_event) continue;
    if (i + 2 >= to) return;
    std::vector<std::uint32_t> once;
    const std::size_t begin = i - event.detail;
    add_acts(w, begin, begin + w.log[i + 1].detail, once);
    for (std::uint32_t n = 0; n < w.log[i + 2].detail && !once.empty() && out.size() < most; ++n)
      out.insert(out.end(), once.begin(), once.end());
    i += 2;
  }
}

// Counts what stands in [from, to) so many times more; `body` takes its way, once.
void CtaRecorder::apply(Warp& w, std::size_t from, std::size_t to, double times, PathBuilder& body) {
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
      // BarrierLog counts them.
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

std::size_t CtaRecorder::note(InstructionRecord& record, Variant& v, const Step& step, bool reads_nothing) {
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
  if (reads_nothing)
    v.cost.sectors = v.cost.lines = v.cost.masked = v.cost.ideal_sectors = v.cost.again = v.cost.split = 0;
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
  mean(rest.cost.masked, v.cost.masked);
  mean(rest.cost.again, v.cost.again);
  mean(rest.cost.split, v.cost.split);
  rest.executions += 1;
  return record.last;
}

CtaClass CtaRecorder::finish(std::array<std::uint32_t, 3> id) const {
  CtaClass out;
  out.id = id;
  out.shared_end = shared_end_ > shared_begin_ ? shared_end_ - shared_begin_ : 0;
  out.turn = turn_;
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
        for (const Variant& v : record.variants) counts.add(v.cost, v.executions);
        add_shape(group.shapes[i], record, code_.steps[static_cast<std::size_t>(i)], most[at->second][i]);
      }
    }
  }
  return out;
}

}  // namespace noteg::compiled
