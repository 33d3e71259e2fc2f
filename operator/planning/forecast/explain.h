// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/explanation.h"
#include "api/v1alpha1/gpu_job.h"
#include "planning/forecast/run_times.h"
#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

// Returns the first 64 bytes of the annotation gpupool.dev/explain, without a part of a character, with '?'
// for quotes and backslashes, and spaces for control characters.
std::string request_of(const api::GpuJob& job);

// True if somebody has asked about the job, and status.explanation does not answer it yet.
bool is_asked(const api::GpuJob& job);

// True if the job's place in a queue is part of the answer.
bool is_explained_by_queue(const api::GpuJob& job);

// What the answer is computed from.
struct Question {
  const api::GpuJob& job;
  base::WallTime now;
  const QueueSnapshot* queue = nullptr;      // null: the job has no place in a queue
  const std::vector<QueueSnapshot>& others;  // sooner.h
  const RunTimes::ByKind& history;
};

// Returns the answer. The text begins with what the job does or waits for. Names no job of another namespace,
// except what the job's own status already says. Pure.
api::Explanation explain(const Question& question, Budget& budget);

}  // namespace gpupool::planning
