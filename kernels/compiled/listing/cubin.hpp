// Cubins: ELF files of machine code. Their instructions are read through nvdisasm, where there is one; sizes of
// parameters, registers and shared memory come from their own sections. Every offset is checked: a file may be hostile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/compiled/launch_file.hpp"
#include "kernels/compiled/listing/listing.hpp"

namespace noteg::compiled {

struct CubinKernel {
  std::string name;
  int registers = 0;              // per thread
  std::int64_t shared_bytes = 0;  // static
  int barriers = 0;
  std::int64_t parameter_bytes = 0;
  struct Parameter {
    std::int64_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;  // in their order
};

struct Cubin {
  int sm = 0;
  std::vector<CubinKernel> kernels;
};

[[nodiscard]] Result<Cubin> read_cubin(const std::filesystem::path& path);
[[nodiscard]] Result<Cubin> parse_cubin(std::string_view bytes, const std::string& file);

// What nvdisasm (in PATH or CUDA_HOME/bin) prints of it. Error: none is there; says which command to run where one is.
[[nodiscard]] Result<Listing> disassemble(const std::filesystem::path& path);

// Registers and shared memory of the launch's kernel, where its file does not say them. Errors: arguments that do not
// fit the parameters.
[[nodiscard]] Diagnostics apply_cubin(const std::filesystem::path& path, Launch& launch);

}  // namespace noteg::compiled
