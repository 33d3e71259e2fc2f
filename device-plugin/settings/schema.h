// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "settings/document.h"

namespace gpupool::settings {

// "line 7: overrides[1].match.uuid: WHAT".
tl::unexpected<base::Error> bad_value(int line, const std::string& path, const std::string& what);
std::string child_path(const std::string& path, const std::string& key);

// Takes the value of one key; `path` is the whole path of it.
using Taker = std::function<base::Result<void>(const Value& value, const std::string& path)>;
using Takers = std::vector<std::pair<std::string, Taker>>;

// Gives each entry of a mapping to the taker of its key, in the order of the file. Refuses what is no
// mapping, keys that nobody takes, and keys given twice.
base::Result<void> take_entries(const Value& map, const std::string& path, const Takers& takers);
// The items of a list, with paths such as "overrides[0]".
base::Result<void> take_items(const Value& list, const std::string& path, const Taker& taker);

// A taker that stores what `parse` makes of a scalar. Numbers and booleans must not be in quotes.
enum class Quotes { kAllowed, kRefused };
template <class T, class Target, class Parse>
Taker scalar(Target& target, Quotes quotes, Parse parse);

base::Result<std::string> scalar_text(const Value& value, const std::string& path, Quotes quotes);

template <class T, class Target, class Parse>
Taker scalar(Target& target, Quotes quotes, Parse parse) {
  return [&target, quotes, parse](const Value& value, const std::string& path) -> base::Result<void> {
    const auto text = scalar_text(value, path, quotes);
    if (!text) return tl::unexpected<base::Error>(text.error());
    base::Result<T> parsed = parse(*text);
    if (!parsed) return bad_value(value.line, path, parsed.error().message);
    target = std::move(*parsed);
    return {};
  };
}

}  // namespace gpupool::settings
