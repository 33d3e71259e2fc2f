// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "base/json.h"
#include "base/word.h"

namespace gpupool::api {

// A number of GPUs, or of slices in a pool whose unit is a slice.
struct ExplainedUnits {
  std::int64_t total = 0;  // healthy ones, on nodes that the pool may use
  std::int64_t free = 0;
  bool operator==(const ExplainedUnits&) const = default;
};

// The nodes of a pool, as one job may use them. Each node is counted once, in the first of these states that
// it is in.
struct ExplainedPool {
  std::string name;
  std::int64_t nodes = 0;     // all members
  std::int64_t unsuited = 0;  // the wrong GPUs, labels or size for this job
  std::int64_t not_ready = 0;
  std::int64_t cordoned = 0;
  std::int64_t tainted = 0;  // with taints that the job does not tolerate, or not yet marked for the pool
  std::int64_t leased = 0;   // by jobs; in a sharing pool, without room for a worker
  std::int64_t foreign = 0;  // without room, because of pods of others
  std::int64_t spare = 0;    // free, and kept so by spec.spares of the pool
  std::int64_t free = 0;     // with room for a worker
  base::Boxed<ExplainedUnits> gpus;
  base::Boxed<ExplainedUnits> slices;
  std::vector<std::string> why;  // one example of each state that keeps nodes from the job
  bool operator==(const ExplainedPool&) const = default;
};

// The jobs before this one in the queue of its pool.
struct ExplainedQueue {
  std::int64_t jobs = 0;
  std::int64_t gpus = 0;             // that they ask for, if they ask for GPUs
  std::int64_t slices = 0;           // the same for slices by number
  std::int64_t higher_priority = 0;  // the others are older
  std::vector<std::string> yours;    // those in the namespace of the asker, the first ones
  bool operator==(const ExplainedQueue&) const = default;
};

// Values of ExplainedStart::basis.
namespace start_basis {
inline constexpr char kNow[] = "Now";              // nothing has to end first
inline constexpr char kHistory[] = "History";      // times of jobs like those that have ended
inline constexpr char kDeadlines[] = "Deadlines";  // activeDeadlineSeconds
inline constexpr char kMixed[] = "Mixed";          // both
}  // namespace start_basis

// When the job may start. Times without a value are not known.
struct ExplainedStart {
  std::optional<base::WallTime> from;  // likely
  std::optional<base::WallTime> to;
  std::optional<base::WallTime> latest;  // if all jobs keep their deadlines, and none with priority comes
  base::Word basis;                      // of `from` and `to`
  std::int64_t samples = 0;              // number of ended jobs that `from` and `to` are computed from
  std::int64_t without_deadline = 0;     // jobs that may be waited for and have no deadline
  bool operator==(const ExplainedStart&) const = default;
};

// The answer to the annotation gpupool.dev/explain: why a job does not run, or what it does. It is the state
// at `time`, and stays as it is until the job is asked about again. At most 2 KiB of JSON.
struct Explanation {
  std::string request;  // request_of() of the annotation that it answers
  std::optional<base::WallTime> time;
  std::string text = {};  // all of it, in a few lines for people
  std::string wants = {};
  base::Boxed<ExplainedPool> pool = {};  // these four only if the job waits in a queue
  base::Boxed<ExplainedQueue> ahead = {};
  base::Boxed<ExplainedStart> start = {};
  std::vector<std::string> sooner = {};  // what would let it start sooner
  bool operator==(const Explanation&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::ExplainedUnits> {
  using T = api::ExplainedUnits;
  static constexpr auto fields = std::array{field<&T::total>("total"), field<&T::free>("free")};
};
template <>
struct Schema<api::ExplainedPool> {
  using T = api::ExplainedPool;
  static constexpr auto fields = std::array{field<&T::name>("name"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::unsuited>("unsuited"),
                                            field<&T::not_ready>("notReady"),
                                            field<&T::cordoned>("cordoned"),
                                            field<&T::tainted>("tainted"),
                                            field<&T::leased>("leased"),
                                            field<&T::foreign>("foreign"),
                                            field<&T::spare>("spare"),
                                            field<&T::free>("free"),
                                            field<&T::gpus>("gpus"),
                                            field<&T::slices>("slices"),
                                            field<&T::why>("why")};
};
template <>
struct Schema<api::ExplainedQueue> {
  using T = api::ExplainedQueue;
  static constexpr auto fields =
      std::array{field<&T::jobs>("jobs"), field<&T::gpus>("gpus"), field<&T::slices>("slices"),
                 field<&T::higher_priority>("higherPriority"), field<&T::yours>("yours")};
};
template <>
struct Schema<api::ExplainedStart> {
  using T = api::ExplainedStart;
  static constexpr auto fields =
      std::array{field<&T::from>("from"),       field<&T::to>("to"),
                 field<&T::latest>("latest"),   field<&T::basis>("basis"),
                 field<&T::samples>("samples"), field<&T::without_deadline>("withoutDeadline")};
};
template <>
struct Schema<api::Explanation> {
  using T = api::Explanation;
  static constexpr auto fields =
      std::array{field<&T::request>("request"), field<&T::time>("time"),    field<&T::text>("text"),
                 field<&T::wants>("wants"),     field<&T::pool>("pool"),    field<&T::ahead>("ahead"),
                 field<&T::start>("start"),     field<&T::sooner>("sooner")};
};

}  // namespace gpupool::base::json
