// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"
#include "planning/queue/turn_order.h"
#include "planning/queue/waiting_line.h"

namespace gpupool::planning {

// So many jobs of a queue are told their place; so many of these and of the next ones are looked at, so that
// a job at the end does not come and go.
inline constexpr std::size_t kPlacesTold = 100;
inline constexpr std::size_t kPlacesFound = 120;

// What the places of a line are found from.
struct LineToPlace {
  const api::PoolQueueSpec& spec;
  const WaitingLine& line;
  TurnOrder::Shares shares;
  base::WallTime now;
  bool of_slices = false;
  std::optional<api::ObjectKey> first = {};  // is first in line
  // True for a job that waits for something other than its turn: it has no place, nor have others with its
  // demand.
  std::function<bool(const WaitingLine::Entry&)> is_out = [](const WaitingLine::Entry&) { return false; };
  // True for a job that gets nodes now.
  std::function<bool(const api::ObjectKey&)> starts = [](const api::ObjectKey&) { return false; };
};

// Returns the jobs that wait, in the order in which they have their turn if each gets what it asks for; at
// most `most`. Costs O(groups + most * log groups). Pure.
std::vector<const WaitingLine::Entry*> places_of(const LineToPlace& queue, std::size_t most);

// A waiting job as a forecast sees it.
struct Expected {
  api::ObjectKey job;
  std::optional<base::WallTime> start;  // likely; nothing: not known
};

// What waiting jobs are told of their place and start. A change is a write, so: a place in steps, a start
// only if it differs by a fifth of the time that is left, both at most once a minute for a job. Not
// thread-safe.
class ToldPlaces {
 public:
  // Takes over a forecast: the jobs in the order of their turns. Returns the jobs that are told something
  // else from now on.
  std::vector<api::ObjectKey> update(const std::vector<Expected>& found, const WaitingLine& line,
                                     base::WallTime now);
  // Adds what the job is told. Before the first forecast, e.g. after a restart, it is told what its status
  // says. Call for jobs that get nothing.
  void show(const api::GpuJob& job, api::JobQueueStatus& turn) const;

 private:
  struct Told {
    std::int64_t place = 0;
    std::optional<base::WallTime> start;
    std::optional<base::WallTime> at;  // nothing: long ago
  };
  static bool change(Told& told, const Told& found, base::WallTime now);

  bool known_ = false;
  std::map<api::ObjectKey, Told> told_;
};

// Returns 1 to 10, then 20, 50 or 100: the place is at most that. 0: it is not told.
std::int64_t told_place(std::size_t place);

}  // namespace gpupool::planning
