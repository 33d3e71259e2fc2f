// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/latest.h"
#include "base/log.h"
#include "base/metrics.h"
#include "planning/workers/worker_keeper.h"

namespace gpupool {

// Knows the address of the keeper and the newest key, and looks for others every 10 s on a thread of its own.
// Workers get an IP address, because a lookup of a name could make them wait. Thread-safe.
class KeeperFinder {
 public:
  // address: HOST:PORT. keys: a folder (base::read_keys). Looks once before it returns. REQUIRES: clock and
  // metrics outlive it.
  KeeperFinder(std::string address, std::string keys, base::Clock& clock, base::Metrics& metrics,
               const base::Log& log);

  // Nothing while address or key are not known; workers that start then do not send what they print.
  std::optional<planning::KeeperAccess> access() const { return *found_.get(); }

 private:
  void look();
  void run(const std::stop_token& stop);

  const std::string address_;
  const std::string keys_;
  base::Clock& clock_;
  const base::Log log_;
  base::Gauge& known_;
  base::Latest<std::optional<planning::KeeperAccess>> found_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace gpupool
