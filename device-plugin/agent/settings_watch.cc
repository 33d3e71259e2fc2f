// SPDX-License-Identifier: Apache-2.0
#include "agent/settings_watch.h"

#include <filesystem>
#include <utility>

#include "base/read_file.h"

namespace gpupool::agent {

namespace {

constexpr auto kLook = std::chrono::seconds(1);  // inotify can lose events

std::string directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string content_of(const std::string& path) {
  const auto read = base::read_file(path, base::kMiB);
  return read ? *read : "";
}

}  // namespace

SettingsWatch::SettingsWatch(const std::string& path, const base::Log& log, std::function<void()> on_change)
    : on_change_(std::move(on_change)), watch_(directory_of(path), log) {
  if (path.empty()) return;
  thread_ = std::jthread([this, path, known = content_of(path)](const std::stop_token& stop) mutable {
    while (!stop.stop_requested()) {
      watch_.wait(kLook, stop);
      auto now = content_of(path);
      if (now == known) continue;
      known = std::move(now);
      on_change_();
    }
  });
}

}  // namespace gpupool::agent
