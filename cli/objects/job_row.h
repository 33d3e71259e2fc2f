// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace gpupool::objects {

// What a list shows of a GpuJob: its printer columns. Empty texts: not set (yet).
struct JobRow {
  std::string ns;
  std::string name;
  std::string phase;
  std::string pool;
  std::string gpus;  // what it asks for, for people
  std::string nodes;
  std::string reason;
  std::string age;      // as the server wrote it
  std::string created;  // RFC 3339
  std::string master;
  std::int64_t attempts = 0;
  std::int64_t priority = 0;

  bool operator==(const JobRow&) const = default;
};

// In order of namespace and name. ns empty: all namespaces; an error if the definition in the cluster is too
// old to tell them.
base::Result<std::vector<JobRow>> list_jobs(kube::Client& client, const std::string& ns,
                                            const std::string& label_selector, const std::stop_token& stop);

// Lists jobs, then watches them until the server ends that or stop is requested. on_change gets each job that
// is new or has changed; gone: it was deleted, or has lost the labels.
base::Result<void> watch_jobs(kube::Client& client, const std::string& ns, const std::string& label_selector,
                              const std::function<void(std::vector<JobRow>)>& on_list,
                              const std::function<void(JobRow, bool gone)>& on_change,
                              const std::stop_token& stop);

}  // namespace gpupool::objects
