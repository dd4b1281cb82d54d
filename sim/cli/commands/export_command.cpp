// noteg export: a model in another form: binary, JSON, ONNX, a C++ header, C, a shared library.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/learn/binary_model.hpp"
#include "sim/learn/export_source.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/onnx.hpp"

namespace noteg::cli {
namespace {

Result<std::string> content_for(const learn::Model& model, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension();
  if (ending == learn::binary_ending || ending == ".json") return learn::write_model(model, path);
  if (ending == ".onnx") return learn::to_onnx(model);
  if (ending == ".hpp" || ending == ".h") return learn::to_source(model, learn::SourceKind::cpp_header);
  if (ending == ".c" || ending == ".so") return learn::to_source(model, learn::SourceKind::c_file);
  return Diagnostic{"", 0, 0, "--out", "a file that ends in .ngm, .json, .onnx, .hpp, .c or .so", "\"" + path + "\""};
}

// The compiler reads the source from a pipe, so that no file is left behind.
int compile(const std::string& source, const std::string& path) {
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::string command = fmt::format("cc -x c -std=c99 -O2 -shared -fPIC -o '{}' - -lm", quoted);
  int status = 1;
  {
    const std::unique_ptr<FILE, void (*)(FILE*)> pipe(popen(command.c_str(), "w"), [](FILE*) {});
    if (pipe) {
      (void)std::fwrite(source.data(), 1, source.size(), pipe.get());
      status = pclose(pipe.get());
    }
  }
  if (status == 0) return done;
  tell(
      fmt::format("no library was made: write a .c file instead, and on a machine with a C compiler run\n"
                  "  cc -std=c99 -O2 -shared -fPIC -o MODEL.so MODEL.c -lm"));
  return failed;
}

}  // namespace

std::vector<Option> export_options() {
  return {{"model", "FILE", "a model that noteg train wrote", false, FileUse::input},
          {"out", "FILE", "what to write; its ending says what: .ngm .json .onnx .hpp .c .so", false, FileUse::output}};
}

std::string export_help() {
  return "usage: noteg export --model MODEL --out FILE\n\n"
         "A model in another form. .ngm is binary, of which one question reads only what it needs; .json can be read\n"
         "and edited; .onnx is for ONNX runtimes; .hpp is a C++ header, .c a C file and .so a shared library that "
         "need\n"
         "nothing of noteg. Intervals are in .ngm and .json alone.\n\n" +
         help_of(export_options());
}

int run_export(const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(words, export_options(), {});
  if (!arguments) return refuse("export", arguments.errors());
  Diagnostics errors;
  for (const char* name : {"model", "out"})
    if (!arguments->has(name)) errors.push_back({"", 0, 0, std::string("--") + name, "a file", "nothing"});
  if (!errors.empty()) return refuse("export", errors);
  const std::string path = *arguments->text("out");
  const Result<learn::Model> model = learn::read_model(*arguments->text("model"));
  if (!model) return refuse("export", model.errors());
  const Result<std::string> content = content_for(*model, path);
  if (!content) return refuse("export", content.errors());
  return path.ends_with(".so") ? compile(*content, path) : write_file(path, *content);
}

}  // namespace noteg::cli
