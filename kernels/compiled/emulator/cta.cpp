#include "kernels/compiled/emulator/cta.hpp"

#include <algorithm>
#include <utility>

namespace noteg::compiled {

EmulatedCta::EmulatedCta(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
                         const std::array<std::uint32_t, 3>& id)
    : place_(std::make_unique<CtaPlace>()),
      shared_(code.keeps_shared ? std::make_unique<SharedWords>() : nullptr),
      turns_(std::make_unique<Turns>()),
      ballots_(std::make_unique<Ballots>()) {
  place_->id = id;
  for (std::size_t i = 0; i < 3; ++i) place_->block[i] = static_cast<std::uint32_t>(launch.block[i]);
  if (launch.cluster) {
    const Extent& c = *launch.cluster;
    const auto in = [&](std::size_t axis) {
      return static_cast<std::int64_t>(id[axis]) % std::max<std::int64_t>(1, c[axis]);
    };
    place_->rank = static_cast<std::uint32_t>(in(0) + c[0] * (in(1) + c[1] * in(2)));
  }
  const std::int64_t threads = launch.threads();
  for (int warp = 0; warp < launch.warps(); ++warp) {
    const std::int64_t rest = threads - 32 * std::int64_t{warp};
    const std::uint32_t lanes = rest >= 32 ? all_lanes : (1u << rest) - 1;
    warps_.emplace_back(
        code, Surroundings{&memory, &launch, place_.get(), shared_.get(), turns_.get(), ballots_.get(), warp}, lanes);
  }
}

bool EmulatedCta::finished() const { return std::ranges::all_of(warps_, &EmulatedWarp::finished); }

void EmulatedCta::run_round(WarpWatcher& watcher) {
  bool any = false;
  for (EmulatedWarp& warp : warps_) {
    if (warp.finished() || warp.at_barrier()) continue;
    warp.run_block(watcher);
    any = true;
  }
  // Who has left counts as arrived; named barriers of part of the CTA meet here together too.
  if (any) return;
  if (ballots_->coming.at != nullptr) {
    ballots_->last = std::exchange(ballots_->coming, {});
    ++ballots_->number;
  }
  for (EmulatedWarp& warp : warps_) warp.pass_barrier();
}

std::uint64_t EmulatedCta::blocks_run() const {
  std::uint64_t sum = 0;
  for (const EmulatedWarp& warp : warps_) sum += warp.blocks_run();
  return sum;
}

}  // namespace noteg::compiled
