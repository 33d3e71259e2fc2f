// SPDX-License-Identifier: Apache-2.0
#include "objects/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

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
      text.find('\n') != std::string::npos && text.back() == '\n' && text.front() > ' ' &&
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
  } else if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << value.dump();
  }
}

// The value of a plain scalar, as go-yaml 2 resolves it.
Json plain_value(const std::string& text) {
  static const std::vector<std::string> kNull{"", "~", "null", "Null", "NULL"};
  static const std::vector<std::string> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static const std::vector<std::string> kFalse{"false", "False", "FALSE", "no", "No",
                                               "NO",    "off",   "Off",   "OFF"};
  const auto is_one = [&](const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  if (is_one(kNull)) return nullptr;
  if (is_one(kTrue)) return true;
  if (is_one(kFalse)) return false;
  const char* const end = text.data() + text.size();
  const char* const begin = text.data() + (text.front() == '+' ? 1 : 0);
  std::int64_t whole = 0;
  const bool octal =
      text.size() > 1 && text.front() == '0' && text.find_first_not_of("01234567") == std::string::npos;
  if (const auto [rest, error] = std::from_chars(begin, end, whole, octal ? 8 : 10);
      error == std::errc{} && rest == end) {
    return whole;
  }
  double number = 0;
  const bool digits = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (const auto [rest, error] = std::from_chars(begin, end, number);
      digits && error == std::errc{} && rest == end) {
    return number;
  }
  return text;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as yaml-cpp's parser allowed.
Json json_of_node(const YAML::Node& node) {
  if (node.IsSequence()) {
    Json array = Json::array();
    for (const auto& inner : node) array.push_back(json_of_node(inner));
    return array;
  }
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& member : node) object[member.first.as<std::string>()] = json_of_node(member.second);
    return object;
  }
  if (!node.IsScalar()) return nullptr;
  return node.Tag() == "?" ? plain_value(node.Scalar()) : Json(node.Scalar());
}

}  // namespace

base::Result<std::vector<std::string>> json_of_yaml(const std::string& yaml) {
  std::vector<std::string> documents;
  try {
    for (const YAML::Node& document : YAML::LoadAll(yaml)) {
      if (document.IsNull() || !document.IsDefined()) continue;
      documents.push_back(json_of_node(document).dump());
    }
  } catch (const YAML::Exception& error) {
    return base::fail(base::ErrorCode::kParse, error.what());
  } catch (const Json::exception&) {
    return base::fail(base::ErrorCode::kParse, "it is no UTF-8");
  }
  return documents;
}

std::string yaml_of(std::string_view json) {
  YAML::Emitter out;
  emit(out, Json::parse(json));
  return out.c_str();
}

}  // namespace gpupool::objects
