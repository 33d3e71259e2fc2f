// SPDX-License-Identifier: Apache-2.0
#include "agent/usage_watch.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace gpupool::agent {

UsageWatch::UsageWatch(const std::string& state_directory, std::string boot_id, const base::Log& log)
    : boot_id_(std::move(boot_id)),
      log_(log),
      file_(state_directory + "/usage.json"),
      lock_path_(state_directory + "/usage.lock") {}

base::Result<void> UsageWatch::look(std::map<std::string, inventory::Usage> readings, base::SteadyTime now,
                                    base::WallTime wall) {
  if (!counts_) take_over();
  base::Result<void> saved;
  if (counts_) {
    times_.add(readings, now, wall);
    saved = file_.write(times_.save(boot_id_));
  }
  telemetry_.taken = readings.empty() ? std::nullopt : std::optional(wall);
  telemetry_.readings = std::move(readings);
  // What is not saved stays unseen: a plugin that starts later would show less.
  if (saved) telemetry_.busy = times_.all();
  return saved;
}

// Without a lock file there is nobody to wait for: the directory cannot be written.
void UsageWatch::take_over() {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(lock_path_).parent_path(), error);
  auto lock = kubelet::ResourceLock::try_take(lock_path_);
  if (lock) lock_ = std::move(*lock);
  counts_ = !lock || lock_.has_value();
  const auto restored = restore();
  if (!restored && counts_) {
    times_ = {};
    log_.warning("Busy times of GPUs begin anew",
                 {{"file", file_.path()}, {"error", restored.error().message}});
  }
}

base::Result<void> UsageWatch::restore() {
  const auto text = file_.read();
  if (!text) return tl::unexpected<base::Error>(text.error());
  if (*text) return times_.restore(**text, boot_id_);
  times_ = {};
  return {};
}

}  // namespace gpupool::agent
