// Architecture files to specs. Reads the GPU file, the base file that it names, then the overrides, and checks the
// rules between fields; every mistake of all of them in one result. Safe for many threads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/provenance.hpp"
#include "arch/spec.hpp"
#include "sim/support/result.hpp"

namespace noteg::arch {

// KEY=VALUE of --set arch.KEY=VALUE; the "arch." may be there or not. Lists are separated by commas.
using Overrides = std::vector<std::pair<std::string, std::string>>;

// name_or_path: an id (rtx4070) or one of a file's names (NVIDIA L4), in any case, or the path of a file.
[[nodiscard]] Result<GpuSpec> load_gpu(std::string_view name_or_path, const Overrides& overrides = {});

// The same with the origin of each number, parallel to fields().
struct SourcedGpu {
  GpuSpec gpu;
  std::vector<Provenance> provenance;
};
[[nodiscard]] Result<SourcedGpu> load_sourced_gpu(std::string_view name_or_path, const Overrides& overrides = {});

// The base file that a GPU file names. Errors: no YAML, no base, none found.
[[nodiscard]] Result<std::filesystem::path> base_file_of(const std::string& gpu_file);

// Ids of the GPUs in the search directories, sorted.
[[nodiscard]] std::vector<std::string> list_gpu_ids();

// What a good file holds. path: a GPU file or the base file of an SM generation.
struct FileSummary {
  std::string file;
  bool gpu = false;  // else a base file
  int numbers = 0;   // in this file, not in its base
  int sourced = 0, fitted = 0, guessed = 0;
};
[[nodiscard]] Result<FileSummary> check_file(const std::string& path);

}  // namespace noteg::arch
