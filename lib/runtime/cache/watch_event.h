// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "api/meta/object_meta.h"
#include "base/json.h"

namespace gpupool::runtime {

// One line of a watch.
template <class K>
struct WatchEvent {
  std::string type;
  K object;
};

// The metadata of an object of any kind.
struct Named {
  api::ObjectMeta metadata;
};

}  // namespace gpupool::runtime

template <class K>
struct gpupool::base::json::Schema<gpupool::runtime::WatchEvent<K>> {
  using T = runtime::WatchEvent<K>;
  static constexpr auto fields = std::array{field<&T::type>("type"), field<&T::object>("object")};
};

template <>
struct gpupool::base::json::Schema<gpupool::runtime::Named> {
  static constexpr auto fields = std::array{field<&runtime::Named::metadata>("metadata")};
};
