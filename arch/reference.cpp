#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "arch/field.hpp"
#include "arch/print.hpp"
#include "arch/provenance.hpp"
#include "arch/read_spec.hpp"

namespace noteg::arch {

namespace {

constexpr std::string_view introduction = R"(# Architecture files: every key

This page is written by the program from the table that also loads and checks the files (`arch/field.hpp`); a test fails
where it is out of date. Do not edit it by hand: run `NOTEG_UPDATE_GENERATED=1 test_arch`.

## Two kinds of file

- A **base file** (`sm_80.yaml`, `sm_86.yaml`, `sm_89.yaml`, `sm_90.yaml`) describes the SM of a generation: all keys below `sm`.
- A **GPU file** names its `base` and holds what the product has: all keys that are not below `sm`. It may override single
  SM keys in a section `sm`, each with its own source.

A GPU is found by its file name without `.yaml`, by its `name` or one of its `names`, all in any case, or by a path. Directories
searched: those in `NOTEG_ARCH_PATH`, `arch/` of the source tree, `share/noteg/arch` beside the program; of each the files in
it, and those at any depth below its `gpus/` and `generations/`. Two files of one name in a directory are a mistake; the first
directory that has a name wins. The base is looked for beside the GPU file first. Any key can be overridden on the command line: `--set arch.l2.size="48 MiB"`.

## How a number is written

```yaml
l2:
  size: {value: 36 MiB, source: "SPEC"}
  latency: {value: 280 cycles, guess: "middle of RTX 4090 and L40", source: "LUO24, GPUB"}
```

Every number says where it comes from, by at least one of
- `source: "KEY, KEY: detail"`: read there; the keys are listed at the end of this page;
- `fitted: "data"`: chosen so that the model meets these measurements; at most {fitted_sm} in a base file and {fitted_gpu} in a GPU file;
- `guess: "why"`: neither read nor fitted.

A GPU file also holds `base` (the generation), `name`, `names` (a sequence: how tools and measured files print the product) and
`chip` (the die). These and the keys of kind text need no source.

)";

std::string kind_text(const Field& field) {
  switch (field.kind) {
    case Kind::count: return "integer";
    case Kind::fraction: return "number";
    case Kind::flag: return "true or false";
    case Kind::quantity: return std::string(base_text(field.unit));
    case Kind::sizes: return "sequence of " + std::string(base_text(field.unit));
    case Kind::energies: return "names with " + std::string(base_text(field.unit));
    case Kind::forms: return "forms with two times in " + std::string(base_text(field.unit));
    case Kind::text: return "text";
  }
  return {};
}

std::string range_text(const Field& field) {
  if (field.kind == Kind::flag || field.kind == Kind::text) return "";
  Field one = field;
  if (one.kind == Kind::sizes || one.kind == Kind::energies || one.kind == Kind::forms) one.kind = Kind::quantity;
  return format_value(one, Value{field.low}) + " to " + format_value(one, Value{field.high});
}

std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

std::string key_tables() {
  std::string page;
  std::string_view section = "none";
  for (const Field& field : fields()) {
    // One table per block of a file; the pipes read better together.
    std::string_view here = section_of(field.key);
    if (here.starts_with("sm.pipes")) here = "sm.pipes";
    if (here != section) {
      section = here;
      page += fmt::format("## {}\n\n| key | unit | range | meaning | used by |\n| --- | --- | --- | --- | --- |\n",
                          here.empty() ? "Top level of a GPU file" : "`" + std::string(here) + "`");
    }
    page += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", field.key, kind_text(field), range_text(field), field.doc,
                        field.used_by, field.fittable ? "; may be calibrated" : "");
    const bool last = &field == &fields().back();
    if (last || section_of((&field + 1)->key) != section_of(field.key)) {
      const bool stays = !last && here == "sm.pipes" && (&field + 1)->key.starts_with("sm.pipes");
      if (!stays) page += "\n";
    }
  }
  return page;
}

std::string rule_list() {
  std::string page = "## Rules between keys\n\n";
  for (const Rule& rule : rules()) page += fmt::format("- `{}` must be {}\n", rule.keys.front(), rule.sentence);
  return page + "\n";
}

std::string source_list() {
  std::string page = "## Source keys\n\n| key | what |\n| --- | --- |\n";
  for (const SourceKey& known : source_keys()) page += fmt::format("| {} | {} |\n", known.key, known.what);
  return page;
}

std::string unit_list() {
  std::string page = "## Units\n\n| quantity | units |\n| --- | --- |\n";
  for (const Unit unit : {Unit::bytes, Unit::bytes_per_cycle, Unit::bytes_per_second, Unit::cycles, Unit::hertz,
                          Unit::seconds, Unit::watts}) {
    page += fmt::format("| {} | {} |\n", describe(unit), unit_texts(unit, ", "));
  }
  return page + "\nKiB, MiB, GiB are powers of 1024; KB, MB, GB powers of 1000. clk is a cycle of the SM clock.\n\n";
}

std::string replace(std::string text, std::string_view what, int number) {
  return text.replace(text.find(what), what.size(), std::to_string(number));
}

}  // namespace

std::string reference_page() {
  const std::string start =
      replace(replace(std::string(introduction), "{fitted_sm}", max_fitted_per_sm), "{fitted_gpu}", max_fitted_per_gpu);
  return start + unit_list() + key_tables() + rule_list() + source_list();
}

namespace {

using Json = nlohmann::ordered_json;

Json text_schema(std::string_view description) {
  return {{"type", "string"}, {"minLength", 1}, {"description", description}};
}

Json quantity_schema(Unit unit) {
  return {{"type", "string"}, {"pattern", "^-?[0-9.]+([eE][-+]?[0-9]+)? *(" + unit_texts(unit, "|") + ")$"}};
}

Json value_schema(const Field& field) {
  switch (field.kind) {
    case Kind::count:
      return {{"type", "integer"},
              {"minimum", static_cast<long long>(field.low)},
              {"maximum", static_cast<long long>(field.high)}};
    case Kind::fraction: return {{"type", "number"}, {"minimum", field.low}, {"maximum", field.high}};
    case Kind::flag: return {{"type", "boolean"}};
    case Kind::quantity: return quantity_schema(field.unit);
    case Kind::sizes: return {{"type", "array"}, {"minItems", 1}, {"items", quantity_schema(field.unit)}};
    case Kind::energies: return {{"type", "object"}, {"additionalProperties", quantity_schema(field.unit)}};
    case Kind::forms:
      return {{"type", "object"},
              {"additionalProperties",
               {{"type", "object"},
                {"properties", {{"latency", quantity_schema(field.unit)}, {"interval", quantity_schema(field.unit)}}},
                {"required", {"latency", "interval"}},
                {"additionalProperties", false}}}};
    case Kind::text: break;
  }
  return text_schema(field.doc);
}

Json source_schema() {
  std::string keys;
  for (const SourceKey& known : source_keys()) keys += (keys.empty() ? "" : "|") + std::string(known.key);
  return {{"type", "string"}, {"pattern", "^ *(" + keys + ") *(, *(" + keys + ") *)*(:.*)?$"}};
}

Json field_schema(const Field& field) {
  if (!field.needs_source()) return text_schema(field.doc);
  return {{"description", std::string(field.doc) + " Must be " + expectation(field) + "."},
          {"type", "object"},
          {"properties",
           {{"value", value_schema(field)},
            {"source", {{"$ref", "#/$defs/source"}}},
            {"fitted", {{"$ref", "#/$defs/fitted"}}},
            {"on", {{"$ref", "#/$defs/on"}}},
            {"without", value_schema(field)},
            {"guess", {{"$ref", "#/$defs/guess"}}}}},
          {"required", {"value"}},
          {"allOf", {{{"$ref", "#/$defs/sourced"}}}},
          {"dependentRequired", {{"on", {"fitted", "without"}}, {"without", {"on"}}}},
          {"additionalProperties", false}};
}

Json object_schema() {
  return {
      {"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}, {"additionalProperties", false}};
}

// Puts the field at its dotted path below root, opening a section for each component. complete: keys are required.
void place(Json& root, std::string_view path, const Field& field, bool complete) {
  const std::size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  Json& child = root["properties"][name];
  if (child.is_null()) {
    child = dot == std::string_view::npos ? Json{{"$ref", "#/$defs/" + std::string(field.key)}} : object_schema();
    // A unit that not every generation has is a section that may be left out, but not in part.
    if (complete && !(field.optional && dot != std::string_view::npos)) root["required"].push_back(name);
  }
  if (dot != std::string_view::npos) place(child, path.substr(dot + 1), field, complete);
}

Json gpu_schema() {
  Json gpu = object_schema();
  gpu["properties"] = {{"base", text_schema("SM generation, such as sm_89: the name of a base file.")},
                       {"name", text_schema("Name of the product.")},
                       {"names",
                        {{"type", "array"},
                         {"items", text_schema("A name that tools and measured files print for this product.")},
                         {"description", "Names by which measured rows and --arch find this GPU."}}},
                       {"chip", text_schema("Name of the die.")}};
  gpu["required"] = {"base", "name", "names", "chip"};
  for (const Field& field : fields()) {
    if (!field.of_sm()) place(gpu, field.key, field, true);
  }
  for (const Field& field : fields()) {
    if (field.of_sm()) place(gpu, field.key, field, false);  // a GPU may override what its base says
  }
  return gpu;
}

Json sm_schema() {
  Json sm = object_schema();
  for (const Field& field : fields()) {
    if (field.of_sm()) place(sm, field.key, field, true);
  }
  return sm;
}

}  // namespace

std::string json_schema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "NoteG architecture file"},
              {"description", "A GPU (names a base) or an SM generation (the base of GPU files)."},
              {"type", "object"},
              {"if", {{"anyOf", {{{"required", {"base"}}}, {{"required", {"sms"}}}, {{"required", {"names"}}}}}}},
              {"then", {{"$ref", "#/$defs/gpu"}}},
              {"else", {{"$ref", "#/$defs/sm"}}}};
  Json& defs = schema["$defs"];
  defs["gpu"] = gpu_schema();
  defs["sm"] = sm_schema();
  defs["source"] = source_schema();
  defs["fitted"] = text_schema("The data on which the value was fitted.");
  defs["on"] = {{"type", "array"},
                {"minItems", 1},
                {"items", text_schema("Id of a GPU.")},
                {"description", "The GPUs on whose rows the value was fitted."}};
  defs["guess"] = text_schema("Why this value, where no source gives one.");
  defs["sourced"] = {{"anyOf", {{{"required", {"source"}}}, {{"required", {"fitted"}}}, {{"required", {"guess"}}}}}};
  for (const Field& field : fields()) defs[std::string(field.key)] = field_schema(field);
  return schema.dump(1) + "\n";
}

}  // namespace noteg::arch
