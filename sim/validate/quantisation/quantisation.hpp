// What a call of a narrow product does beside it (op linear_quant): the library whose product it is, and the kernels
// that turn activations of two bytes into 8- or 4-bit numbers first, at the memory's speed.
#pragma once

#include <optional>
#include <string_view>

#include "arch/spec.hpp"
#include "kernels/config/config.hpp"
#include "sim/gpu/sim_options.hpp"
#include "sim/power/components.hpp"

namespace noteg::validate {

// The library that a row's notes name; cublas where they name none whose choice of a kernel is public.
[[nodiscard]] gpu::Library library_in_notes(std::string_view notes, std::string_view op);

// Of the kernels beside the product of `shape`. `known_scale`: TensorRT-LLM need not look for the largest number.
// `clock`: of the SMs, their sustained one where none is given; PyTorch's operations are always timed at that.
[[nodiscard]] Seconds quantisation_time(const arch::GpuSpec& gpu, const kernels::GemmShape& shape,
                                        kernels::DataType type, gpu::Library library = gpu::Library::cublas,
                                        bool known_scale = false, std::optional<Hertz> clock = std::nullopt);

// The same kernels' time and bytes, for their share of the board's energy.
[[nodiscard]] power::Activity quantisation_activity(const arch::GpuSpec& gpu, const kernels::GemmShape& shape,
                                                    kernels::DataType type, gpu::Library library,
                                                    bool known_scale = false,
                                                    std::optional<Hertz> clock = std::nullopt);

}  // namespace noteg::validate
