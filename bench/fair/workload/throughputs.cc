// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/workload/throughputs.h"

#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpupool::bench::fair {
namespace {

// "('ResNet-18 (batch size 16)', 1)": type and number of GPUs.
std::optional<std::pair<std::string, std::int64_t>> parse_key(const std::string& key) {
  const auto end = key.rfind("', ");
  if (!key.starts_with("('") || !key.ends_with(")") || end == std::string::npos) return std::nullopt;
  std::int64_t gpus = 0;
  const auto* first = key.data() + end + 3;
  const auto [stop, error] = std::from_chars(first, key.data() + key.size(), gpus);
  if (error != std::errc{} || *stop != ')') return std::nullopt;
  return std::pair(key.substr(2, end - 2), gpus);
}

}  // namespace

base::Result<Throughputs> Throughputs::parse(const std::string& text, const std::string& device) {
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object()) return base::fail(base::ErrorCode::kParse, "no JSON object");
  const auto found = all.find(device);
  if (found == all.end() || !found->is_object())
    return base::fail(base::ErrorCode::kInvalidArgument, "has no device " + device);
  Throughputs throughputs;
  for (const auto& [key, value] : found->items()) {
    const auto parsed = parse_key(key);
    if (!parsed) return base::fail(base::ErrorCode::kParse, "no type and number of GPUs: " + key);
    const auto alone = value.is_object() ? value.find("null") : value.end();
    if (!value.is_object() || alone == value.end() || !alone->is_number())
      return base::fail(base::ErrorCode::kParse, key + " has no number named null");
    if (const auto steps = alone->get<double>(); steps > 0)
      throughputs.by_type_[parsed->first][parsed->second] = steps;
  }
  return throughputs;
}

std::optional<double> Throughputs::steps_per_second(const std::string& type, std::int64_t gpus) const {
  const auto known = by_type_.find(type);
  if (known == by_type_.end()) return std::nullopt;
  const auto above = known->second.upper_bound(gpus);
  return above == known->second.begin() ? std::nullopt : std::optional(std::prev(above)->second);
}

}  // namespace gpupool::bench::fair
