// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_config.h"

#include <charconv>
#include <optional>

namespace gpupool::faults {
namespace {

using base::ErrorCode;

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns the part before the separator and leaves the rest in `text`.
std::string_view cut(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const auto part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

std::optional<Fault> kind_named(std::string_view name) {
  for (const auto& kind : fault_kinds()) {
    if (kind.name == name) return kind.fault;
  }
  return std::nullopt;
}

tl::unexpected<base::Error> bad(std::string_view variable, std::string_view part) {
  return base::fail(ErrorCode::kInvalidArgument, std::string(variable) + ": " + std::string(part));
}

bool read_setting(std::string_view key, std::string_view value, FaultConfig& config) {
  if (key == "seed") {
    const auto seed = number<std::uint64_t>(value);
    config.seed = seed.value_or(0);
    return seed.has_value();
  }
  if (key == "rate") {
    const auto rate = number<double>(value);
    config.rate = rate.value_or(0);
    return rate && *rate >= 0 && *rate <= 1;
  }
  if (key != "kinds") return false;
  while (!value.empty()) {
    const auto kind = kind_named(cut(value, '+'));
    if (!kind) return false;
    config.kinds.insert(*kind);
  }
  return true;
}

}  // namespace

base::Result<FaultConfig> parse_faults(std::string_view text) {
  FaultConfig config;
  while (!text.empty()) {
    const auto part = cut(text, ',');
    auto value = part;
    const auto key = cut(value, '=');
    if (!read_setting(key, value, config)) return bad("GPUPOOL_FAULTS", part);
  }
  return config;
}

base::Result<CrashConfig> parse_crash(std::string_view text) {
  if (text.empty()) return CrashConfig{};
  auto rest = text;
  const auto when = cut(rest, ':');
  const auto call = number<std::uint64_t>(rest);
  if ((when != "before" && when != "after") || !call || *call == 0) return bad("GPUPOOL_CRASH", text);
  return CrashConfig{*call, when == "after"};
}

}  // namespace gpupool::faults
