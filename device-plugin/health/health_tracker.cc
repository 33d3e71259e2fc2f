// SPDX-License-Identifier: Apache-2.0
#include "health/health_tracker.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <string_view>

#include "health/saved_health.h"

namespace gpupool::health {

using settings::ErrorAction;

std::optional<std::uint64_t> HealthTracker::code_in(const std::string& reason) const {
  if (!reason.starts_with(errors_.reason_prefix)) return std::nullopt;
  std::uint64_t code = 0;
  const char* const end = reason.data() + reason.size();
  const auto [stopped, problem] = std::from_chars(reason.data() + errors_.reason_prefix.size(), end, code);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return code;
}

void HealthTracker::use(settings::Settings settings) {
  settings_ = std::move(settings);
  for (auto& [gpu, state] : states_) {
    const auto code = code_in(state.reason);
    if (state.until_reset && code && action_of(*code) != ErrorAction::kUntilReset) state.until_reset = false;
  }
}

ErrorAction HealthTracker::action_of(std::uint64_t code) const {
  for (const settings::ErrorRule& rule : std::views::reverse(settings_.error_rules)) {
    if (rule.code == code) return rule.action;
  }
  return errors_.find(code).action;
}

void HealthTracker::error(const inventory::ErrorEvent& event, base::WallTime now) {
  const ErrorAction action = action_of(event.code);
  if (action == ErrorAction::kIgnore) return;
  const Trouble trouble{.reason = errors_.reason_prefix + std::to_string(event.code),
                        .detail = errors_.find(event.code).text,
                        .until_reset = action == ErrorAction::kUntilReset};
  if (!event.gpu.empty()) {
    mark(states_[event.gpu], trouble, now);
    return;
  }
  for (auto& [gpu, state] : states_) mark(state, trouble, now);  // it may be any of them
}

void HealthTracker::probe(const std::string& gpu, const inventory::Probe& probe, base::WallTime now) {
  using Result = inventory::Probe::Result;
  const auto at = states_.find(gpu);
  if (at == states_.end()) return;
  switch (probe.result) {
    case Result::kAlive:
      count_clean(at->second, now);
      return;
    case Result::kLost:
      mark(at->second, {.reason = "Lost", .detail = probe.detail, .is_down = true}, now);
      return;
    case Result::kFailing:
      mark(at->second,
           {.reason = probe.needs_reset ? "ResetNeeded" : "ProbeFailed",
            .detail = probe.detail,
            .is_down = probe.needs_reset},
           now);
      return;
  }
}

void HealthTracker::listed(const std::vector<inventory::Gpu>& gpus, bool reloaded, base::WallTime now) {
  for (const inventory::Gpu& gpu : gpus) states_.try_emplace(gpu.uuid, GpuHealth{.since = now});
  for (auto& [uuid, state] : states_) {
    if (reloaded && !state.healthy) {
      state.until_reset = false;
      state.seen_down = false;
      state.clean_probes = 0;
    }
    if (std::ranges::find(gpus, uuid, &inventory::Gpu::uuid) == gpus.end()) {
      mark(state, {.reason = "Lost", .detail = "the driver does not list it", .is_down = true}, now);
    }
  }
}

void HealthTracker::driver_gone(const std::string& why, base::WallTime now) {
  for (auto& [gpu, state] : states_) mark(state, {.reason = "DriverGone", .detail = why}, now);
}

// The first trouble is the one that people should know, unless a graver one comes.
void HealthTracker::mark(GpuHealth& state, const Trouble& trouble, base::WallTime now) {
  const bool graver = trouble.until_reset && !state.until_reset;
  if (state.healthy || graver) {
    state.reason = trouble.reason;
    state.detail = trouble.detail;
  }
  if (state.healthy) state.since = now;
  state.healthy = false;
  state.until_reset = state.until_reset || trouble.until_reset;
  state.seen_down = state.seen_down || trouble.is_down;
  state.clean_probes = 0;
  state.last_trouble = now;
}

void HealthTracker::count_clean(GpuHealth& state, base::WallTime now) const {
  if (state.healthy) return;
  if (state.seen_down) {
    state.seen_down = false;
    state.until_reset = false;
  }
  if (state.until_reset) return;
  ++state.clean_probes;
  state.last_trouble = std::min(state.last_trouble, now);  // the wall clock may have been set back
  const auto quiet = now - state.last_trouble;
  if (state.clean_probes < settings_.recovery_probes ||
      quiet < std::chrono::seconds(settings_.recovery_seconds)) {
    return;
  }
  state = GpuHealth{.since = now, .last_trouble = state.last_trouble};
}

std::map<std::string, std::string> HealthTracker::unhealthy() const {
  std::map<std::string, std::string> all;
  for (const auto& [gpu, state] : states_) {
    if (state.healthy) continue;
    std::string& text = all[gpu];
    text = state.reason;
    if (!state.detail.empty()) text += ": " + state.detail;
    if (state.until_reset) text += " (until the GPU is reset or the driver reloaded)";
  }
  return all;
}

std::string HealthTracker::save(const std::string& boot_id) const { return write_health(states_, boot_id); }

base::Result<void> HealthTracker::restore(const std::string& text, const std::string& boot_id) {
  auto saved = read_health(text, boot_id);
  if (!saved) return tl::unexpected(std::move(saved.error()));
  for (auto& [gpu, state] : *saved) states_.insert_or_assign(gpu, std::move(state));
  return {};
}

}  // namespace gpupool::health
