// SPDX-License-Identifier: Apache-2.0
// How a job saves its work, and what its status keeps of attempts that have ended (docs/checkpoints.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/job_bill.h"
#include "api/v1alpha1/pool_queue.h"
#include "base/boxed.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/word.h"

namespace gpupool::api {

// Values of JobCheckpoint::notice: when the program gets the stop signal.
namespace checkpoint_notice {
inline constexpr char kSignal[] = "Signal";  // at once, after the notice file
inline constexpr char kFile[] = "File";      // near the end of the grace period
}  // namespace checkpoint_notice

// Where the program's checkpoints are if the spec does not say it.
inline constexpr char kDefaultCheckpointPath[] = "/checkpoints";

// spec.checkpoint: the program saves its work and goes on from it.
struct JobCheckpoint {
  std::string path;        // in the worker; empty: kDefaultCheckpointPath
  std::string claim_name;  // a PersistentVolumeClaim that gpupool mounts at `path`; empty: the template does
  std::optional<std::int64_t> interval_seconds;  // at most so much work is lost without notice
  base::Word notice;                             // empty: Signal
  std::optional<std::int64_t> grace_seconds;     // absent: as the template says

  const std::string& directory() const {
    static const std::string kDefault = kDefaultCheckpointPath;
    return path.empty() ? kDefault : path;
  }
};

// The last checkpoint that the program has reported (status.checkpoint).
struct ReportedCheckpoint {
  std::int64_t step = 0;
  std::string path;
  std::optional<base::WallTime> at;  // when the program wrote the report, by the clock of its node
  bool operator==(const ReportedCheckpoint&) const = default;
};

// How an attempt ended after which the job goes on.
struct AttemptEnd {
  std::int64_t attempt = 0;
  std::string cause;                             // of reason::
  std::string nodes;                             // those that it ran on; shortened
  std::string left;                              // those of them that the job left; shortened; empty: none
  std::optional<base::WallTime> at;              // when its end was noticed
  std::optional<std::int64_t> from_step;         // the step from which work goes on; absent: not reported
  std::optional<std::int64_t> repeated_seconds;  // of work since that step
  bool operator==(const AttemptEnd&) const = default;
};

inline constexpr std::size_t kMaxHistory = 10;
inline constexpr std::size_t kMaxHistoryBytes = 2048;  // as JSON

// What the status keeps of earlier attempts and leases. Its fields are fields of the status.
struct JobProgress {
  std::int64_t active_seconds = 0;  // that earlier leases were held, since the job was last suspended
  base::Boxed<ReportedCheckpoint> checkpoint;
  std::string restarted;              // the value of kRestart that was last carried out
  std::vector<AttemptEnd> history;    // the last kMaxHistory, in order
  std::int64_t yields = 0;            // times that it has made room for another job
  base::Boxed<JobQueueStatus> queue;  // only while the job waits in a pool with spec.queue
  base::Boxed<JobBill> bill;          // only after a lease in a pool with spec.price
  bool operator==(const JobProgress&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::JobCheckpoint> {
  using T = api::JobCheckpoint;
  static constexpr auto fields =
      std::array{field<&T::path>("path"), field<&T::claim_name>("claimName"),
                 field<&T::interval_seconds>("intervalSeconds"), field<&T::notice>("notice"),
                 field<&T::grace_seconds>("graceSeconds")};
};
template <>
struct Schema<api::ReportedCheckpoint> {
  using T = api::ReportedCheckpoint;
  static constexpr auto fields =
      std::array{field<&T::step>("step"), field<&T::path>("path"), field<&T::at>("at")};
};
template <>
struct Schema<api::AttemptEnd> {
  using T = api::AttemptEnd;
  static constexpr auto fields = std::array{field<&T::attempt>("attempt"),
                                            field<&T::cause>("cause"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::left>("left"),
                                            field<&T::at>("at"),
                                            field<&T::from_step>("fromStep"),
                                            field<&T::repeated_seconds>("repeatedSeconds")};
};

}  // namespace gpupool::base::json
