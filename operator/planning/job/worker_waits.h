// SPDX-License-Identifier: Apache-2.0
// How long an attempt waits for its workers before it asks for the cause or gives up. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "planning/job/observation.h"
#include "planning/job/worker_views.h"

namespace gpupool::planning {

// If the workload's controller creates no pod in this time, the API server may be refusing it, and reports
// the cause only to that controller.
inline constexpr base::Duration kPodsExpected = std::chrono::seconds(5);
// How long a worker may be stuck (WorkerView::stuck) before the nodes are given back. The scheduler tries
// again within 10 s, when it learns late of a node's label.
inline constexpr base::Duration kLongestStuck = std::chrono::seconds(10);
// The same while pods of a gang are still being created: the server is busy.
inline constexpr base::Duration kLongestStuckIncomplete = std::chrono::seconds(30);

// If a worker that has a node does not start, its kubelet may be unable to mount its volumes. Asked when the
// attempt is 10, 20, 40, 80... s old, within this time.
inline constexpr base::Duration kMountsAskedWithin = std::chrono::seconds(5);
// True if it is time to ask. age: of the attempt.
bool asks_about_mounts(base::Duration age);
// Time until the next question.
base::Duration until_mounts_asked(base::Duration age);

// A worker that only another node, or a change of the cluster, can help; null if there is none.
const WorkerView* stuck_worker(const WorkerViews& views);
// Time until the job gives its nodes back because of stuck_worker(); nothing if there is none. Call at each
// look at the workers, so that the time is counted anew when none is stuck any more.
std::optional<base::Duration> until_moved(const Observation& seen, const WorkerViews& views);

// Returns a worker that has a node and has not started, without a known cause; null if there is none.
std::shared_ptr<const api::Pod> silent_start(const Observation& seen, const WorkerViews& views);

// Seconds within which the workers of the attempt must run. Fetching of a source, once it has begun, has its
// own time besides spec.startTimeoutSeconds.
std::int64_t start_limit(const Observation& seen);

// Time until the operator no longer waits for a launcher to repeat its result; zero if that has passed.
base::Duration until_given_up(const Observation& seen);

}  // namespace gpupool::planning
