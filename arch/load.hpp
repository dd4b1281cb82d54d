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

// Ids of the GPUs in the search path, sorted.
[[nodiscard]] std::vector<std::string> list_gpu_ids();

// What a good file holds. path: a GPU, found as by find_gpu_file, or the base file of an SM generation.
struct FileSummary {
  std::string file;
  bool gpu = false;  // else a base file
  int numbers = 0;   // in this file, not in its base
  int sourced = 0, fitted = 0, guessed = 0;
};
[[nodiscard]] Result<FileSummary> check_file(const std::string& path);

// Architecture files are found by name in the places of the search path: those of NOTEG_ARCH_PATH (colon-separated),
// the source tree that the program was built from, share/noteg/arch beside the executable. A file lies in the place
// itself, or anywhere below its gpus/ or generations/. The first place that has a name wins.

struct KnownGpu {
  std::string id;
  std::filesystem::path file;
  std::vector<std::filesystem::path> others;  // of the same name in the same place: a mistake, told who asks for it
};

// Every GPU file in the search path, sorted by id. Base files (sm_*.yaml) are not GPUs.
[[nodiscard]] std::vector<KnownGpu> known_gpus();

// A path, an id, or one of a file's names; case, spaces, dashes and the maker's name (NVIDIA, Tesla, GeForce) do not
// count. Error: the GPUs that a shortened name may mean, the files that bear one name, or the nearest names.
[[nodiscard]] Result<std::filesystem::path> find_gpu_file(std::string_view name_or_path);

// Whether a file lies in a place of the program's own: the source tree or share/noteg/arch.
[[nodiscard]] bool is_shipped(const std::filesystem::path& file);

// The base file of an SM generation: beside the GPU file, else in the search path.
[[nodiscard]] Result<std::filesystem::path> find_base_file(const std::string& base,
                                                           const std::filesystem::path& gpu_file);

}  // namespace noteg::arch
