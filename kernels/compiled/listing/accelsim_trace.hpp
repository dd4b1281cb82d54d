// A launch as the trace-driven simulator Accel-Sim reads it: kernelslist.g and kernel-1.traceg in the format of its
// tracer, version 5 (instructions by warp, with masks, registers and addresses), so that both simulators run the same
// work. Every CTA is emulated whole.
#pragma once

#include <filesystem>

#include "kernels/compiled/emulator/machine.hpp"
#include "kernels/compiled/listing/listing.hpp"

namespace noteg::compiled {

inline constexpr std::uint64_t most_traced = 50'000'000;  // warp instructions, about 3 GB of text

struct TraceRequest {
  const Listing* listing = nullptr;
  const Code* code = nullptr;
  const Launch* launch = nullptr;
  const LaunchMemory* memory = nullptr;
  int registers = 32;             // per thread
  std::int64_t shared_bytes = 0;  // per CTA
};

// Empty where both files were written.
[[nodiscard]] Diagnostics write_accelsim_trace(const TraceRequest& request, const std::filesystem::path& folder);

}  // namespace noteg::compiled
