// The files that a command line names: nothing that a command reads may be what it writes, no two outputs may be one
// file, and what cannot be written is told before the work instead of after it.
#pragma once

#include <vector>

#include "sim/cli/options.hpp"
#include "sim/support/result.hpp"

namespace noteg::cli {

// Files are the same where device and inode are: by whatever name, through links of either kind, inside a folder that
// is read, or as the file that standard output goes to. Devices and pipes may be read and written. Errors: an output
// that is an input or another output; one that lies in no folder, is a folder, or may not be written.
[[nodiscard]] Diagnostics file_errors(const Arguments& arguments, const std::vector<Option>& options,
                                      const Positional& positional);

}  // namespace noteg::cli
