#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "report/node_report.h"

namespace gpupool::report {

struct PublisherOptions {
  std::string node;
  std::string plugin_version;
  base::Duration min_interval = std::chrono::seconds(1);  // between two writes
  base::Duration refresh = std::chrono::seconds(50);      // lastReport is never older than a minute
};

// Keeps this node's GpuNode as the newest facts say; makes it, owned by the Node, if it is not there. Writes
// on change, and to refresh lastReport. Without an API server it tries again, ever more slowly, and nothing
// else of the plugin notices. offer() is thread-safe and never waits for the network; run() is for one
// thread.
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

  std::optional<api::GpuNodeStatus> next(const std::stop_token& stop);
  base::Result<void> write(const api::GpuNodeStatus& status, const std::stop_token& stop);
  base::Result<void> write_once(api::GpuNodeStatus status, const std::stop_token& stop);
  base::Result<Object> find_or_create(const std::stop_token& stop);
  void note(const base::Result<void>& written);

  kube::Client& client_;
  PublisherOptions options_;
  base::Clock& clock_;
  base::Log log_;
  base::Counter& succeeded_;
  base::Counter& failed_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Facts> facts_;
  std::uint64_t offered_ = 0;

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
