// The time of a launch from those of its classes of CTAs (profile.hpp): each class is simulated as if all CTAs were of
// it, and the chip's schedule of their lengths says how long the grid takes (cta_schedule.hpp). They share DRAM and L2
// with the CTAs that run at the same time: each class meets what these read and store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/compiled/footprint.hpp"
#include "kernels/compiled/profile.hpp"
#include "sim/compiled/simulate_compiled.hpp"
#include "sim/gpu/launch.hpp"
#include "sim/gpu/report.hpp"

namespace noteg::compiled {

struct ClassRequest {
  const CompiledRequest* request = nullptr;
  const Profile* profile = nullptr;
  const Footprints* footprints = nullptr;
  gpu::CtaResources resources;
  gpu::SmOccupancy occupancy;
  gpu::Traffic traffic;
  gpu::Arithmetic arithmetic;
};

struct LaunchTime {
  gpu::SimReport report;  // of the launch; counters of its SM are of the class that executes most instructions in all
  std::shared_ptr<const kernels::Program> program;
  std::vector<std::int32_t> origin;
  std::vector<std::string> assumptions;
};

[[nodiscard]] Result<LaunchTime> time_classes(const ClassRequest& of);

}  // namespace noteg::compiled
