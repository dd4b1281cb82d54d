#include "kernels/config/config_file.hpp"

#include <sstream>

#include "kernels/families/family.hpp"

namespace noteg::kernels {
namespace {

class Writer {
 public:
  void comment(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) out_ += "# " + line + "\n";
  }
  void line(std::string_view key, std::string_view value) {
    out_ += std::string(key) + ": " + std::string(value) + "\n";
  }
  void line(std::string_view key, std::int64_t value) { line(key, std::string_view(std::to_string(value))); }
  void flag(std::string_view key, bool value) { line(key, std::string_view(value ? "true" : "false")); }
  template <class Number>
  void given(std::string_view key, const std::optional<Number>& value) {
    if (value) line(key, static_cast<std::int64_t>(*value));
  }
  void pair(std::string_view key, const std::optional<int>& m, const std::optional<int>& n) {
    if (m && n) line(key, std::string_view(std::to_string(*m) + "x" + std::to_string(*n)));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string extents(int m, int n, int k) {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

void write_launch(Writer& w, const KernelConfig& c) {
  if (c.split_k > 1) {
    w.line("split_k", c.split_k);
    w.line("split_k_mode", name_of(c.split_k_mode));
  }
  if (c.raster != Raster::along_m) w.line("raster", name_of(c.raster));
  if (c.swizzle_log2 > 0) w.line("swizzle_log2", c.swizzle_log2);
  if (c.reads_c) w.flag("reads_c", true);
  if (c.gathers_rows) w.flag("gathers_rows", true);
  if (c.bias) w.flag("bias", true);
}

void write_clblast(Writer& w, const ClblastParameters& p) {
  const std::pair<std::string_view, int> numbers[] = {{"mdimc", p.mdimc}, {"ndimc", p.ndimc}, {"mdima", p.mdima},
                                                      {"ndimb", p.ndimb}, {"kwi", p.kwi},     {"vwm", p.vwm},
                                                      {"vwn", p.vwn}};
  for (const auto& [key, value] : numbers) w.line(key, value);
  w.flag("strm", p.strm);
  w.flag("strn", p.strn);
  w.flag("sa", p.sa);
  w.flag("sb", p.sb);
}

}  // namespace

std::string to_yaml(const KernelConfig& c, const std::string& comment) {
  Writer w;
  w.comment(comment);
  if (!c.name.empty()) w.line("name", quoted(c.name));
  w.line("family", name_of(c.family));
  if (c.flavor != Flavor::generic) w.line("flavor", name_of(c.flavor));
  w.line("dtype_in", name_of(c.dtype_in));
  if (c.dtype_b) w.line("dtype_b", name_of(*c.dtype_b));
  w.line("dtype_acc", name_of(c.dtype_acc));
  w.line("dtype_out", name_of(c.dtype_out));
  w.line("layout", name_of(c.layout));
  w.line("tile", extents(c.tile.m, c.tile.n, c.tile.k));
  w.pair("warp_tile", c.warp_m, c.warp_n);
  w.pair("thread_tile", c.thread_m, c.thread_n);
  if (c.instruction != Tile{}) w.line("instruction", extents(c.instruction.m, c.instruction.n, c.instruction.k));
  if (c.sparse) w.flag("sparse", true);
  if (c.cluster_m * c.cluster_n > 1) w.line("cluster", std::to_string(c.cluster_m) + "x" + std::to_string(c.cluster_n));
  if (c.schedule) w.line("schedule", name_of(*c.schedule));
  if (c.a_in_registers) w.flag("a_in_registers", true);
  if (c.scale_vectors) w.flag("scale_vectors", true);
  if (c.shared_layout.value_or(SharedLayout::swizzled) != SharedLayout::swizzled)
    w.line("shared_layout", name_of(*c.shared_layout));
  if (c.persistent) w.flag("persistent", *c.persistent);
  if (c.static_tile) w.flag("static_tile", true);
  w.given("threads", c.threads);
  w.given("stages", c.stages);
  if (c.async_copy) w.flag("async_copy", *c.async_copy);
  if (c.sliced_k.value_or(1) != 1) w.given("sliced_k", c.sliced_k);
  w.given("registers", c.registers);
  w.given("shared_bytes", c.shared_bytes);
  w.given("align_a", c.align_a);
  w.given("align_b", c.align_b);
  w.given("align_c", c.align_c);
  if (traits_of(c).takes_clblast) write_clblast(w, c.clblast);
  write_launch(w, c);
  return w.take();
}

}  // namespace noteg::kernels
