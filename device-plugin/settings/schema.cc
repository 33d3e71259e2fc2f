// SPDX-License-Identifier: Apache-2.0
#include "settings/schema.h"

#include <algorithm>
#include <map>

namespace gpupool::settings {
namespace {

std::string names_of(const Takers& takers) {
  std::string names;
  for (const auto& [name, taker] : takers) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

tl::unexpected<base::Error> bad_value(int line, const std::string& path, const std::string& what) {
  return base::fail(base::ErrorCode::kInvalidArgument,
                    "line " + std::to_string(line) + ": " + (path.empty() ? "" : path + ": ") + what);
}

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

base::Result<void> take_entries(const Value& map, const std::string& path, const Takers& takers) {
  if (map.kind != Value::Kind::kMap) return bad_value(map.line, path, "must be a mapping of keys to values");
  std::map<std::string, int> seen;
  for (const Value::Entry& entry : map.entries) {
    const std::string place = child_path(path, entry.key);
    const auto [first, is_new] = seen.try_emplace(entry.key, entry.line);
    if (!is_new) {
      return bad_value(entry.line, place, "is given twice, first in line " + std::to_string(first->second));
    }
    const auto taker = std::find_if(takers.begin(), takers.end(),
                                    [&](const auto& known) { return known.first == entry.key; });
    if (taker == takers.end()) {
      return bad_value(entry.line, place, "is no known key; known here: " + names_of(takers));
    }
    if (auto ok = taker->second(entry.value, place); !ok) return ok;
  }
  return {};
}

base::Result<void> take_items(const Value& list, const std::string& path, const Taker& taker) {
  if (list.kind != Value::Kind::kList) return bad_value(list.line, path, "must be a list");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (auto ok = taker(list.items[i], path + "[" + std::to_string(i) + "]"); !ok) return ok;
  }
  return {};
}

base::Result<std::string> scalar_text(const Value& value, const std::string& path, Quotes quotes) {
  if (value.kind == Value::Kind::kNull) return bad_value(value.line, path, "has no value");
  if (value.kind != Value::Kind::kScalar) return bad_value(value.line, path, "must be a single value");
  if (value.quoted && quotes == Quotes::kRefused) {
    return bad_value(value.line, path, "is text: write '" + value.text + "' without quotes");
  }
  return value.text;
}

}  // namespace gpupool::settings
