// One architecture file into the fields that it holds: keys, kinds, ranges, sources, fitted counts. Rules between
// fields are in arch/validate, how a base and a GPU file are put together in arch/load.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "arch/field.hpp"
#include "arch/provenance.hpp"
#include "sim/support/yaml_reader.hpp"

namespace noteg::arch {

// What a file holds of a spec. The vectors run parallel to fields().
struct PartialSpec {
  GpuSpec gpu;
  std::vector<bool> known;             // a good value was read (or set on the command line)
  std::vector<Provenance> provenance;  // of the fields known
  std::string base;                    // name of the SM generation; empty in a base file

  PartialSpec();
};

// A GPU file names a base; a file without is the base file of an SM generation.
[[nodiscard]] bool is_gpu_file(const YamlDocument& document);

// Reads a base file into spec: every sm.* key must be there.
void read_sm_file(const YamlDocument& document, PartialSpec& spec, Diagnostics& errors);

// Reads a GPU file over spec, which may already hold the base: every chip key must be there, sm.* keys override.
void read_gpu_file(const YamlDocument& document, PartialSpec& spec, Diagnostics& errors);

// Rules between fields, each one sentence. A rule is checked only where all its fields were read.

struct Rule {
  std::string_view sentence;           // what must hold: "at least l2.latency"
  std::vector<std::string_view> keys;  // the first is the one reported; the others explain it
  bool (*holds)(const GpuSpec&);
};

[[nodiscard]] std::span<const Rule> rules();

// Adds an error for each rule that does not hold, at the position of the rule's first field.
void check_rules(const PartialSpec& spec, Diagnostics& errors);

}  // namespace noteg::arch
