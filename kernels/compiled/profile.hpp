// What a launch executes and asks of memory, from the emulation: per instruction how often, by how many threads, with
// how many wavefronts and sectors; which warps and CTAs take the same way; the ways themselves as loops and blocks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/compiled/barriers.hpp"
#include "kernels/compiled/cta_classes.hpp"
#include "kernels/compiled/emulator/cta.hpp"
#include "kernels/compiled/launch_file.hpp"
#include "kernels/compiled/listing/listing.hpp"
#include "kernels/ir/ir.hpp"
#include "sim/support/result.hpp"

namespace noteg::compiled {

// Of one instruction, over warps and time.
struct InstructionCounts {
  double warps = 0, threads = 0;
  double wavefronts = 0, ideal_wavefronts = 0;  // shared memory
  double sectors = 0, ideal_sectors = 0;        // global memory, 32 bytes
  double lines = 0;
  double masked = 0;  // of a store: lines with a sector that it fills in part
  double again = 0;   // sectors that a copy to shared memory asks L2 for twice (kernels::copy_requests)
  double split = 0;   // of lines that it asks for in several requests

  void add(const InstructionCounts& o, double factor);
};

// Lane addresses that an instruction comes with most often, and its mean costs.
using Joins = std::array<double, kernels::stores_looked_back + 1>;  // executions, by AccessPattern::joins

struct AccessShape {
  kernels::AccessPattern pattern;
  double executions = 0, wavefronts = 0;
  Joins joins{};
  double lanes = 0, of_peers = 0;  // by a generic address to shared memory; and to another CTA of the cluster
};

// A way through the code: blocks in the order in which they run, repetitions folded into loops.
struct PathNode {
  std::int32_t block = -1;         // a block, or
  std::vector<std::int32_t> body;  // nodes that repeat
  std::int64_t count = 1;
};

// All ways of a launch share their nodes; equal nodes are one.
class PathNodes {
 public:
  [[nodiscard]] std::int32_t of_block(std::int32_t block);
  [[nodiscard]] std::int32_t of_loop(std::vector<std::int32_t> body, std::int64_t count);
  [[nodiscard]] const PathNode& operator[](std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  // How often these nodes come to each of their instructions, added to `times`.
  void count(const EmulatedCode& code, const std::vector<std::int32_t>& path,
             std::map<std::int32_t, std::int64_t>& times, std::int64_t factor = 1) const;
  // The nodes here that equal a way of others.
  [[nodiscard]] std::vector<std::int32_t> adopt(const PathNodes& others, const std::vector<std::int32_t>& path);

 private:
  std::vector<PathNode> nodes_;
  std::map<std::int32_t, std::int32_t> blocks_;
  std::map<std::pair<std::vector<std::int32_t>, std::int64_t>, std::int32_t> loops_;
};

// Folds a sequence while it grows.
class PathBuilder {
 public:
  explicit PathBuilder(PathNodes& nodes) : nodes_(&nodes) {}
  void enter(std::int32_t block);
  // These nodes come so many times.
  void repeat(std::vector<std::int32_t> body, std::int64_t times);
  [[nodiscard]] PathBuilder alone() const { return PathBuilder(*nodes_); }
  [[nodiscard]] std::vector<std::int32_t> path() const { return closed(0); }

 private:
  // A block, or a loop's body and how often it came so far. Only a loop that has ended is a node of its own: one for
  // every count on the way there would fill the memory.
  struct Part {
    std::int32_t node = 0;
    std::int64_t count = 1;
    bool operator==(const Part&) const = default;
  };
  [[nodiscard]] std::vector<std::int32_t> closed(std::size_t from) const;  // the nodes of the parts from there on
  [[nodiscard]] bool is(const Part& part, std::int32_t node) const;
  void loop(std::vector<std::int32_t> body, std::int64_t count) {
    path_.push_back({nodes_->of_loop(std::move(body), 1), count});
  }
  bool fold();
  PathNodes* nodes_;
  std::vector<Part> path_;
};

// Warps of a CTA that take the same way.
struct WarpClass {
  std::vector<int> warps;
  std::vector<std::int32_t> path;
  std::map<std::int32_t, AccessShape> shapes;  // by instruction, of its warps
};

// A CTA's turn at a semaphore: it polls until those before it have had theirs, and tells the next one when it is done.
struct SemaphoreTurn {
  std::int32_t wait = -1, release = -1;  // instructions: the branch that polls, what writes to the semaphore
  std::int64_t before = 0;               // the value that it waits for: turns of others
  std::uint64_t semaphore = 0;           // its address
  std::int64_t taken = 0;                // times that the CTA had its turn there
  bool in_order = true;                  // false: a lock, which whoever comes first takes
  std::int64_t window = 1;               // CTAs whose words it looks at together (look-back): they have one turn
  std::int32_t look = -1;                // the load by which it does
};

// CTAs that take the same way; run once.
struct CtaClass {
  std::array<std::uint32_t, 3> id{};  // the one that was run
  double ctas = 0;
  std::vector<WarpClass> warps;
  std::vector<InstructionCounts> counts;  // of one CTA
  double warp_instructions = 0;           // of one CTA
  AsyncPlan async;
  std::uint32_t shared_end = 0;       // bytes of shared memory up to the last one that was touched
  std::optional<SemaphoreTurn> turn;  // that it passes on; of several the one behind most others
};

struct Profile {
  EmulatedCode code;  // with addresses
  PathNodes nodes;
  std::vector<CtaClass> classes;  // the largest first
  CtaCells cells;
  std::vector<InstructionCounts> counts;  // of the launch
  std::vector<double> bulk_sectors;       // of the launch, by instruction: what bulk copies move
  std::vector<std::string> assumptions;
  std::optional<SemaphoreTurn> last_turn;  // of a CTA behind most others, of all that were run
  bool sampled = false;                    // classes stand for CTAs that were not all compared

  [[nodiscard]] double warp_instructions() const;
};

// Different values among the lanes of a MATCH, on which its time depends: 16, unless the launch file says (value).
[[nodiscard]] int values_matched(const Instruction& in, const Launch& launch);

[[nodiscard]] Result<Profile> profile(const Listing& listing, const Code& code, const Launch& launch,
                                      const LaunchMemory& memory, const ProfileLimits& limits = {});

}  // namespace noteg::compiled
