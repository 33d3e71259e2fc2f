// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "kube/client.h"
#include "stream/outbox.h"
#include "stream/topic.h"
#include "worker_logs/kept_logs.h"

namespace gpupool::web {

// All topics of one tab, as lines of JSON. Each topic has a thread. Its methods are for one thread.
class Tab {
 public:
  // client, kept: act with the rights of the tab's visitor. kept: null: there is no keeper. REQUIRES: the
  // clock outlives the tab.
  Tab(std::shared_ptr<kube::Client> client, std::shared_ptr<const logs::KeptLogs> kept,
      std::vector<Topic> topics, base::Clock& clock);
  ~Tab();
  Tab(const Tab&) = delete;
  Tab& operator=(const Tab&) = delete;

  // The next lines, each with its '\n'; a line "ping" at once, and when there is nothing for 15 s, finds a
  // tab that is gone. Blocks. Nothing: stop was requested.
  std::optional<std::string> next(const std::stop_token& stop);

 private:
  std::shared_ptr<kube::Client> client_;
  std::shared_ptr<const logs::KeptLogs> kept_;
  const std::vector<Topic> topics_;
  Outbox outbox_;
  bool begun_ = false;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace gpupool::web
