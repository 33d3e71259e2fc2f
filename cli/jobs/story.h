// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"
#include "screen/terminal.h"

namespace gpupool::jobs {

// An Event about the job, of either of the two kinds of times that their writers use.
struct SeenEvent {
  std::string type;
  std::string reason;
  std::string message;
  std::optional<base::WallTime> first;
  std::optional<base::WallTime> last;
  std::optional<base::WallTime> time;
};

// What `describe` knows about a job. Nothing: the caller may not read it.
struct Story {
  api::GpuJob job;
  std::optional<std::vector<api::Pod>> pods = std::nullopt;
  std::optional<std::vector<SeenEvent>> events = std::nullopt;
};

// Pure.
std::string story_text(const Story& story, base::WallTime now, const screen::Terminal& terminal);

}  // namespace gpupool::jobs
