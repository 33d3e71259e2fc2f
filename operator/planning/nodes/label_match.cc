// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/label_match.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace gpupool::planning {
namespace {

std::optional<std::int64_t> integer(const std::string& text) {
  std::int64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end ? std::optional(value) : std::nullopt;
}

}  // namespace

bool meets(const Labels& labels, const std::string& key, const std::string& op,
           const std::vector<std::string>& values) {
  const auto found = labels.find(key);
  const bool there = found != labels.end();
  const auto listed = [&] {
    return there && std::find(values.begin(), values.end(), found->second) != values.end();
  };
  if (op == "In") return listed();
  if (op == "NotIn") return !listed();
  if (op == "Exists") return there;
  if (op == "DoesNotExist") return !there;
  if ((op != "Gt" && op != "Lt") || !there || values.size() != 1) return false;
  const auto value = integer(found->second);
  const auto bound = integer(values.front());
  if (!value || !bound) return false;
  return op == "Gt" ? *value > *bound : *value < *bound;
}

}  // namespace gpupool::planning
