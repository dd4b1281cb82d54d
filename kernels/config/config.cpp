#include "kernels/config/config.hpp"

#include <array>

namespace noteg::kernels {
namespace {

template <class Enum>
struct Named {
  std::string_view text;
  Enum value;
};

template <class Enum, std::size_t N>
std::string_view text_of(const std::array<Named<Enum>, N>& table, Enum value) {
  for (const Named<Enum>& entry : table)
    if (entry.value == value) return entry.text;
  return "?";
}

template <class Enum, std::size_t N>
std::optional<Enum> value_of(const std::array<Named<Enum>, N>& table, std::string_view text) {
  for (const Named<Enum>& entry : table)
    if (entry.text == text) return entry.value;
  return std::nullopt;
}

constexpr std::array<Named<Raster>, 2> rasters{{{"along_m", Raster::along_m}, {"along_n", Raster::along_n}}};
constexpr std::array<Named<SplitKMode>, 3> split_k_modes{
    {{"none", SplitKMode::none}, {"serial", SplitKMode::serial}, {"parallel", SplitKMode::parallel}}};
constexpr std::array<Named<SharedLayout>, 3> shared_layouts{
    {{"swizzled", SharedLayout::swizzled}, {"padded", SharedLayout::padded}, {"plain", SharedLayout::plain}}};
constexpr std::array<Named<Schedule>, 3> schedules{
    {{"ws", Schedule::ws}, {"coop", Schedule::coop}, {"pingpong", Schedule::pingpong}}};
constexpr std::array<Named<Flavor>, 5> flavors{{{"generic", Flavor::generic},
                                                {"cutlass", Flavor::cutlass},
                                                {"cublas", Flavor::cublas},
                                                {"xmma", Flavor::xmma},
                                                {"deep_gemm", Flavor::deep_gemm}}};

}  // namespace

Diagnostics check_shape(const GemmShape& shape) {
  constexpr std::int64_t largest_extent = 2147483647;     // grids and leading dimensions are 32-bit
  constexpr double largest_work = 4611686018427387904.0;  // 2^62 FLOP: counts stay exact in 64 bits
  Diagnostics errors;
  const auto check = [&](const char* key, std::int64_t value) {
    if (value < 1 || value > largest_extent)
      errors.push_back({"", 0, 0, key, "an integer from 1 to 2147483647", std::to_string(value)});
  };
  check("shape.m", shape.m);
  check("shape.n", shape.n);
  check("shape.k", shape.k);
  check("batch", shape.batch);
  if (errors.empty() && shape.flops() > largest_work)
    errors.push_back({"", 0, 0, "shape", "at most 2^62 operations (2 x M x N x K x batch)",
                      std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) +
                          " batch " + std::to_string(shape.batch)});
  return errors;
}

double bytes_of_b(const KernelConfig& config) { return stored_bytes_of(config.dtype_b.value_or(config.dtype_in)); }

std::string_view name_of(Raster raster) { return text_of(rasters, raster); }
std::optional<Raster> raster_from(std::string_view text) { return value_of(rasters, text); }
std::string_view name_of(SplitKMode mode) { return text_of(split_k_modes, mode); }
std::optional<SplitKMode> split_k_mode_from(std::string_view text) { return value_of(split_k_modes, text); }
std::string_view name_of(SharedLayout layout) { return text_of(shared_layouts, layout); }
std::optional<SharedLayout> shared_layout_from(std::string_view text) { return value_of(shared_layouts, text); }
std::string_view name_of(Schedule schedule) { return text_of(schedules, schedule); }
std::optional<Schedule> schedule_from(std::string_view text) { return value_of(schedules, text); }
std::string_view name_of(Flavor flavor) { return text_of(flavors, flavor); }
std::optional<Flavor> flavor_from(std::string_view text) { return value_of(flavors, text); }

}  // namespace noteg::kernels
