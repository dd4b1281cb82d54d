#include "kernels/families/family.hpp"

#include <algorithm>

namespace noteg::kernels {
namespace {

using Trait = bool FamilyTraits::*;

// "triton and mma": the families that have a trait.
std::string families_with(Trait trait) {
  std::string names;
  for (const FamilyDescriptor* family : all_families)
    if (family->traits.*trait) names += (names.empty() ? "" : " and ") + std::string(family->name);
  return names;
}

// Keys that belong to families with a trait alone.
std::optional<Diagnostic> foreign_key(const KernelConfig& config, const FamilyTraits& traits) {
  const auto refuse = [](const char* key, std::string expected, std::string_view found) {
    return Diagnostic{"", 0, 0, key, std::move(expected), std::string(found)};
  };
  if (config.static_tile && !traits.takes_static_tile)
    return refuse("static_tile",
                  "false (only " + families_with(&FamilyTraits::takes_static_tile) +
                      " kernels have tiles that the compiler may not know)",
                  "true");
  if (config.gathers_rows && !traits.gathers_rows)
    return refuse("gathers_rows",
                  "false (only " + families_with(&FamilyTraits::gathers_rows) + " kernels have rows by a table)",
                  "true");
  if (config.dtype_b && !traits.takes_narrow_b)
    return refuse(
        "dtype_b",
        "no value (only " + families_with(&FamilyTraits::takes_narrow_b) + " kernels widen B in the main loop)",
        name_of(*config.dtype_b));
  if (config.scale_vectors && !traits.takes_scale_vectors)
    return refuse("scale_vectors",
                  "false (only " + families_with(&FamilyTraits::takes_scale_vectors) +
                      " kernels scale the rows and columns of C)",
                  "true");
  if (config.clblast != ClblastParameters{} && !traits.takes_clblast)
    return refuse("family", families_with(&FamilyTraits::takes_clblast) + " (mdimc and the like are its parameters)",
                  name_of(config.family));
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Family family) {
  return static_cast<std::size_t>(family) < all_families.size() ? family_of(family).name : "?";
}

std::optional<Family> family_from(std::string_view text) {
  const auto found = std::ranges::find_if(all_families, [&](const auto* family) { return family->name == text; });
  if (found == all_families.end()) return std::nullopt;
  return (*found)->family;
}

bool copies_in_bulk(Family family) { return family_of(family).traits.copies_in_bulk; }

std::string family_list() {
  std::string list;
  for (const FamilyDescriptor* family : all_families) {
    const bool is_last = family == all_families.back();
    list += std::string(list.empty() ? "" : is_last ? " or " : ", ") + std::string(family->name);
  }
  return list;
}

bool on_tensor_cores(const KernelConfig& config) {
  switch (traits_of(config).arithmetic) {
    case Arithmetic::ffma: return false;
    case Arithmetic::tensor_cores: return true;
    case Arithmetic::by_type: return config.dtype_in != DataType::f32;
  }
  return false;
}

Result<KernelConfig> resolve(const KernelConfig& config, const GemmShape& shape) {
  const FamilyDescriptor& family = family_of(config.family);
  if (const std::optional<Diagnostic> foreign = foreign_key(config, family.traits)) return *foreign;
  return family.resolve(config, shape);
}

Result<Program> build_program(const BuildRequest& request) { return family_of(request.config.family).build(request); }

}  // namespace noteg::kernels
