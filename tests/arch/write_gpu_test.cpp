// What is written as an architecture file loads as the same GPU with the same origins.
#include "arch/print.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "arch/field.hpp"

namespace noteg::arch {
namespace {

TEST(WriteGpu, EveryShippedGpuComesBackTheSame) {
  const std::string path = (std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_gpu.yaml"));
  for (const std::string& id : list_gpu_ids()) {
    const Result<SourcedGpu> before = load_sourced_gpu(id);
    ASSERT_TRUE(before) << to_string(before.errors());
    std::ofstream(path) << to_yaml(*before, "two\nlines");
    const Result<SourcedGpu> after = load_sourced_gpu(path);
    ASSERT_TRUE(after) << id << "\n" << to_string(after.errors());
    EXPECT_EQ(after->gpu.names, before->gpu.names);
    EXPECT_EQ(after->gpu.chip, before->gpu.chip);
    for (std::size_t i = 0; i < fields().size(); ++i) {
      const Field& field = fields()[i];
      EXPECT_EQ(field.get(after->gpu), field.get(before->gpu)) << id << " " << field.key;
      EXPECT_EQ(after->provenance[i].to_string(), before->provenance[i].to_string()) << id << " " << field.key;
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace noteg::arch
