// What differs between GPUs: the keys whose values are not all equal. Names of products are no keys.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "arch/field.hpp"

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

}  // namespace noteg::arch
