// SPDX-License-Identifier: Apache-2.0
#include "objects/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace gpupool::objects {
namespace {

using Json = nlohmann::ordered_json;

// Words of letters and harmless signs are no other type for any reader of YAML 1.1 or 1.2, apart from those
// named.
bool needs_quotes(const std::string& text) {
  static const std::vector<std::string> kWords{"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0) return true;
  std::string lower;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && std::string_view("-_./").find(c) == std::string_view::npos) return true;
    lower += static_cast<char>(std::tolower(byte));
  }
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

void emit_text(YAML::Emitter& out, const std::string& text) {
  const bool is_block =
      text.find('\n') != std::string::npos && text.back() == '\n' && text.front() != ' ' &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' || c == '\n'; });
  if (is_block) {
    out << YAML::Literal << text;
  } else if (needs_quotes(text)) {
    out << YAML::DoubleQuoted << text;
  } else {
    out << text;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser allowed.
void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, inner] : value.items()) {
      out << YAML::Key;
      emit_text(out, key);
      out << YAML::Value;
      emit(out, inner);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& inner : value) emit(out, inner);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    emit_text(out, value.get<std::string>());
  } else {
    out << value.dump();
  }
}

}  // namespace

std::string yaml_of(std::string_view json) {
  YAML::Emitter out;
  emit(out, Json::parse(json));
  return out.c_str();
}

}  // namespace gpupool::objects
