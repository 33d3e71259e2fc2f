// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/directory_watch.h"
#include "base/log.h"

namespace gpupool::agent {

// Calls back when the file may have changed: it was written, replaced, or lies behind the symbolic links of a
// mounted ConfigMap, which are swapped. Runs from construction to destruction. What the file holds at
// construction is known: who reads it afterwards misses nothing.
class SettingsWatch {
 public:
  // path: of the file; empty: there is nothing to watch.
  SettingsWatch(const std::string& path, const base::Log& log, std::function<void()> on_change);

 private:
  const std::function<void()> on_change_;
  base::DirectoryWatch watch_;
  std::jthread thread_;
};

}  // namespace gpupool::agent
