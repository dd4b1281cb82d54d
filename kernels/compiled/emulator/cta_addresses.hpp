// Where CTAs go in global memory: the addresses that each warp comes with first, how they move with the coordinates of
// the CTA, and which sectors CTAs that run at one time touch together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "kernels/compiled/emulator/cta.hpp"

namespace noteg::compiled {

constexpr std::uint64_t sector = 32;  // bytes

[[nodiscard]] std::array<std::uint32_t, 3> cta_at(const Launch& launch, std::int64_t index);  // x first, then y, z
// In the order in which SMs take them: clusters x first, and their CTAs likewise.
[[nodiscard]] std::array<std::uint32_t, 3> cta_by_cluster(const Launch& launch, std::int64_t index);
[[nodiscard]] bool is_global_atomic(const Step& step);

// Bytes of the runs in which sectors follow each other, mean.
[[nodiscard]] double mean_run(const std::set<std::uint64_t>& sectors);

struct LaneAddresses {
  std::uint32_t known = 0;  // a bit for each lane
  std::array<std::uint64_t, 32> address{};
};
using AddressesByWarp = std::map<int, LaneAddresses>;

// Addresses of every instruction that is wanted, in a CTA amid the grid, in its neighbour along each axis, and in one
// far from it. An instruction that a bounded walk does not come to has none.
struct AddressSamples {
  std::array<std::uint32_t, 3> amid{}, far{};
  std::vector<AddressesByWarp> origin, proof;
  std::array<std::vector<AddressesByWarp>, 3> beside;

  // Bytes by which addresses move with the coordinates; nothing where they do not move by so much everywhere.
  [[nodiscard]] std::optional<std::array<std::int64_t, 3>> affine_steps(std::size_t at) const;
};
[[nodiscard]] AddressSamples sample_addresses(const EmulatedCode& code, const Launch& launch,
                                              const LaunchMemory& memory, const std::vector<bool>& wanted,
                                              unsigned jobs);

// What CTAs that follow each other ask of one place at one time.
struct Together {
  double ctas = 1;       // to a sector
  double full = 1;       // 0..1: of a sector's bytes, those that all of them touch
  double run = sector;   // bytes that follow each other among the sectors of all
  double span = 0;       // bytes from the first to the last
  bool ascends = false;  // from CTA to CTA they go on in one direction, as who divides a buffer up does
};

// The CTAs from the one amid the grid on, as many as run at one time, 128 at most.
class Neighbours {
 public:
  Neighbours(const EmulatedCode& code, const Launch& launch, const LaunchMemory& memory,
             const std::vector<bool>& wanted, const std::array<std::uint32_t, 3>& amid, std::int64_t live,
             unsigned jobs);

  // Of an instruction that touches so many bytes a lane: its first warp in `origin` stands for all.
  [[nodiscard]] Together operator()(std::size_t at, const AddressesByWarp& origin, std::uint64_t bytes) const;

 private:
  std::vector<std::vector<AddressesByWarp>> ctas_;
};

}  // namespace noteg::compiled
