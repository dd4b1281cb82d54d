#include "sim/compiled/l2_reuse.hpp"

namespace noteg::compiled {

Reuse reuse_of(const TrafficSource& source) {
  const arch::GpuSpec& gpu = *source.gpu;
  const Launch& launch = *source.launch;
  Reuse out{source, {}, static_cast<double>(launch.ctas()), 1, memory::capacity_of(gpu.l2), {}, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) out.raster.grid[axis] = static_cast<double>(launch.grid[axis]);
  out.live = std::min(out.ctas, static_cast<double>(source.resident) * gpu.sms);
  const double drift = memory::drift_per_wave(gpu.sm, source.resident * launch.warps(), source.loads_ahead);
  out.spread = {out.ctas > out.live ? drift : 0.0, out.ctas / out.live};
  std::map<int, Reuse::Passed> of_buffer;
  for (const FootprintGroup& g : source.footprints->groups) {
    Reuse::Passed& passed = of_buffer[g.buffer];
    passed.most_bytes = out.buffer_bytes(g);
    for (const std::size_t at : g.members) {
      passed.sectors += source.footprints->passed[at];
      passed.apart += source.footprints->passed[at] * out.raster.positions(g, out.live) / g.together;
      passed.lines += source.footprints->passed[at] * source.footprints->lines_of_sector[at];
      passed.lines_at_once += source.footprints->lines_at_once[at];
      passed.held += source.footprints->passed[at] * (g.store ? 1 : out.copies(1));
    }
  }
  for (const auto& [buffer, passed] : of_buffer) out.passed.push_back(passed);
  return out;
}

}  // namespace noteg::compiled
