// SPDX-License-Identifier: Apache-2.0
#include "health/saved_health.h"

#include <array>
#include <optional>

#include "base/json.h"
#include "base/rfc3339.h"

namespace gpupool::health {

namespace {

constexpr std::int64_t kVersion = 1;

struct SavedState {
  std::string reason;
  std::string detail;
  bool until_reset = false;
  bool seen_down = false;
  base::WallTime since = {};
  base::WallTime last_trouble = {};
};

struct SavedHealth {
  std::int64_t version = 0;
  std::string boot_id;
  std::map<std::string, SavedState> gpus;
};

}  // namespace

}  // namespace gpupool::health

namespace gpupool::base::json {

template <>
struct Schema<health::SavedState> {
  static constexpr auto fields = std::array{field<&health::SavedState::reason>("reason"),
                                            field<&health::SavedState::detail>("detail"),
                                            field<&health::SavedState::until_reset>("untilReset"),
                                            field<&health::SavedState::seen_down>("seenDown"),
                                            field<&health::SavedState::since>("since"),
                                            field<&health::SavedState::last_trouble>("lastTrouble")};
};

template <>
struct Schema<health::SavedHealth> {
  static constexpr auto fields =
      std::array{field<&health::SavedHealth::version>("version"),
                 field<&health::SavedHealth::boot_id>("bootID"), field<&health::SavedHealth::gpus>("gpus")};
};

}  // namespace gpupool::base::json

namespace gpupool::health {

namespace {

const char* to_json(bool value) { return value ? "true" : "false"; }

std::string to_json(const GpuHealth& state) {
  using base::json::quote;
  return "{\"reason\": " + quote(state.reason) + ", \"detail\": " + quote(state.detail) +
         ", \"untilReset\": " + to_json(state.until_reset) + ", \"seenDown\": " + to_json(state.seen_down) +
         ", \"since\": " + quote(base::to_rfc3339(state.since)) +
         ", \"lastTrouble\": " + quote(base::to_rfc3339(state.last_trouble)) + "}";
}

}  // namespace

std::string write_health(const std::map<std::string, GpuHealth>& states, const std::string& boot_id) {
  std::string text = "{\"version\": " + std::to_string(kVersion) +
                     ", \"bootID\": " + base::json::quote(boot_id) + ", \"gpus\": {";
  const char* separator = "\n  ";
  for (const auto& [gpu, state] : states) {
    if (state.healthy) continue;
    text += separator + base::json::quote(gpu) + ": " + to_json(state);
    separator = ",\n  ";
  }
  return text + "}}\n";
}

base::Result<std::map<std::string, GpuHealth>> read_health(const std::string& text,
                                                           const std::string& boot_id) {
  auto saved = base::json::read<SavedHealth>(text);
  if (!saved) return tl::unexpected(std::move(saved.error()));
  if (saved->version != kVersion) {
    return base::fail(base::ErrorCode::kParse,
                      "saved health has version " + std::to_string(saved->version) + ", not 1");
  }
  std::map<std::string, GpuHealth> states;
  if (saved->boot_id != boot_id) return states;
  for (auto& [gpu, state] : saved->gpus) {
    states[gpu] = {.healthy = false,
                   .until_reset = state.until_reset,
                   .reason = std::move(state.reason),
                   .detail = std::move(state.detail),
                   .since = state.since,
                   .clean_probes = 0,
                   .last_trouble = state.last_trouble,
                   .seen_down = state.seen_down};
  }
  return states;
}

}  // namespace gpupool::health
