// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/resource_type.h"
#include "base/json.h"

namespace gpupool::api {

struct OwnerReference {
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<base::WallTime> creation_timestamp;
  std::optional<base::WallTime> deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owner_references;

  ObjectKey key() const { return {ns, name}; }
  bool deleting() const { return deletion_timestamp.has_value(); }
  // Returns the UID of the owner that controls this object; empty if there is none.
  std::string controller_uid() const;
  // Return the value, or an empty string.
  std::string label(const std::string& key) const;
  std::string annotation(const std::string& key) const;
  bool has_finalizer(const std::string& finalizer) const;
};

struct ListMeta {
  std::string resource_version;
  std::string continue_token;
};

// The API server's answer to a list of K.
template <class K>
struct List {
  ListMeta metadata;
  std::vector<K> items;
};

}  // namespace gpupool::api

template <>
struct gpupool::base::json::Schema<gpupool::api::OwnerReference> {
  using T = api::OwnerReference;
  static constexpr auto fields = std::array{field<&T::kind>("kind"), field<&T::name>("name"),
                                            field<&T::uid>("uid"), field<&T::controller>("controller")};
};

template <>
struct gpupool::base::json::Schema<gpupool::api::ObjectMeta> {
  using T = api::ObjectMeta;
  static constexpr auto fields = std::array{
      field<&T::name>("name"),
      field<&T::ns>("namespace"),
      field<&T::uid>("uid"),
      field<&T::resource_version>("resourceVersion"),
      field<&T::generation>("generation"),
      field<&T::creation_timestamp>("creationTimestamp"),
      field<&T::deletion_timestamp>("deletionTimestamp"),
      field<&T::deletion_grace_period_seconds>("deletionGracePeriodSeconds"),
      field<&T::labels>("labels"),
      field<&T::annotations>("annotations"),
      field<&T::finalizers>("finalizers"),
      field<&T::owner_references>("ownerReferences"),
  };
};

template <>
struct gpupool::base::json::Schema<gpupool::api::ListMeta> {
  using T = api::ListMeta;
  static constexpr auto fields =
      std::array{field<&T::resource_version>("resourceVersion"), field<&T::continue_token>("continue")};
};

template <class K>
struct gpupool::base::json::Schema<gpupool::api::List<K>> {
  using T = api::List<K>;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::items>("items")};
};
