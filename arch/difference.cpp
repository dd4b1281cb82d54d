#include "arch/difference.hpp"

#include <algorithm>

namespace noteg::arch {

std::vector<Difference> differences(std::span<const GpuSpec* const> gpus) {
  std::vector<Difference> out;
  for (const Field& field : fields()) {
    Difference difference{&field, {}};
    for (const GpuSpec* gpu : gpus) difference.values.push_back(field.get(*gpu));
    const auto differs = [&](const Value& value) { return value != difference.values.front(); };
    if (std::ranges::any_of(difference.values, differs)) out.push_back(std::move(difference));
  }
  return out;
}

std::string_view name_of(FieldGroup group) {
  switch (group) {
    case FieldGroup::sm_core: return "SM core";
    case FieldGroup::sm_count: return "SM count";
    case FieldGroup::clock: return "clock";
    case FieldGroup::l2: return "L2";
    case FieldGroup::dram: return "DRAM";
    case FieldGroup::power: return "power";
    case FieldGroup::count_: break;
  }
  return "";
}

FieldGroup group_of(const Field& field) {
  const std::string_view key = field.key;
  // A clock has no meaning without the voltage that it needs: half of a curve would be a machine that nobody can build.
  if (key.starts_with("clock.") || key.starts_with("power.voltage_") || key == "power.floor_clock")
    return FieldGroup::clock;
  if (key.starts_with("power.") || key.starts_with("sm.energy.")) return FieldGroup::power;
  if (key.starts_with("sm.")) return FieldGroup::sm_core;
  if (key.starts_with("l2.")) return FieldGroup::l2;
  if (key.starts_with("dram.")) return FieldGroup::dram;
  return FieldGroup::sm_count;
}

void take_group(GpuSpec& gpu, const GpuSpec& other, FieldGroup group) {
  for (const Field& field : fields())
    if (group_of(field) == group) field.set(gpu, field.get(other));
  if (group == FieldGroup::sm_core) gpu.sm.name = other.sm.name;
}

}  // namespace noteg::arch
