// SPDX-License-Identifier: Apache-2.0
// What the status of a GpuJob keeps of what its workers and gpupool-carry reported.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/transfer_report.h"
#include "base/json.h"

namespace gpupool::api {

// A number that rank 0 has reported. Values are texts, because JSON knows no NaN.
struct JobMetric {
  std::string name;
  std::string last;  // may be NaN, Infinity or -Infinity
  std::optional<std::int64_t> last_step;
  std::string least;  // empty, as greatest, if none was finite
  std::optional<std::int64_t> least_step;
  std::string greatest;
  std::optional<std::int64_t> greatest_step;
  std::int64_t count = 0;
  std::int64_t not_finite = 0;
  bool operator==(const JobMetric&) const = default;
};

// What the last attempt that has ended reported.
struct JobMetricsStatus {
  std::int64_t attempt = 0;
  std::vector<JobMetric> values;         // in the order of spec.metrics.names
  std::vector<std::string> missing;      // names that never came
  std::vector<std::string> other_names;  // if one never came: names that came instead
  bool operator==(const JobMetricsStatus&) const = default;
};

// How the source of an attempt came, or why it did not.
struct JobSourceStatus {
  std::int64_t attempt = 0;
  std::string state;         // of source_state
  std::int64_t bytes = 0;    // of one worker
  std::int64_t seconds = 0;  // of the slowest worker, rounded up
  std::vector<TransferredItem> items;
  bool operator==(const JobSourceStatus&) const = default;
};

namespace source_state {
inline constexpr char kFetched[] = "Fetched";
inline constexpr char kFailed[] = "Failed";
}  // namespace source_state

// What became of spec.results of an attempt: one item for each entry, of all its ranks together.
struct JobResultsStatus {
  std::int64_t attempt = 0;
  std::string state;  // of transfer_state
  std::vector<TransferredItem> items;
  bool operator==(const JobResultsStatus&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::JobMetric> {
  using T = api::JobMetric;
  static constexpr auto fields = std::array{field<&T::name>("name"),
                                            field<&T::last>("last"),
                                            field<&T::last_step>("step"),
                                            field<&T::least>("min"),
                                            field<&T::least_step>("minStep"),
                                            field<&T::greatest>("max"),
                                            field<&T::greatest_step>("maxStep"),
                                            field<&T::count>("count"),
                                            field<&T::not_finite>("notFinite")};
};
template <>
struct Schema<api::JobMetricsStatus> {
  using T = api::JobMetricsStatus;
  static constexpr auto fields =
      std::array{field<&T::attempt>("attempt"), field<&T::values>("values"), field<&T::missing>("missing"),
                 field<&T::other_names>("otherNames")};
};
template <>
struct Schema<api::JobSourceStatus> {
  using T = api::JobSourceStatus;
  static constexpr auto fields =
      std::array{field<&T::attempt>("attempt"), field<&T::state>("state"), field<&T::bytes>("bytes"),
                 field<&T::seconds>("seconds"), field<&T::items>("items")};
};
template <>
struct Schema<api::JobResultsStatus> {
  using T = api::JobResultsStatus;
  static constexpr auto fields =
      std::array{field<&T::attempt>("attempt"), field<&T::state>("state"), field<&T::items>("items")};
};

}  // namespace gpupool::base::json
