// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/condition.h"

namespace gpupool::api {

// Draws between two numbers, which are texts such as "1e-5".
struct SweepRange {
  std::string min;
  std::string max;
};

// All whole numbers from min to max.
struct SweepIntegers {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

// A parameter has exactly one of values, integers, uniform and logUniform.
struct SweepParameter {
  std::string name;
  std::vector<std::string> values;
  base::Boxed<SweepIntegers> integers;
  base::Boxed<SweepRange> uniform;      // only with random search
  base::Boxed<SweepRange> log_uniform;  // only with random search
};

struct SweepRandom {
  std::int64_t trials = 0;
  std::int64_t seed = 0;
};

// Which combinations of the parameters are tried: at most one member is set; without one, a grid.
struct SweepSearch {
  base::json::RawJson grid;  // {}: every combination
  base::json::RawJson list;  // {}: the first value of each parameter, then the second of each, and so on
  base::Boxed<SweepRandom> random;
};

// Values of SweepObjective::goal, take and missing.
namespace sweep_goal {
inline constexpr char kMinimize[] = "Minimize";
inline constexpr char kMaximize[] = "Maximize";
}  // namespace sweep_goal
namespace sweep_take {
inline constexpr char kBest[] = "Best";
inline constexpr char kLast[] = "Last";
}  // namespace sweep_take
namespace sweep_missing {
inline constexpr char kFail[] = "Fail";
inline constexpr char kIgnore[] = "Ignore";
}  // namespace sweep_missing

// The metric by which trials are compared.
struct SweepObjective {
  std::string metric;
  std::string goal;
  std::string take = sweep_take::kBest;  // of the values that a trial has reported
  std::string target;                    // a number; the sweep ends when a trial reaches it; empty: none
  std::string missing = sweep_missing::kFail;  // what a trial without a value is
};

// Asynchronous successive halving. Its rungs are the steps min, min * eta, min * eta^2, ... below max.
struct SweepAsha {
  std::int64_t min = 1;
  std::int64_t max = 0;
  std::int64_t eta = 3;  // of the trials that reach a rung, the best 1/eta go on
};

// Which trials are stopped before their end.
struct SweepStopping {
  base::Boxed<SweepAsha> asha;
};

// Values of GpuSweepSpec::keep_jobs: which GpuJobs stay after their result is recorded.
namespace keep_jobs {
inline constexpr char kAll[] = "All";
inline constexpr char kFailed[] = "Failed";
inline constexpr char kBest[] = "Best";
inline constexpr char kNone[] = "None";
}  // namespace keep_jobs

struct GpuSweepSpec {
  SweepSearch search;
  std::vector<SweepParameter> parameters;
  std::int64_t parallel = 10;              // most trials that have begun and not ended
  std::optional<std::int64_t> max_failed;  // absent: no limit
  bool suspend = false;
  base::Boxed<SweepObjective> objective;  // absent: trials are not compared
  base::Boxed<SweepStopping> stopping;    // absent: every trial runs to its end
  std::string keep_jobs = keep_jobs::kAll;
  base::json::RawJson job;  // the spec of each trial's GpuJob, with $(name) for parameters
};

// Letters in GpuSweepStatus::results.
namespace trial_state {
inline constexpr char kSucceeded = 'S';
inline constexpr char kFailed = 'F';
inline constexpr char kNoValue = 'N';  // succeeded, but the objective has no value; counts as failed
inline constexpr char kStopped = 'X';  // early, because others were better, or by the end of the sweep
inline constexpr char kDeleted = 'D';  // somebody deleted its job before its end; counts as failed
}  // namespace trial_state

struct SweepCounts {
  std::int64_t total = 0;
  std::int64_t created = 0;  // all trials below this number have had a job
  std::int64_t active = 0;   // created and without a result
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t stopped = 0;
  bool operator==(const SweepCounts&) const = default;
};

struct SweepTrial {
  std::int64_t trial = 0;
  std::string job;
  std::string value;
  std::map<std::string, std::string> parameters;  // empty if they are too long
  bool operator==(const SweepTrial&) const = default;
};

struct SweepFailure {
  std::int64_t trial = 0;
  std::string reason;
  std::string message;
  bool operator==(const SweepFailure&) const = default;
};

struct GpuSweepStatus {
  std::int64_t observed_generation = 0;
  std::string phase;  // one of phase: Invalid, Running, Suspended, Succeeded or Failed
  std::vector<Condition> conditions;
  std::string reason;
  std::string message;
  std::string progress;  // trials that have ended, of all: "12/200"; for people
  SweepCounts counts;
  base::Boxed<SweepTrial> best;
  std::vector<SweepTrial> top;  // the best ones, best first
  // "<index> <letter> <value> <values at the rungs>" of each trial that has ended, by index.
  std::vector<std::string> results;
  std::vector<SweepFailure> failures;  // the last ones
  std::string spec_hash;               // of what must not change once a trial has begun; empty before
  std::optional<base::WallTime> start_time;
  std::optional<base::WallTime> completion_time;
  bool operator==(const GpuSweepStatus&) const = default;
};

struct GpuSweep {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpusweeps", "GpuSweep", true};
  ObjectMeta metadata;
  GpuSweepSpec spec;
  GpuSweepStatus status;

  bool finished() const { return status.completion_time.has_value(); }
};

// Returns a hash of search, parameters, objective without its target, stopping, keepJobs and job (FNV-1a, 16
// hex digits), to detect that one of them has changed.
std::string spec_hash(const GpuSweepSpec& spec);

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::SweepRange> {
  using T = api::SweepRange;
  static constexpr auto fields = std::array{field<&T::min>("min"), field<&T::max>("max")};
};
template <>
struct Schema<api::SweepIntegers> {
  using T = api::SweepIntegers;
  static constexpr auto fields = std::array{field<&T::min>("min"), field<&T::max>("max")};
};
template <>
struct Schema<api::SweepParameter> {
  using T = api::SweepParameter;
  static constexpr auto fields =
      std::array{field<&T::name>("name"), field<&T::values>("values"), field<&T::integers>("integers"),
                 field<&T::uniform>("uniform"), field<&T::log_uniform>("logUniform")};
};
template <>
struct Schema<api::SweepRandom> {
  using T = api::SweepRandom;
  static constexpr auto fields = std::array{field<&T::trials>("trials"), field<&T::seed>("seed")};
};
template <>
struct Schema<api::SweepSearch> {
  using T = api::SweepSearch;
  static constexpr auto fields =
      std::array{field<&T::grid>("grid"), field<&T::list>("list"), field<&T::random>("random")};
};
template <>
struct Schema<api::SweepObjective> {
  using T = api::SweepObjective;
  static constexpr auto fields =
      std::array{field<&T::metric>("metric"), field<&T::goal>("goal"), field<&T::take>("take"),
                 field<&T::target>("target"), field<&T::missing>("missing")};
};
template <>
struct Schema<api::SweepAsha> {
  using T = api::SweepAsha;
  static constexpr auto fields =
      std::array{field<&T::min>("min"), field<&T::max>("max"), field<&T::eta>("eta")};
};
template <>
struct Schema<api::SweepStopping> {
  using T = api::SweepStopping;
  static constexpr auto fields = std::array{field<&T::asha>("asha")};
};
template <>
struct Schema<api::GpuSweepSpec> {
  using T = api::GpuSweepSpec;
  static constexpr auto fields = std::array{field<&T::search>("search"),
                                            field<&T::parameters>("parameters"),
                                            field<&T::parallel>("parallel"),
                                            field<&T::max_failed>("maxFailed"),
                                            field<&T::suspend>("suspend"),
                                            field<&T::objective>("objective"),
                                            field<&T::stopping>("stopping"),
                                            field<&T::keep_jobs>("keepJobs"),
                                            field<&T::job>("job")};
};
template <>
struct Schema<api::SweepCounts> {
  using T = api::SweepCounts;
  static constexpr auto fields = std::array{field<&T::total>("total"),   field<&T::created>("created"),
                                            field<&T::active>("active"), field<&T::succeeded>("succeeded"),
                                            field<&T::failed>("failed"), field<&T::stopped>("stopped")};
};
template <>
struct Schema<api::SweepTrial> {
  using T = api::SweepTrial;
  static constexpr auto fields = std::array{field<&T::trial>("trial"), field<&T::job>("job"),
                                            field<&T::value>("value"), field<&T::parameters>("parameters")};
};
template <>
struct Schema<api::SweepFailure> {
  using T = api::SweepFailure;
  static constexpr auto fields =
      std::array{field<&T::trial>("trial"), field<&T::reason>("reason"), field<&T::message>("message")};
};
template <>
struct Schema<api::GpuSweepStatus> {
  using T = api::GpuSweepStatus;
  static constexpr auto fields = std::array{field<&T::observed_generation>("observedGeneration"),
                                            field<&T::phase>("phase"),
                                            field<&T::conditions>("conditions"),
                                            field<&T::reason>("reason"),
                                            field<&T::message>("message"),
                                            field<&T::progress>("progress"),
                                            field<&T::counts>("counts"),
                                            field<&T::best>("best"),
                                            field<&T::top>("top"),
                                            field<&T::results>("results"),
                                            field<&T::failures>("failures"),
                                            field<&T::spec_hash>("specHash"),
                                            field<&T::start_time>("startTime"),
                                            field<&T::completion_time>("completionTime")};
};
template <>
struct Schema<api::GpuSweep> {
  using T = api::GpuSweep;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
