#include "sim/compiled/write_json.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "sim/report/write.hpp"

namespace noteg::compiled {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Launch& launch, const std::string& name) {
  Json out = Json::object();
  out["name"] = name;
  out["grid"] = launch.grid;
  out["block"] = launch.block;
  out["dynamic_shared_bytes"] = launch.dynamic_shared;
  return out;
}

}  // namespace

std::string to_json(const CompiledRun& run, const Launch& launch) {
  Json root = Json::parse(report::to_json(run.report));
  root["kernel"] = json_of(launch, run.profile.code.code->name);
  root["kernel"]["registers_per_thread"] = run.report.registers_per_thread;
  root["kernel"]["shared_bytes_per_cta"] = run.report.shared_bytes_per_cta;
  root.erase("shape");
  Json& by_opcode = root["instructions"]["by_opcode"] = Json::object();
  std::map<std::string, double> counts;
  for (std::size_t i = 0; i < run.profile.counts.size(); ++i)
    if (run.profile.counts[i].warps > 0)
      counts[std::string(run.profile.code.steps[i].in->base)] += run.profile.counts[i].warps;
  for (const auto& [name, count] : counts) by_opcode[name] = count;
  root["cold"] = {{"l2_sectors", run.cold.l2_sectors},
                  {"shared_wavefronts", run.cold.shared_wavefronts},
                  {"dram_read_bytes", run.cold.dram_read_bytes},
                  {"dram_write_bytes", run.cold.dram_write_bytes}};
  root["classes"] = {{"cta", run.profile.classes.size()}, {"sampled", run.profile.sampled}};
  root["assumptions"] = run.assumptions;
  root["notes"] = run.notes;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace noteg::compiled
