// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker_logs/rank_selection.h"
#include "worker_logs/worker_pod.h"

// Which workers of a job there are, and which of them to show. Pure.
namespace gpupool::logs {

// What is known of a job at one time.
struct Picture {
  api::GpuJob job;        // as last seen
  bool job_gone = false;  // it was deleted
  std::vector<std::shared_ptr<const WorkerPod>> pods = {};

  // True if no worker of the job starts any more.
  bool over() const { return job_gone || job.finished(); }
};

struct Worker {
  std::shared_ptr<const WorkerPod> pod;
  WorkerState state;
};

struct Attempt {
  std::int64_t number = -1;  // -1: unknown
  std::map<std::int64_t, Worker> ranks = {};

  bool has_begun() const;
  std::vector<std::int64_t> failed_ranks() const;
  std::string node_names() const;  // "gpu-1 gpu-2", each once
};

// By n of their lease, which grows with the attempts. Of several pods of one rank the oldest counts.
std::map<std::int64_t, Attempt> attempts_of(const Picture& picture);

struct Wanted {
  std::optional<std::int64_t> attempt = std::nullopt;
  bool all_attempts = false;
  std::vector<std::int64_t> ranks = {};  // empty: rank 0 and those that failed
  std::int64_t max_streams = 200;
};

// The leases of the attempts to show, in order. follow: those that may come later are shown too, so `first`
// is the lease of the first attempt that was shown, if one was.
std::vector<std::int64_t> wanted_leases(const std::map<std::int64_t, Attempt>& attempts, const Wanted& wanted,
                                        std::optional<std::int64_t> first);

RankChoice wanted_ranks(const Attempt& attempt, const Wanted& wanted);

}  // namespace gpupool::logs
