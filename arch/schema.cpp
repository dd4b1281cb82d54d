#include "arch/schema.hpp"

#include <nlohmann/json.hpp>

#include "arch/field.hpp"
#include "arch/provenance.hpp"

namespace noteg::arch {
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
