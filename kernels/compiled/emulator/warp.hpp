// One warp on its way through the code: which lanes are where, how they part and meet again (BSSY, BSYNC), and what it
// reads and writes on the way. A branch by a value that is not known is an assumption, reported as such.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/compiled/emulator/async_acts.hpp"
#include "kernels/compiled/emulator/loop_skip.hpp"
#include "kernels/compiled/emulator/machine.hpp"

namespace noteg::compiled {

// One execution of a memory instruction.
struct Access {
  std::int32_t at = 0;  // instruction
  const Step* step = nullptr;
  std::uint32_t lanes = 0;      // that take part
  std::uint32_t guessed = 0;    // of these: their guard or address is not known
  std::uint32_t elsewhere = 0;  // of these: somewhere in the buffer where they might go as well
  Wide address;                 // the shared-memory side of a copy is `shared`
  Wide shared;                  // LDGSTS
  std::uint32_t peers = 0;      // that go to shared memory of another CTA of the cluster
  bool reads_nothing = false;   // LDGSTS whose own predicate is false: zeros are written
};

class WarpWatcher {
 public:
  virtual ~WarpWatcher() = default;
  // Control has come to a block with these lanes.
  virtual void enters(int warp, std::int32_t block, std::uint32_t lanes) = 0;
  virtual void accesses(int warp, const Access& access) = 0;
  virtual void acts(int, const AsyncAct&) {}
  // A branch was taken (or not) by assumption; a guard or an address was not known.
  virtual void assumes(std::int32_t at, bool taken) = 0;
  // A wait for other CTAs is taken to end (Poll): it ended when what was looked at had this value.
  virtual void waited(int, std::int32_t, std::int64_t) {}

  // A log of all that a warp has done, so that periods of a loop can be compared and repeated without being run.
  // Position in it; nullopt: no log is kept, and every iteration is run.
  [[nodiscard]] virtual std::optional<std::size_t> position(int warp) const = 0;
  // Whether [a, b) and [b, c) hold the same.
  [[nodiscard]] virtual bool repeats(int warp, std::size_t a, std::size_t b, std::size_t c) const = 0;
  // What stands in [from, to) happens so many times more.
  virtual void repeat(int warp, std::size_t from, std::size_t to, std::int64_t times) = 0;
};

class EmulatedWarp {
 public:
  EmulatedWarp(const EmulatedCode& code, const Surroundings& around, std::uint32_t lanes);

  [[nodiscard]] bool finished() const { return fragments_.empty(); }
  [[nodiscard]] bool at_barrier() const { return at_barrier_; }
  void pass_barrier() { at_barrier_ = false; }
  // Runs one basic block of one group of lanes.
  void run_block(WarpWatcher& watcher);
  [[nodiscard]] std::uint64_t blocks_run() const { return blocks_run_; }

 private:
  struct Fragment {
    std::int32_t at = 0;
    std::uint32_t lanes = 0;
    int waits_for = -1;  // convergence barrier
  };
  struct Convergence {
    std::uint32_t lanes = 0;
  };

  void access(std::int32_t at, const Step& step, std::uint32_t lanes, WarpWatcher& watcher);
  void to_own_place(Access& access) const;
  void indexed(const Step& step, Access& access, WarpWatcher& watcher);
  // Where the group goes behind the block's last instruction.
  void go_on(std::int32_t last, WarpWatcher& watcher);
  void branch(std::int32_t at, WarpWatcher& watcher);
  [[nodiscard]] bool all_meet(std::int32_t at);
  // Control has come back to the begin of a loop.
  void begin_iteration(WarpWatcher& watcher);
  [[nodiscard]] bool assumed(std::int32_t at, std::int32_t target, WarpWatcher& watcher);
  void jump(std::int32_t at, std::uint64_t address);
  void jump_by_table(std::int32_t at);
  void leave(std::uint32_t lanes);
  void choose();

  const EmulatedCode* code_;
  Surroundings around_;
  std::unique_ptr<Registers> registers_;
  std::vector<Fragment> fragments_;  // the last one runs
  std::array<Convergence, 16> convergence_{};
  std::vector<std::int32_t> calls_;
  std::map<std::int32_t, std::int64_t> taken_;         // by assumption, in a row
  std::int64_t known_decisions_ = 0;                   // branches by values that are known
  std::map<std::int32_t, std::int64_t> known_before_;  // of these, when another branch was assumed last
  std::map<std::int32_t, std::int64_t> table_turns_;   // by tables whose entry is not known
  std::uint32_t alive_ = 0;
  std::uint64_t blocks_run_ = 0;
  bool at_barrier_ = false;
  LoopSkip loops_;
};

}  // namespace noteg::compiled
