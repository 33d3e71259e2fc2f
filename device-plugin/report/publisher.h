// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "report/node_report.h"

namespace gpupool::report {

struct PublisherOptions {
  std::string node;
  std::string plugin_version;
  base::Duration min_interval = std::chrono::seconds(1);  // between two writes
  base::Duration refresh = std::chrono::seconds(50);      // lastReport is never older than a minute
};

// Keeps the GpuNode object of this node equal to the newest facts. Creates it, owned by the Node, if it is
// absent. Writes after a change, at most once per options.min_interval, and every options.refresh to renew
// lastReport. Telemetry goes with these writes, and is never the reason for one. While the API server does
// not answer, it tries again with growing pauses, up to 30 s; nothing else in the plugin waits for that.
//
// offer() is thread-safe and never blocks on the network; run() is for one thread.
class Publisher {
 public:
  // Everything referenced must outlive it.
  Publisher(kube::Client& client, PublisherOptions options, base::Clock& clock, base::Metrics& metrics,
            base::Log log);

  void offer(Facts facts);
  // Blocks until stop is requested, then returns promptly.
  void run(std::stop_token stop);

 private:
  struct Object {  // the GpuNode as last seen
    std::string resource_version;
    std::vector<api::Condition> conditions;
  };

  struct Report {
    api::GpuNodeStatus status;  // without times
    telemetry::Telemetry telemetry;
  };

  std::optional<Report> next(const std::stop_token& stop);
  base::Result<void> write(const Report& report, const std::stop_token& stop);
  base::Result<void> write_once(const Report& report, const std::stop_token& stop);
  base::Result<Object> find_or_create(const std::stop_token& stop);
  void note(const base::Result<void>& written);

  kube::Client& client_;
  PublisherOptions options_;
  base::Clock& clock_;
  base::Log log_;
  base::Counter& succeeded_;
  base::Counter& failed_;

  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Facts> facts_ GPUPOOL_GUARDED_BY(mutex_);
  std::uint64_t offered_ GPUPOOL_GUARDED_BY(mutex_) = 0;

  // Of run()'s thread only:
  base::Backoff backoff_;
  std::uint64_t seen_ = 0;
  std::optional<Object> object_;
  std::optional<api::GpuNodeStatus> written_;  // without times; none: the last write failed
  base::SteadyTime not_before_;
  base::SteadyTime refresh_at_;
  std::string last_error_;
};

}  // namespace gpupool::report
