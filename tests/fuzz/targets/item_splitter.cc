// SPDX-License-Identifier: Apache-2.0
#include "kube/item_splitter.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
using gpupool::kube::ItemSplitter;
using Json = nlohmann::json;

namespace {

struct Split {
  std::vector<std::string> items = {};
  std::string around = {};
  bool failed = false;
};

Split split(std::string_view text, const std::string& pieces) {
  ItemSplitter splitter;
  Split result;
  const auto take = [&](std::string_view item) { result.items.emplace_back(item); };
  for (std::size_t i = 0; !text.empty() && !result.failed; ++i) {
    const std::size_t wanted =
        pieces.empty() ? text.size() : static_cast<unsigned char>(pieces[i % pieces.size()]);
    const auto piece = text.substr(0, std::max<std::size_t>(1, wanted));
    text.remove_prefix(piece.size());
    const auto fed = splitter.feed(piece, take);
    if (!fed) gpupool::fuzz::require_explained(fed.error());
    result.failed = !fed;
  }
  const auto around = splitter.finish();
  if (around) result.around = *around;
  result.failed = !around;
  return result;
}

}  // namespace

// A line of sizes of pieces, then a list.
void fuzz_item_splitter(std::string_view input) {
  const std::string pieces = gpupool::fuzz::take_line(input);
  const auto whole = split(input, "");
  const auto parts = split(input, pieces);
  require(whole.failed == parts.failed && whole.items == parts.items && whole.around == parts.around,
          "pieces of any size give the same items");

  const bool one_name =
      input.find("items") == input.rfind("items") && input.find("\\u") == std::string_view::npos;
  auto list = Json::parse(input.begin(), input.end(), nullptr, false);
  if (!list.is_object() || !one_name) return;
  const Json items = list.contains("items") && list["items"].is_array() ? list["items"] : Json::array();
  const bool all_objects =
      std::all_of(items.begin(), items.end(), [](const Json& item) { return item.is_object(); });
  require(whole.failed != all_objects, "a list of objects is split, and no other");
  if (whole.failed) return;
  require(whole.items.size() == items.size(), "every item is delivered, and no other");
  for (std::size_t i = 0; i < items.size(); ++i) {
    require(Json::parse(whole.items[i]) == items[i], "an item is as it was");
  }
  if (!items.empty()) list["items"] = Json::array();
  require(Json::parse(whole.around) == list, "the rest is as it was");
}
