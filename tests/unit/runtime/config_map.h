// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>

#include "api/meta/object_meta.h"

namespace gpupool::test {

// The simplest kind that every API server has.
struct ConfigMap {
  static constexpr api::ResourceType kType{"", "v1", "configmaps", "ConfigMap", true};
  api::ObjectMeta metadata;
  std::map<std::string, std::string> data;
};

}  // namespace gpupool::test

template <>
struct gpupool::base::json::Schema<gpupool::test::ConfigMap> {
  using T = test::ConfigMap;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::data>("data")};
};
