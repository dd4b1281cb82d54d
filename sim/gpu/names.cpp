#include "sim/gpu/report.hpp"

namespace noteg::gpu {

std::string_view name_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::registers: return "registers";
    case Limiter::shared_memory: return "shared_memory";
    case Limiter::warps: return "warps";
    case Limiter::ctas: return "ctas";
    case Limiter::grid: return "grid";
  }
  return "grid";
}

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::compute: return "compute";
    case Bound::l2: return "l2";
    case Bound::dram: return "dram";
  }
  return "compute";
}

}  // namespace noteg::gpu
