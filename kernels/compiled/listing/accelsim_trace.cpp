#include "kernels/compiled/listing/accelsim_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "kernels/compiled/emulator/cta.hpp"

namespace noteg::compiled {
namespace {

constexpr std::uint64_t shared_base = 0x7fff00000000, local_base = 0x7ffe00000000;

// What the warps of a CTA execute, in their order.
class Tracer : public WarpWatcher {
 public:
  struct Record {
    std::int32_t at = 0;
    std::uint32_t lanes = 0;
    std::int32_t addresses = -1;
  };

  Tracer(const EmulatedCode& code, int warps) : records(static_cast<std::size_t>(warps)), code_(code) {}

  void enters(int warp, std::int32_t block, std::uint32_t lanes) override {
    const Block& b = code_.blocks[static_cast<std::size_t>(block)];
    for (std::int32_t i = b.begin; i < b.end; ++i) records[static_cast<std::size_t>(warp)].push_back({i, lanes, -1});
    count += static_cast<std::uint64_t>(b.end - b.begin);
  }
  void accesses(int warp, const Access& access) override {
    std::vector<Record>& all = records[static_cast<std::size_t>(warp)];
    const auto at = std::find_if(all.rbegin(), all.rend(), [&](const Record& r) { return r.at == access.at; });
    if (at == all.rend()) return;
    at->lanes = access.lanes;
    at->addresses = static_cast<std::int32_t>(addresses.size());
    addresses.push_back(access.address.value);
  }
  void assumes(std::int32_t, bool) override {}
  std::optional<std::size_t> position(int) const override { return std::nullopt; }
  bool repeats(int, std::size_t, std::size_t, std::size_t) const override { return false; }
  void repeat(int, std::size_t, std::size_t, std::int64_t) override {}

  std::vector<std::vector<Record>> records;  // by warp
  std::vector<std::array<std::uint64_t, 32>> addresses;
  std::uint64_t count = 0;

 private:
  const EmulatedCode& code_;
};

bool is_register(const Operand& o) { return o.kind == Kind::reg || o.kind == Kind::memory; }

void append_registers(std::string& out, const Instruction& in, std::size_t begin, std::size_t end) {
  std::string names;
  int n = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_register(in.operand[i]) || in.operand[i].index < 0) continue;
    names += fmt::format("R{} ", in.operand[i].index);
    ++n;
  }
  out += fmt::format("{} {}", n, names);
}

// Width, and where the lanes point: one base and a stride where there is one, else each.
void append_addresses(std::string& out, int width, std::uint32_t lanes, const std::array<std::uint64_t, 32>& address,
                      std::uint64_t base) {
  const auto first = static_cast<std::size_t>(std::countr_zero(lanes));
  const std::uint64_t origin = address[first] + base;
  const bool dense = ((lanes >> first) & ((lanes >> first) + 1)) == 0;
  const std::int64_t stride =
      std::popcount(lanes) > 1 && dense ? static_cast<std::int64_t>(address[first + 1] - address[first]) : 0;
  bool even = dense;
  for (std::size_t i = first; i < 32 && even; ++i)
    if ((lanes >> i & 1) != 0)
      even = address[i] + base == origin + static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(i - first);
  if (even) {
    out += fmt::format("{} 1 {:#x} {} ", width, origin, stride);
    return;
  }
  out += fmt::format("{} 0 ", width);
  for (std::size_t i = 0; i < 32; ++i)
    if ((lanes >> i & 1) != 0) out += fmt::format("{:#x} ", address[i] + base);
}

void append_line(std::string& out, const Step& step, const Tracer::Record& record, const Tracer& tracer) {
  const Instruction& in = *step.in;
  out += fmt::format("{:04x} {:08x} ", in.address, record.lanes);
  append_registers(out, in, 0, step.destinations);
  out += fmt::format("{}{} ", in.base, in.modifiers);
  append_registers(out, in, step.destinations, in.operands);
  const bool shared = step.semantics == Semantics::load_shared || step.semantics == Semantics::store_shared ||
                      step.semantics == Semantics::load_matrix || step.semantics == Semantics::store_matrix ||
                      step.semantics == Semantics::atomic_shared;
  if (record.addresses >= 0 && record.lanes != 0)
    append_addresses(out, step.bytes, record.lanes, tracer.addresses[static_cast<std::size_t>(record.addresses)],
                     shared ? shared_base : 0);
  else
    out += "0 ";
  std::int64_t immediate = 0;
  for (std::size_t i = step.destinations; i < in.operands; ++i)
    if (in.operand[i].kind == Kind::integer && !in.operand[i].is_float) immediate = in.operand[i].value;
  out += fmt::format("{}\n", immediate);
}

std::string head_of(const TraceRequest& request) {
  const Launch& launch = *request.launch;
  return fmt::format(
      "-kernel name = {}\n-kernel id = 1\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n-shmem = {}\n-nregs = {}\n"
      "-binary version = {}\n-cuda stream id = 0\n-shmem base_addr = {:#018x}\n-local mem base_addr = {:#018x}\n"
      "-nvbit version = none\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
      "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
      "[mem_addresses] immediate\n\n",
      request.code->name, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
      launch.block[2], request.shared_bytes, request.registers, request.listing->sm, shared_base, local_base);
}

}  // namespace

Diagnostics write_accelsim_trace(const TraceRequest& request, const std::filesystem::path& folder) {
  const auto cannot = [&](const std::filesystem::path& path) {
    return Diagnostics{{path.string(), 0, 0, "--accelsim-trace", "a folder that can be written to", "one that cannot"}};
  };
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::ofstream list(folder / "kernelslist.g"), trace(folder / "kernel-1.traceg");
  for (const LaunchMemory::Buffer& buffer : request.memory->buffers())
    list << fmt::format("MemcpyHtoD,{:#018x},{}\n", buffer.base, buffer.bytes);
  list << "kernel-1.traceg\n";
  trace << head_of(request);
  const EmulatedCode code = prepare(*request.listing, *request.code, Wanted::addresses);
  const Launch& launch = *request.launch;
  std::uint64_t traced = 0;
  for (std::int64_t index = 0; index < launch.ctas(); ++index) {
    const std::array<std::uint32_t, 3> id{static_cast<std::uint32_t>(index % launch.grid[0]),
                                          static_cast<std::uint32_t>(index / launch.grid[0] % launch.grid[1]),
                                          static_cast<std::uint32_t>(index / launch.grid[0] / launch.grid[1])};
    EmulatedCta cta(code, launch, *request.memory, id);
    Tracer tracer(code, cta.warps());
    while (!cta.finished() && traced + tracer.count <= most_traced) cta.run_round(tracer);
    traced += tracer.count;
    if (traced > most_traced)
      return {
          {launch.file, 0, 0, "grid", fmt::format("a launch of at most {} warp instructions", most_traced), "more"}};
    std::string text = fmt::format("#BEGIN_TB\n\nthread block = {},{},{}\n", id[0], id[1], id[2]);
    for (std::size_t warp = 0; warp < tracer.records.size(); ++warp) {
      text += fmt::format("\nwarp = {}\ninsts = {}\n", warp, tracer.records[warp].size());
      for (const Tracer::Record& record : tracer.records[warp])
        append_line(text, code.steps[static_cast<std::size_t>(record.at)], record, tracer);
    }
    trace << text << "\n#END_TB\n\n";
  }
  list.close();
  trace.close();
  return list && trace ? Diagnostics{} : cannot(folder);
}

}  // namespace noteg::compiled
