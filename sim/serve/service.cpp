#include "sim/serve/service.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "sim/serve/session.hpp"

namespace noteg::serve {

std::shared_ptr<Caches> Session::caches() {
  const std::lock_guard lock(mutex_);
  if (++uses_ % most_uses == 0) caches_ = std::make_shared<Caches>();
  return caches_;
}

Result<std::shared_ptr<const arch::GpuSpec>> Session::gpu(const std::string& name, const arch::Overrides& overrides) {
  std::string key = name;
  for (const auto& [changed, value] : overrides) key += "\n" + changed + "\n" + value;
  return gpus_.get(key, [&]() -> Result<std::shared_ptr<const arch::GpuSpec>> {
    Result<arch::GpuSpec> loaded = arch::load_gpu(name, overrides);
    if (!loaded) return loaded.errors();
    return std::make_shared<const arch::GpuSpec>(std::move(*loaded));
  });
}

Result<std::shared_ptr<const LoadedModel>> Session::model(const std::string& path) {
  return models_.get(path, [&]() -> Result<std::shared_ptr<const LoadedModel>> {
    Result<learn::Model> read = learn::read_model(path);
    if (!read) return read.errors();
    return std::make_shared<const LoadedModel>(std::move(*read));
  });
}

namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 16;

// Brackets within brackets, outside of texts: what is deeper than any request is not read at all.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return compact(value);
}

// The words of a command line that say what a key says; false: no option can.
bool add_words(const std::string& key, const Json& value, std::vector<std::string>& words) {
  std::string option = "--" + key;
  std::ranges::replace(option, '_', '-');
  if (value.is_null() || (value.is_boolean() && !value.get<bool>())) return true;
  if (value.is_boolean()) {
    words.push_back(option);
    return true;
  }
  if (value.is_object()) {  // set: {"arch.l2.size": "24MiB"}
    for (const auto& [name, each] : value.items()) {
      if (each.is_structured()) return false;
      words.push_back(option + "=" + name + "=" + scalar_text(each));
    }
    return true;
  }
  if (!value.is_array()) {
    words.push_back(option + "=" + scalar_text(value));
    return true;
  }
  const bool numbers = !value.empty() && std::ranges::all_of(value, [](const Json& v) { return v.is_number(); });
  const std::string_view between = key == "shape" || key == "tile" ? "x" : ",";  // extents, or a list with commas
  std::string joined;
  for (const Json& each : value) {
    if (each.is_structured()) return false;
    if (numbers)
      joined += (joined.empty() ? "" : std::string(between)) + scalar_text(each);
    else
      words.push_back(option + "=" + scalar_text(each));
  }
  if (numbers) words.push_back(option + "=" + joined);
  return true;
}

// The first key that an object of the text has twice. JSON leaves open which of the two counts.
struct RepeatedKey {
  std::vector<std::set<std::string>> seen;  // of the objects that are open
  std::optional<std::string> found;

  bool operator()(int, Json::parse_event_t event, const Json& part) {
    if (event == Json::parse_event_t::object_start) seen.emplace_back();
    if (event == Json::parse_event_t::object_end) seen.pop_back();
    if (event != Json::parse_event_t::key || found) return true;
    if (auto key = part.get<std::string>(); !seen.back().insert(key).second) found = std::move(key);
    return true;
  }
};

// What a JSON text says without blanks, each number and text as it is written: the digits of a number would not all
// pass through a double.
std::string without_blanks(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted || (c != ' ' && c != '\t' && c != '\r' && c != '\n')) out += c;
    if (quoted && c == '\\')
      out += text[++i];
    else if (c == '"')
      quoted = !quoted;
  }
  return out;
}

// The value of a key of an object that was read before, as it is written.
std::string written_value(std::string_view object, std::string_view wanted) {
  const std::string text = without_blanks(object);
  int depth = 0;
  std::size_t begin = 0;  // of a key, then of its value
  std::string key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      while (text[++i] != '"')
        if (text[i] == '\\') ++i;
      continue;
    }
    if (depth == 1 && c == ':') {
      key = Json::parse(text.substr(begin, i - begin)).get<std::string>();
      begin = i + 1;
    } else if (depth == 1 && (c == ',' || c == '}')) {
      if (key == wanted) return text.substr(begin, i - begin);
      begin = i + 1;
    }
    if (c == '{' || c == '[') {
      if (++depth == 1) begin = i + 1;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return "null";
}

struct Parsed {
  std::string command;
  std::vector<std::string> words;
  std::string error;
};

void add_arguments(const Json& value, Parsed& out) {
  const auto add = [&](const Json& word) {
    if (word.is_string())
      out.words.push_back(word.get<std::string>());
    else
      out.error = "arguments: expected texts, found " + compact(word).substr(0, 80);
  };
  if (!value.is_array()) return add(value);
  for (const Json& word : value) add(word);
}

Parsed parse(const Json& request) {
  Parsed out;
  for (const auto& [key, value] : request.items()) {
    if (key == "command") {
      if (value.is_string()) out.command = value.get<std::string>();
    } else if (key == "arguments") {
      add_arguments(value, out);
    } else if (key.empty() || !add_words(key, value, out.words)) {
      out.error = fmt::format("{}: expected a text, a number, true or a list of them, found {}", key,
                              compact(value).substr(0, 80));
    }
  }
  if (out.command.empty() && out.error.empty())
    out.error = "command: expected simulate, compare, tune, predict or workload, found nothing";
  return out;
}

std::string refused(std::string_view error) {
  return fmt::format("\"status\":2,\"error\":{}", compact(Json(std::string(error))));
}

// Everything of an answer but the id. What is no JSON (--format text, csv) is a text of its own.
std::string body_of(const Ran& ran) {
  std::string body = fmt::format("\"status\":{}", ran.status);
  if (!ran.out.empty()) {
    const Json result = Json::parse(ran.out, nullptr, false);
    body += result.is_structured() ? ",\"result\":" + compact(result) : ",\"text\":" + compact(Json(ran.out));
  }
  if (!ran.err.empty()) body += ",\"error\":" + compact(Json(ran.err));
  return body;
}

std::string with_id(const std::string& id, const std::string& body) { return "{\"id\":" + id + "," + body + "}"; }

}  // namespace

std::string Service::refusal(std::string_view error) { return with_id("null", refused(error)); }

std::string Service::answer(std::string_view line) {
  if (line.size() > longest_line) return refusal(fmt::format("expected a line of at most {} bytes", longest_line));
  if (is_too_deep(line)) return refusal(fmt::format("expected at most {} brackets within each other", deepest));
  RepeatedKey repeated;
  Json request = Json::parse(line, std::ref(repeated), false);
  if (!request.is_object())
    return refusal(R"(expected a JSON object such as {"command": "simulate", ...}, found something else)");
  std::string id = "null";
  if (const auto found = request.find("id"); found != request.end()) {
    id = written_value(line, "id");
    request.erase(found);
  }
  if (repeated.found) return with_id(id, refused(*repeated.found + ": expected it once, found it again"));
  const std::string key = compact(request);
  if (const std::shared_ptr<const std::string> known = remembered(key)) return with_id(id, *known);
  const Parsed parsed = parse(request);
  if (!parsed.error.empty()) return with_id(id, refused(parsed.error));
  const Ran ran = run_(parsed.command, parsed.words);
  const auto body = std::make_shared<const std::string>(body_of(ran));
  if (ran.status == 0) remember(key, body);
  return with_id(id, *body);
}

std::shared_ptr<const std::string> Service::remembered(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(request);
  return found == answers_.end() ? nullptr : found->second;
}

void Service::remember(const std::string& request, std::shared_ptr<const std::string> body) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = request.size() + body->size();
  if (bytes_ + size > most_remembered) {
    answers_.clear();
    bytes_ = 0;
  }
  if (answers_.try_emplace(request, std::move(body)).second) bytes_ += size;
}

}  // namespace noteg::serve
