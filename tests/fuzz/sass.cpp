// Listings: any bytes give kernels or diagnostics; what is read is made ready and emulated for a while.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/compiled/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace noteg::compiled;  // NOLINT: a target is one function
  const auto listing = parse_listing(std::string(data, data + size), "fuzz.sass");
  if (!listing) return 0;
  Launch launch;
  launch.grid = {3, 1, 1};
  launch.block = {48, 1, 1};
  launch.arguments.resize(4);
  const LaunchMemory memory(launch, listing->sm);
  for (const Code& code : listing->kernels) {
    static_cast<void>(unknown_opcodes(*listing, code));
    static_cast<void>(profile(*listing, code, launch, memory, {2000, 4}));
  }
  return 0;
}
