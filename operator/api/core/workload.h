#pragma once

#include <array>

#include "api/meta/object_meta.h"

// The children of a GpuJob. Only their existence and owner matter: outcomes are read from pods, never from
// conditions of these.
namespace gpupool::api {

struct StatefulSet {
  static constexpr ResourceType kType{"apps", "v1", "statefulsets", "StatefulSet", true};
  ObjectMeta metadata;
};

struct BatchJob {
  static constexpr ResourceType kType{"batch", "v1", "jobs", "Job", true};
  ObjectMeta metadata;
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
struct Schema<api::BatchJob> {
  static constexpr auto fields = std::array{field<&api::BatchJob::metadata>("metadata")};
};
template <>
struct Schema<api::Service> {
  static constexpr auto fields = std::array{field<&api::Service::metadata>("metadata")};
};

}  // namespace gpupool::base::json
