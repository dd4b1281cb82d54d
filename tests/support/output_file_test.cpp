// Files that are written: whole or not at all, through no stranger's link, with the permissions that were there.
#include "sim/support/output_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace noteg {
namespace {

namespace fs = std::filesystem;

class Outputs : public testing::Test {
 protected:
  Outputs() {
    std::string name = (fs::temp_directory_path() / "noteg_out_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~Outputs() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  [[nodiscard]] unsigned mode(const std::string& name) const {
    struct stat found {};
    return ::stat(path(name).c_str(), &found) == 0 ? found.st_mode & 0777U : 0;
  }
  void write(const std::string& name, const std::string& text) const {
    OutputFile file(path(name));
    file.write(text);
    file.finish();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(Outputs, ReplaceAFileOnlyOnceTheyAreWhole) {
  put("a", "old");
  {
    OutputFile file(path("a"));
    file.write("new");
    EXPECT_EQ(contents("a"), "old");
  }
  EXPECT_EQ(contents("a"), "old");
  EXPECT_EQ(files(), 1u);
  write("a", "new");
  EXPECT_EQ(contents("a"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Outputs, KeepThePermissionsOfWhatTheyReplace) {
  const mode_t before = ::umask(022);
  put("secret", "old");
  fs::permissions(path("secret"), fs::perms::owner_read | fs::perms::owner_write);
  write("secret", "new");
  write("fresh", "new");
  ::umask(077);
  write("private", "new");
  ::umask(before);
  EXPECT_EQ(mode("secret"), 0600U);
  EXPECT_EQ(mode("fresh"), 0644U);
  EXPECT_EQ(mode("private"), 0600U);
}

TEST_F(Outputs, DoNotWriteThroughALinkAtTheirTemporaryName) {
  put("victim", "mine");
  fs::create_symlink(path("victim"), path("a." + std::to_string(getpid()) + ".part"));
  write("a", "new");
  EXPECT_EQ(contents("victim"), "mine");
  EXPECT_EQ(contents("a"), "new");
}

TEST_F(Outputs, FollowTheLinkThatTheUserNamed) {
  put("target", "old");
  fs::create_symlink("target", path("link"));
  write("link", "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents("target"), "new");
  fs::create_symlink("later", path("to_none"));
  write("to_none", "new");
  EXPECT_EQ(contents("later"), "new");
}

TEST_F(Outputs, LeaveTheOtherNamesOfAFileAlone) {
  put("a", "old");
  fs::create_hard_link(path("a"), path("b"));
  write("a", "new");
  EXPECT_EQ(contents("b"), "old");
}

TEST_F(Outputs, SayWhyTheyCannotBeWritten) {
  const auto why = [](const std::string& path) -> std::string {
    try {
      OutputFile file(path);
      file.write("text");
      file.finish();
      return "";
    } catch (const OutputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(why("/dev/full"), "/dev/full: No space left on device");
  EXPECT_EQ(why("/no/such/file"), "/no/such/file: No such file or directory");
  const std::string long_name = path(std::string(250, 'x'));  // no room for the name that it grows under
  EXPECT_EQ(why(long_name), long_name + ": File name too long");
  EXPECT_EQ(why("/dev/null"), "");
}

}  // namespace
}  // namespace noteg
