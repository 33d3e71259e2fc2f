// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "api/meta/object_meta.h"

// The children of a GpuJob. Only their existence and owner are read, and whether a Job still creates pods.
// Outcomes are read from pods, never from the status of children.
namespace gpupool::api {

struct StatefulSet {
  static constexpr ResourceType kType{"apps", "v1", "statefulsets", "StatefulSet", true};
  ObjectMeta metadata;
};

struct BatchJobStatus {
  std::int64_t succeeded = 0;  // pods that its controller has counted
  std::int64_t failed = 0;
};

struct BatchJob {
  static constexpr ResourceType kType{"batch", "v1", "jobs", "Job", true};
  ObjectMeta metadata;
  BatchJobStatus status;

  // True if its controller creates no more pods. For Jobs as gpupool makes them: one completion, and no
  // failure is repeated.
  bool ended() const { return status.succeeded > 0 || status.failed > 0; }
};

struct Service {
  static constexpr ResourceType kType{"", "v1", "services", "Service", true};
  ObjectMeta metadata;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::StatefulSet> {
  static constexpr auto fields = std::array{field<&api::StatefulSet::metadata>("metadata")};
};
template <>
struct Schema<api::BatchJobStatus> {
  static constexpr auto fields = std::array{field<&api::BatchJobStatus::succeeded>("succeeded"),
                                            field<&api::BatchJobStatus::failed>("failed")};
};
template <>
struct Schema<api::BatchJob> {
  static constexpr auto fields =
      std::array{field<&api::BatchJob::metadata>("metadata"), field<&api::BatchJob::status>("status")};
};
template <>
struct Schema<api::Service> {
  static constexpr auto fields = std::array{field<&api::Service::metadata>("metadata")};
};

}  // namespace gpupool::base::json
