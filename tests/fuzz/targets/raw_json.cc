// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/fuzz/property.h"

using gpupool::base::json::RawJson;
using gpupool::fuzz::require;
using Json = nlohmann::json;

namespace {

std::size_t depth(std::string_view text) {
  std::size_t open = 0;
  std::size_t deepest = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') deepest = std::max(deepest, ++open);
    if ((c == '}' || c == ']') && open > 0) --open;
  }
  return deepest;
}

}  // namespace

// A pod template is kept as text and written into other objects.
void fuzz_raw_json(std::string_view input) {
  const auto raw = gpupool::base::json::read<RawJson>(input);
  const auto document = Json::parse(input.begin(), input.end(), nullptr, false);
  if (!raw) {
    gpupool::fuzz::require_explained(raw.error());
    require(document.is_discarded() || depth(input) > 200, "only what is no JSON, or too deep, is refused");
    return;
  }
  require(!document.is_discarded(), "what is read is JSON");
  require(Json::parse(raw->text, nullptr, false) == document, "the text means the same");
  const auto again = gpupool::base::json::read<RawJson>(raw->text);
  require(again && *again == *raw, "the text is compact already");
  const auto strings = gpupool::base::json::read<std::map<std::string, std::string>>(input);
  if (strings) require(document.is_object(), "a map is an object");
}
