// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "api/meta/object_meta.h"

// What gpupool reads of an Event about a pod.
namespace gpupool::api {

struct PodEvent {
  static constexpr ResourceType kType{"", "v1", "events", "Event", true};
  ObjectMeta metadata;
  std::string message;
  std::string last_timestamp;  // RFC 3339, in UTC; empty if its writer uses another field
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::PodEvent> {
  using T = api::PodEvent;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::message>("message"),
                                            field<&T::last_timestamp>("lastTimestamp")};
};

}  // namespace gpupool::base::json
