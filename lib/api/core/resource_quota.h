// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "base/json.h"

// How much a namespace may hold.
namespace gpupool::api {

struct ResourceQuotaSpec {
  std::vector<std::string> scopes;  // with scopes it counts only some of the pods
  base::json::RawJson scope_selector;
};

struct ResourceQuotaStatus {
  std::map<std::string, std::string> hard;  // quantities, by name of the resource
  std::map<std::string, std::string> used;
};

struct ResourceQuota {
  static constexpr ResourceType kType{"", "v1", "resourcequotas", "ResourceQuota", true};
  ObjectMeta metadata;
  ResourceQuotaSpec spec;
  ResourceQuotaStatus status;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::ResourceQuotaSpec> {
  using T = api::ResourceQuotaSpec;
  static constexpr auto fields =
      std::array{field<&T::scopes>("scopes"), field<&T::scope_selector>("scopeSelector")};
};
template <>
struct Schema<api::ResourceQuotaStatus> {
  using T = api::ResourceQuotaStatus;
  static constexpr auto fields = std::array{field<&T::hard>("hard"), field<&T::used>("used")};
};
template <>
struct Schema<api::ResourceQuota> {
  using T = api::ResourceQuota;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
