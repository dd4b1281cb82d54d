// GPUs beside each other and made of one another: which keys differ, a group of fields taken over, a part or a multiple
// of a GPU, a GPU without the constants that were fitted on its own measurements. Names of products are no keys.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/field.hpp"
#include "arch/load.hpp"

namespace noteg::arch {

struct Difference {
  const Field* field = nullptr;
  std::vector<Value> values;  // one for each GPU
};

// In the order of the reference page.
[[nodiscard]] std::vector<Difference> differences(std::span<const GpuSpec* const> gpus);

// The fields that are moved together when one GPU is turned into another: what a group can do is then one figure.
enum class FieldGroup : std::uint8_t { sm_core, sm_count, clock, l2, dram, power, count_ };

inline constexpr std::size_t field_group_count = static_cast<std::size_t>(FieldGroup::count_);

[[nodiscard]] std::string_view name_of(FieldGroup group);  // as reports print it: "SM core"

// clock: the clocks and the voltages that they need; sm_count: the SMs and how work reaches them; power: limits,
// losses, cooling and the energies of events.
[[nodiscard]] FieldGroup group_of(const Field& field);

// Gives `gpu` all fields of the group that `other` has.
void take_group(GpuSpec& gpu, const GpuSpec& other, FieldGroup group);

// A part of a GPU, or a multiple, as a GPU of its own: SMs, L2, memory channels and power in proportion, the SM as it
// is. Nobody has built it: everything that changes is marked as derived, with the factor.

// A factor as users write it: 1/4, 0.25, 2. Nothing for anything else, and beyond 1/64 to 16.
struct Factor {
  double value = 1;
  std::string text;  // as written
};
[[nodiscard]] std::optional<Factor> factor_from(std::string_view text);

// Errors: a factor that leaves a fraction of an SM or of a channel (names the nearest ones that do), numbers that break
// a rule between fields.
[[nodiscard]] Result<SourcedGpu> scaled_gpu(const SourcedGpu& gpu, const Factor& factor);

// Leave one GPU out: the values that constants would have if no measurement of this GPU had been used. A fitted number
// of an architecture file may say on whose rows it was fitted (`on`) and what it is without them (`without`): the value
// of its die, of its class of boards or of the generation before.

// Overrides that put these values in place; empty where nothing of this GPU's own was fitted. Errors: no such GPU, a
// file that cannot be read.
[[nodiscard]] Result<Overrides> without_own_fits(std::string_view name_or_path);

}  // namespace noteg::arch
