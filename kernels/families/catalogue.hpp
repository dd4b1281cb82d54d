// The list of families: the one file beside its own folder that a new family is written into. What a family is stands
// in its descriptor (kernels/families/family.hpp), which its folder fills.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace noteg::kernels {

struct FamilyDescriptor;

enum class Family : std::uint8_t {
  naive,
  blocked,
  clblast,
  simt,
  mma,
  wgmma,
  tcgen05,
  triton,
  gemv,
  attention,
  flash3
};

extern const FamilyDescriptor naive_family, blocked_family, clblast_family, simt_family, mma_family, wgmma_family,
    tcgen05_family, triton_family, gemv_family, attention_family, flash3_family;

// In the order of the enumerators.
inline constexpr std::array all_families{&naive_family, &blocked_family,   &clblast_family, &simt_family,
                                         &mma_family,   &wgmma_family,     &tcgen05_family, &triton_family,
                                         &gemv_family,  &attention_family, &flash3_family};

[[nodiscard]] inline const FamilyDescriptor& family_of(Family family) {
  return *all_families[static_cast<std::size_t>(family)];
}

[[nodiscard]] std::string_view name_of(Family family);
[[nodiscard]] std::optional<Family> family_from(std::string_view text);

// Families whose tiles come by bulk tensor copies, in clusters and through persistent CTAs.
[[nodiscard]] bool copies_in_bulk(Family family);

// "naive, blocked ... or attention": what a message or a page lists.
[[nodiscard]] std::string family_list();

}  // namespace noteg::kernels
