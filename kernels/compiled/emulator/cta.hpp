// The warps of one CTA, in turns by basic blocks, so that accesses come about in the order in which lockstep warps
// would make them; barriers of the CTA hold them together.
#pragma once

#include <memory>
#include <vector>

#include "kernels/compiled/emulator/warp.hpp"

namespace noteg::compiled {

class EmulatedCta {
 public:
  EmulatedCta(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
              const std::array<std::uint32_t, 3>& id);

  [[nodiscard]] bool finished() const;
  // One block of every warp that can go on.
  void run_round(WarpWatcher& watcher);
  [[nodiscard]] std::uint64_t blocks_run() const;
  [[nodiscard]] int warps() const { return static_cast<int>(warps_.size()); }

 private:
  std::unique_ptr<CtaPlace> place_;
  std::unique_ptr<SharedWords> shared_;
  std::unique_ptr<Turns> turns_;
  std::unique_ptr<Ballots> ballots_;
  std::vector<EmulatedWarp> warps_;
};

}  // namespace noteg::compiled
