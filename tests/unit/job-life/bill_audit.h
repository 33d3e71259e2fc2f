// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"

namespace gpupool::test {

// Counts by itself what a job holds, from the statuses in their order, and compares status.bill with that.
class BillAudit {
 public:
  // What the world knows besides.
  struct Facts {
    base::WallTime now;
    // When the first pod of the lease was created; nothing: there is none.
    std::optional<base::WallTime> first_pod;
    // From when on the node's time may have ended: its last command ended, or it was not ready.
    std::function<base::WallTime(const std::string& node)> idle_since;
  };

  // Call with each status that is written. Returns what is wrong; empty: nothing.
  std::string look(const api::GpuJobStatus& status, const Facts& facts);

 private:
  struct Count {
    std::optional<base::WallTime> from = std::nullopt;
    double least = 0;  // seconds
    double most = 0;
    double billed = 0;
    int intervals = 0;
  };
  void count(const api::GpuJobStatus& status, const Facts& facts);
  std::string take_segments(const api::GpuJobStatus& status);
  std::string check_sums(const api::JobBill& bill) const;

  api::GpuJobStatus before_;
  std::map<std::string, Count> nodes_;
  std::map<std::int64_t, api::BillSegment> segments_;
  int leases_ = 0;
};

}  // namespace gpupool::test
