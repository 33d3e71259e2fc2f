// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/substitution.h"

#include <algorithm>

namespace gpupool::planning {
namespace {

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || other(c); });
}

// Passes each reference to on_name and everything between them to on_text.
template <class OnText, class OnName>
void split(std::string_view text, const OnText& on_text, const OnName& on_name) {
  while (!text.empty()) {
    const auto dollar = text.find('$');
    on_text(text.substr(0, dollar));
    if (dollar == std::string_view::npos) return;
    text.remove_prefix(dollar);
    const auto end = text.starts_with("$(") ? text.find(')') : std::string_view::npos;
    const auto name = end == std::string_view::npos ? std::string_view() : text.substr(2, end - 2);
    if (is_name(name)) {
      on_name(name);
      text.remove_prefix(end + 1);
      continue;
    }
    const std::size_t length = text.starts_with("$$") ? 2 : 1;
    on_text(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

std::vector<std::string> references_in(std::string_view text) {
  std::vector<std::string> names;
  split(text, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

std::string substitute(std::string_view text, const ValueOf& value_of) {
  std::string out;
  split(
      text, [&](std::string_view part) { out += part; },
      [&](std::string_view name) {
        const auto value = value_of(name);
        out += value ? escape_dollars(*value) : "$(" + std::string(name) + ")";
      });
  return out;
}

std::string fill_in(std::string_view text, const ValueOf& value_of) {
  std::string out;
  split(
      text, [&](std::string_view part) { out += part; },
      [&](std::string_view name) { out += value_of(name).value_or("$(" + std::string(name) + ")"); });
  return out;
}

std::string escape_dollars(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '$') out += c;
  }
  return out;
}

}  // namespace gpupool::planning
