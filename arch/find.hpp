// Where architecture files are: NOTEG_ARCH_PATH (colon-separated), the source tree that the program was built from,
// share/noteg/arch beside the executable; of each the folder itself, then its gpus/ and generations/. The first that
// has a file wins.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"

namespace noteg::arch {

[[nodiscard]] std::vector<std::filesystem::path> search_directories();

struct KnownGpu {
  std::string id;
  std::filesystem::path file;
};

// Every GPU file in the search directories, sorted by id. Base files (sm_*.yaml) are not GPUs.
[[nodiscard]] std::vector<KnownGpu> known_gpus();

// A path, an id, or one of a file's names; case, spaces, dashes and the maker's name (NVIDIA, Tesla, GeForce) do not
// count. Error: the GPUs that a shortened name may mean, or the nearest names.
[[nodiscard]] Result<std::filesystem::path> find_gpu_file(std::string_view name_or_path);

// Whether a file lies in a folder of the program's own: the source tree or share/noteg/arch.
[[nodiscard]] bool is_shipped(const std::filesystem::path& file);

// The base file of an SM generation: beside the GPU file, else in the search directories.
[[nodiscard]] Result<std::filesystem::path> find_base_file(const std::string& base,
                                                           const std::filesystem::path& gpu_file);

}  // namespace noteg::arch
