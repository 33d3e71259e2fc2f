// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_watch.h"

#include <utility>

namespace gpupool::agent {

void GpuWatch::look(base::WallTime now) {
  auto found = source_.list();
  if (found) {
    listed(std::move(*found), now);
  } else {
    if (driver_problem_ != found.error().message) {
      log_.warning("No GPU driver", {{"error", found.error().message}});
    }
    driver_problem_ = found.error().message;
    inventory_.driver = {};
    tracker_.driver_gone(driver_problem_, now);
  }
  log_health();
}

void GpuWatch::listed(inventory::Inventory found, base::WallTime now) {
  const bool was_away = !driver_problem_.empty();
  const bool reloaded = opened_ && *opened_ != found.opened;
  if (was_away) {
    log_.info("GPU driver found", {{"version", found.driver.version}, {"gpus", found.gpus.size()}});
  }
  driver_problem_.clear();
  opened_ = found.opened;
  tracker_.listed(found.gpus, reloaded, now);
  for (const auto& gpu : found.gpus) tracker_.probe(gpu.uuid, source_.probe(gpu.uuid), now);
  inventory_ = std::move(found);
}

void GpuWatch::errors(const std::vector<inventory::ErrorEvent>& events, base::WallTime now) {
  for (const auto& event : events) {
    log_.warning(catalogue_.log_message, {{"gpu", event.gpu}, {catalogue_.log_key, event.code}});
    tracker_.error(event, now);
  }
}

std::map<std::string, inventory::Usage> GpuWatch::usage() {
  std::map<std::string, inventory::Usage> usage;
  if (!driver_problem_.empty()) return usage;
  for (const auto& gpu : inventory_.gpus) {
    if (auto read = source_.usage(gpu.uuid)) usage.emplace(gpu.uuid, *read);
  }
  return usage;
}

void GpuWatch::log_health() {
  auto now = tracker_.unhealthy();
  for (const auto& [gpu, why] : now) {
    if (!unhealthy_.contains(gpu)) log_.warning("GPU is unhealthy", {{"gpu", gpu}, {"why", why}});
  }
  for (const auto& [gpu, why] : unhealthy_) {
    if (!now.contains(gpu)) log_.info("GPU is healthy again", {{"gpu", gpu}});
  }
  unhealthy_ = std::move(now);
}

}  // namespace gpupool::agent
