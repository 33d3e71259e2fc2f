// SPDX-License-Identifier: Apache-2.0
// What a job's bill means for the account that pays it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"
#include "base/money.h"

namespace gpupool::planning {

// A part or a segment of a bill. Times are Unix seconds.
struct ChargedTime {
  base::Micros per_gpu_hour = 0;
  std::int64_t units = 0;  // GPUs, or slices, on all its nodes
  std::int64_t split = 1;  // of a GPU; 1: units are GPUs
  std::int64_t carry = 0;
  std::optional<std::int64_t> from = std::nullopt;  // absent: it has not begun
  std::optional<std::int64_t> to = std::nullopt;    // absent: it goes on
  std::int64_t number = 0;                          // of the segment; 0: it goes on
};

// In one currency.
using JobCharge = std::vector<ChargedTime>;

JobCharge charge_of(const api::JobBill& bill, std::int64_t lease_nodes, const std::string& currency);
JobCharge charge_of(const api::GpuJob& job, const std::string& currency);

// What the parts that go on cost for an hour, rounded up.
base::Micros hourly_rate(const JobCharge& charge);

// A stretch of time, as Unix seconds.
struct Stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// What the job costs in that time. entered: leaves out the segments up to this number.
base::Micros cost_in(const JobCharge& charge, const Stretch& time, std::int64_t entered);

// The highest number of a segment that ended at or before this moment; 0: none.
std::int64_t last_ended_by(const JobCharge& charge, std::int64_t moment);

}  // namespace gpupool::planning
