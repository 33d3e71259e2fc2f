// SPDX-License-Identifier: Apache-2.0
#include "planning/job/worker_views.h"

#include <algorithm>

namespace gpupool::planning {

std::int64_t count(const WorkerViews& views, WorkerState wanted) {
  return std::count_if(views.begin(), views.end(),
                       [&](const WorkerView& view) { return view.state == wanted; });
}

const WorkerView* first(const WorkerViews& views, WorkerState wanted) {
  const auto found =
      std::find_if(views.begin(), views.end(), [&](const WorkerView& view) { return view.state == wanted; });
  return found == views.end() ? nullptr : &*found;
}

const WorkerView* first_crash(const WorkerViews& views) {
  // Without a result, something worse than the program ended it: out of memory, or its launcher failed.
  const auto ended = [](const WorkerView& view) { return view.finished_at.value_or(base::WallTime::min()); };
  const WorkerView* earliest = nullptr;
  for (const auto& view : views) {
    if (view.state != WorkerState::kCrashed) continue;
    if (earliest == nullptr || ended(view) < ended(*earliest)) earliest = &view;
  }
  if (earliest == nullptr || !earliest->follows) return earliest;
  const WorkerView* cause = nullptr;
  for (const auto& view : views) {
    if (view.state != WorkerState::kCrashed || view.follows) continue;
    if (earliest->finished_at && ended(view) > *earliest->finished_at + kClockSkew) continue;
    if (cause == nullptr || ended(view) < ended(*cause)) cause = &view;
  }
  return cause != nullptr ? cause : earliest;
}

const WorkerView* first_loss(const WorkerViews& views) {
  const WorkerView* found = nullptr;
  for (const auto& view : views) {
    if (view.state != WorkerState::kLost) continue;
    if (!view.unexplained) return &view;
    if (found == nullptr) found = &view;
  }
  return found;
}

std::string of_rank(const WorkerView& view) {
  return "rank " + std::to_string(view.rank) + " " + view.message;
}

}  // namespace gpupool::planning
