#include "sim/tune/candidates.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/families/family.hpp"
#include "sim/gpu/gemm/gemm_launch.hpp"
#include "sim/gpu/occupancy.hpp"
#include "sim/support/work_sharing.hpp"
#include "sim/tune/bound.hpp"

namespace noteg::tune {

namespace {

// Programs simulated between two decisions on what can be left out: enough to keep all cores at work. The first comes
// early: nothing can be left out before.
constexpr std::size_t first_block = 8, block = 32;

// A worse memory port now and then lets warps fall into a better order: so much less than the ideal launch is believed.
constexpr double order_of_warps = 0.99;

// Numbers programs in the order in which they come. The tile and the like narrow the search before configurations are
// compared in full.
class Programs {
 public:
  int number_of(const kernels::KernelConfig& config) {
    const kernels::KernelConfig program = gpu::as_built(config);
    auto& same = known_[{program.tile.m, program.tile.n, program.tile.k, program.stages.value_or(0),
                         program.warp_m.value_or(0), program.warp_n.value_or(0)}];
    for (const auto& [other, number] : same)
      if (other == program) return number;
    same.emplace_back(program, count_);
    return count_++;
  }

 private:
  std::map<std::tuple<int, int, int, int, int, int>, std::vector<std::pair<kernels::KernelConfig, int>>> known_;
  int count_ = 0;
};

bool fits(const arch::GpuSpec& gpu, const kernels::KernelConfig& config) {
  if (!config.registers || !config.shared_bytes || !config.threads) return true;  // the builder decides
  const gpu::CtaResources cta{*config.threads, *config.registers, *config.shared_bytes};
  return static_cast<bool>(gpu::occupancy_of(gpu.sm.occupancy, cta));
}

// Candidates of one program, in order of their bounds.
struct Group {
  std::vector<std::size_t> members;
  Seconds bound;  // the least of them
};

std::vector<Group> groups_of(const std::vector<Candidate>& candidates) {
  std::map<int, Group> by_program;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Group& group = by_program[candidates[i].program];
    if (group.members.empty()) group.bound = candidates[i].bound;
    group.members.push_back(i);
  }
  std::vector<Group> groups;
  for (auto& [program, group] : by_program) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, {}, [](const Group& group) { return group.bound.value; });
  return groups;
}

// What one group's simulations gave; empty where a candidate could not run.
struct Scores {
  std::vector<std::optional<Scored>> of_launches;
  std::size_t ruled_out = 0;
};

// Of all launches of a program: their main loops are the same.
std::optional<StaticLoad> load_of(const RankRequest& request, const kernels::KernelConfig& config) {
  if (kernels::copies_in_bulk(config.family)) return std::nullopt;  // copies and products are not in its list
  Result<StaticLoad> load = static_load(*request.gpu, config, request.shape);
  return load ? std::optional(*load) : std::nullopt;
}

class Ranker {
 public:
  Ranker(const std::vector<Candidate>& candidates, const RankRequest& request)
      : candidates_(candidates), request_(request), groups_(groups_of(candidates)) {}

  Ranking run() {
    std::size_t begin = 0, size = first_block;
    while (begin < groups_.size() && !stopped()) {
      simulate_block(begin, std::min(begin + size, groups_.size()));
      begin += std::exchange(size, block);
    }
    out_.stopped = stopped();
    std::ranges::stable_sort(out_.best, {}, [&](const Scored& one) { return one.score(request_.objective); });
    return std::move(out_);
  }

 private:
  bool stopped() const { return request_.stop != nullptr && request_.stop->load(); }

  // A bound on time says nothing about energy: only time is pruned by it.
  bool prunes() const { return request_.objective == Objective::time && out_.best.size() >= request_.wanted; }
  bool ruled_out(Seconds bound) const { return prunes() && bound.value * 1e6 > threshold_us_; }

  void simulate_block(std::size_t begin, std::size_t end) {
    std::vector<Scores> scores(end - begin);
    std::vector<std::vector<std::size_t>> members(end - begin);
    for (std::size_t g = begin; g < end; ++g)
      for (const std::size_t i : groups_[g].members) {
        if (ruled_out(candidates_[i].bound)) {
          ++out_.pruned;
          ++done_;
        } else {
          members[g - begin].push_back(i);
        }
      }
    std::size_t waiting = 0;
    for (const auto& some : members) waiting += some.size();
    const auto told = [&](std::size_t groups, std::size_t of) {
      if (request_.progress)
        request_.progress(done_ + waiting * groups / std::max<std::size_t>(1, of), candidates_.size());
    };
    share_work(members.size(), request_.jobs, told, [&](std::size_t g) { scores[g] = simulate_group(members[g]); });
    done_ += waiting;
    take(scores);
  }

  // The launches of one program that cut K into as many slices differ in what they find in L2 only. None is faster
  // than one that finds everything there: where that is too slow, it stands for all of them. Runs that it takes are the
  // first that a launch takes, so that nothing is lost where it is not too slow.
  std::vector<std::size_t> worth_simulating(const std::vector<std::size_t>& members, gpu::SmCache& cache) const {
    if (!prunes() || members.empty()) return members;
    std::map<int, bool> too_slow;  // by slices of K
    std::vector<std::size_t> out;
    const std::optional<StaticLoad> load = load_of(request_, candidates_[members.front()].config);
    for (const std::size_t i : members) {
      const int slices = candidates_[i].config.split_k;
      if (!too_slow.contains(slices))
        too_slow[slices] =
            load_is_too_much(candidates_[i].config, load) || ideal_is_too_slow(candidates_[i].config, cache);
      if (!too_slow[slices]) out.push_back(i);
    }
    return out;
  }

  bool load_is_too_much(const kernels::KernelConfig& config, const std::optional<StaticLoad>& load) const {
    return load && ruled_out(lower_bound(*request_.gpu, config, request_.shape, request_.sim, &*load));
  }

  bool ideal_is_too_slow(const kernels::KernelConfig& config, gpu::SmCache& cache) const {
    gpu::SimOptions sim = request_.sim;
    sim.pilot = true;
    sim.waits_for_dram = false;
    sim.switches.tail = false;
    const Result<gpu::SimReport> report = gpu::simulate(*request_.gpu, config, request_.shape, sim, cache);
    return report && report->time_us * order_of_warps > threshold_us_;
  }

  Scores simulate_group(const std::vector<std::size_t>& members) const {
    Scores scores;
    gpu::SmCache cache;  // dies with the group: ten thousand programs would not fit into memory
    gpu::SimOptions sim = request_.sim;
    sim.pilot = true;
    const std::vector<std::size_t> worth = worth_simulating(members, cache);
    scores.ruled_out = members.size() - worth.size();
    for (const std::size_t i : worth) {
      if (stopped()) break;
      const Result<gpu::SimReport> report =
          gpu::simulate(*request_.gpu, candidates_[i].config, request_.shape, sim, cache);
      scores.of_launches.emplace_back();
      if (report) scores.of_launches.back() = Scored{candidates_[i].config, report->time_us, report->energy_mj};
    }
    return scores;
  }

  void take(std::vector<Scores>& scores) {
    for (Scores& group : scores) {
      out_.pruned += group.ruled_out;
      for (std::optional<Scored>& one : group.of_launches) {
        ++(one ? out_.simulated : out_.failed);
        if (one) out_.best.push_back(std::move(*one));
      }
    }
    if (out_.best.size() < request_.wanted) return;
    std::vector<double> times;
    for (const Scored& one : out_.best) times.push_back(one.time_us);
    const auto nth = times.begin() + static_cast<std::ptrdiff_t>(request_.wanted) - 1;
    std::ranges::nth_element(times, nth);
    threshold_us_ = *nth;
  }

  const std::vector<Candidate>& candidates_;
  const RankRequest& request_;
  std::vector<Group> groups_;
  Ranking out_;
  double threshold_us_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::time: return "time";
    case Objective::energy: return "energy";
    case Objective::edp: return "edp";
  }
  return "";
}

std::optional<Objective> objective_from(std::string_view text) {
  for (const Objective objective : {Objective::time, Objective::energy, Objective::edp})
    if (name_of(objective) == text) return objective;
  return std::nullopt;
}

double Scored::score(Objective objective) const {
  switch (objective) {
    case Objective::time: return time_us;
    case Objective::energy: return energy_mj;
    case Objective::edp: return energy_mj * time_us;
  }
  return time_us;
}

std::vector<Candidate> candidates_of(const arch::GpuSpec& gpu, const std::vector<kernels::KernelConfig>& configs,
                                     const kernels::GemmShape& shape, const gpu::SimOptions& sim) {
  std::vector<Candidate> out;
  Programs programs;
  for (const kernels::KernelConfig& config : configs) {
    Result<kernels::KernelConfig> resolved = kernels::resolve(config, shape);
    if (!resolved || !fits(gpu, *resolved)) continue;
    const Seconds bound = lower_bound(gpu, *resolved, shape, sim);
    const int program = programs.number_of(*resolved);
    out.push_back({std::move(*resolved), bound, program});
  }
  std::ranges::stable_sort(out, {}, [](const Candidate& one) { return one.bound.value; });
  return out;
}

Ranking rank(const std::vector<Candidate>& candidates, const RankRequest& request) {
  return Ranker(candidates, request).run();
}

// Launches of one program with as many slices differ in their raster alone: one of them stands for all. The main loop's
// list of instructions is made for those that the numbers alone put near the top.
std::vector<Candidate> quickest(const std::vector<Candidate>& candidates, const RankRequest& request,
                                std::size_t most) {
  constexpr std::size_t listed_for_each = 8;  // candidates whose lists are made, for each that is wanted
  struct Estimated {
    const Candidate* candidate = nullptr;
    double time = 0;
  };
  const auto guess = [&](const Candidate& one, const StaticLoad* load) {
    return estimate(*request.gpu, one.config, request.shape, request.sim, load).value;
  };
  std::vector<Estimated> order;
  std::set<std::pair<int, int>> known;  // program, slices
  for (const Candidate& one : candidates)
    if (known.emplace(one.program, one.config.split_k).second) order.push_back({&one, guess(one, nullptr)});
  std::ranges::stable_sort(order, {}, &Estimated::time);
  order.resize(std::min(order.size(), listed_for_each * most));
  std::map<int, std::optional<StaticLoad>> loads;  // of programs
  for (Estimated& one : order) {
    const auto [place, is_new] = loads.try_emplace(one.candidate->program);
    if (is_new) place->second = load_of(request, one.candidate->config);
    if (place->second) one.time = guess(*one.candidate, &*place->second);
  }
  std::ranges::stable_sort(order, {}, &Estimated::time);
  std::vector<Candidate> out;
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) out.push_back(*order[i].candidate);
  return out;
}

namespace {

using kernels::Family;
using kernels::KernelConfig;

// FFMA kernels for f32; for other types those of tensor cores that the GPU has, and those for few rows.
std::vector<Family> suitable_families(const arch::GpuSpec& gpu, const Problem& problem) {
  const auto wanted =
      wants_tensor_cores(problem.frame.dtype_in) ? kernels::Arithmetic::tensor_cores : kernels::Arithmetic::ffma;
  std::vector<Family> families;
  for (const kernels::FamilyDescriptor* family : kernels::all_families)
    if (family->add_candidates != nullptr && (family->traits.arithmetic == wanted || family->traits.takes_few_rows) &&
        gpu::has(gpu.sm, family->traits.needs))
      families.push_back(family->family);
  return families;
}

std::vector<KernelConfig> evenly(std::vector<KernelConfig> all, std::size_t most) {
  if (most == 0 || all.size() <= most) return all;
  std::vector<KernelConfig> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(std::move(all[i * all.size() / most]));
  return some;
}

}  // namespace

std::vector<KernelConfig> configurations(const arch::GpuSpec& gpu, const Problem& problem,
                                         const SpaceOptions& options) {
  std::vector<KernelConfig> all;
  for (const KernelConfig& config : options.given) all.push_back(in_frame(config, problem.frame));
  if (!options.given.empty()) return evenly(std::move(all), options.most);
  const std::vector<Family> families = options.families.empty() ? suitable_families(gpu, problem) : options.families;
  for (const Family family : families) {
    const auto add_candidates = kernels::family_of(family).add_candidates;
    if (add_candidates != nullptr) add_candidates({problem.frame, problem.shape, gpu.sms}, all);
  }
  return evenly(std::move(all), options.most);
}

}  // namespace noteg::tune
