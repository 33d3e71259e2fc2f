// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "api/meta/object_meta.h"
#include "api/meta/resource_type.h"
#include "base/json.h"

namespace gpupool::runtime {

// The spec of a coordination.k8s.io/v1 Lease. Times stay text: they are for people and are never compared
// with a clock.
struct ElectionRecord {
  std::string holder;  // empty: released
  std::int64_t duration_seconds = 0;
  std::string acquire_time;
  std::string renew_time;
  std::int64_t transitions = 0;
  bool operator==(const ElectionRecord&) const = default;
};

// The Lease object by which one of several operators leads; not a lease of nodes.
struct ElectionLease {
  static constexpr api::ResourceType kType{"coordination.k8s.io", "v1", "leases", "Lease", true};
  api::ObjectMeta metadata;
  ElectionRecord spec;
};

// The version of the data that the leader stores in the cluster, kept in an annotation of the election lease.
// Like the data, the election lease remains when the program is removed.
struct DataVersion {
  std::string annotation;
  std::int64_t version = 0;
  std::string refusal;  // logged by an elector that finds a newer version
};
// Returns the version in the annotation; 0 if there is none or it is not a number.
std::int64_t stored_version(const ElectionLease& lease, const std::string& annotation);

std::string election_lease_body(const api::ObjectKey& key, const ElectionRecord& record,
                                const DataVersion& data);
// Returns a merge patch that the server refuses (409) unless the election lease still has this
// resourceVersion.
std::string election_lease_patch(const std::string& resource_version, const ElectionRecord& record,
                                 const DataVersion& data);

}  // namespace gpupool::runtime

template <>
struct gpupool::base::json::Schema<gpupool::runtime::ElectionRecord> {
  using T = runtime::ElectionRecord;
  static constexpr auto fields =
      std::array{field<&T::holder>("holderIdentity"), field<&T::duration_seconds>("leaseDurationSeconds"),
                 field<&T::acquire_time>("acquireTime"), field<&T::renew_time>("renewTime"),
                 field<&T::transitions>("leaseTransitions")};
};

template <>
struct gpupool::base::json::Schema<gpupool::runtime::ElectionLease> {
  using T = runtime::ElectionLease;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec")};
};
