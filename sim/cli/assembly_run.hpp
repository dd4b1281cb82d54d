// noteg simulate --asm: a micro-kernel in assembly on one SM.
#pragma once

#include "arch/spec.hpp"
#include "sim/cli/kernel_options.hpp"
#include "sim/cli/options.hpp"
#include "sim/gpu/switches.hpp"

namespace noteg::cli {

// Runs the file named by --asm and prints what assembly_view.hpp says. Returns the exit status.
[[nodiscard]] int run_assembly(const Arguments& arguments, const arch::GpuSpec& gpu, const gpu::Switches& switches,
                               Format format);

[[nodiscard]] std::vector<Option> assembly_options();

}  // namespace noteg::cli
