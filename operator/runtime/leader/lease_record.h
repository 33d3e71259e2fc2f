#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "api/meta/object_meta.h"
#include "api/meta/resource_type.h"
#include "base/json.h"

namespace gpupool::runtime {

// The spec of a coordination.k8s.io/v1 Lease. Times stay text: they are for people, never compared with a
// clock.
struct LeaseRecord {
  std::string holder;  // empty: released
  std::int64_t duration_seconds = 0;
  std::string acquire_time;
  std::string renew_time;
  std::int64_t transitions = 0;
  bool operator==(const LeaseRecord&) const = default;
};

struct Lease {
  static constexpr api::ResourceType kType{"coordination.k8s.io", "v1", "leases", "Lease", true};
  api::ObjectMeta metadata;
  LeaseRecord spec;
};

// Says in the Lease's annotations which version of the stored data the last leader wrote. It stays when the
// program is removed, as the data does.
inline constexpr char kDataVersionAnnotation[] = "gpupool.dev/data-version";
// 0: it does not say, or says no number.
std::int64_t data_version(const Lease& lease);

std::string lease_body(const api::ObjectKey& key, const LeaseRecord& record, std::int64_t data_version);
// A merge patch that the server refuses (409) unless the Lease still has this resourceVersion.
std::string lease_patch(const std::string& resource_version, const LeaseRecord& record,
                        std::int64_t data_version);

}  // namespace gpupool::runtime

template <>
struct gpupool::base::json::Schema<gpupool::runtime::LeaseRecord> {
  using T = runtime::LeaseRecord;
  static constexpr auto fields =
      std::array{field<&T::holder>("holderIdentity"), field<&T::duration_seconds>("leaseDurationSeconds"),
                 field<&T::acquire_time>("acquireTime"), field<&T::renew_time>("renewTime"),
                 field<&T::transitions>("leaseTransitions")};
};

template <>
struct gpupool::base::json::Schema<gpupool::runtime::Lease> {
  using T = runtime::Lease;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec")};
};
