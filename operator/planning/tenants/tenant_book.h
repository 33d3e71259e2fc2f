// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/v1alpha1/pool_queue.h"
#include "planning/tenants/tenant_map.h"
#include "planning/tenants/tenant_usage.h"

namespace gpupool::planning {

// The tenants of one pool: what each holds and has used. Not thread-safe.
class TenantBook {
 public:
  // stored: what the status of the pool said last; used by tenants goes on from there.
  TenantBook(const api::PoolQueueSpec& spec, const api::QueueStatus& stored, base::WallTime now);

  const TenantMap& tenants() const { return map_; }
  // Takes over a changed spec. What was used stays; what jobs hold stays with the tenant that it began with.
  void change(const api::PoolQueueSpec& spec, base::WallTime now);

  // A job holds an amount since then. Does nothing if the same job holds the same already.
  void hold(const api::ObjectKey& job, const std::string& tenant, MilliGpus amount, base::WallTime since);
  // A job will hold an amount when others have made room, or when its status says so: it counts as held, but
  // is not used yet.
  void claim(const api::ObjectKey& job, const std::string& tenant, MilliGpus amount, base::WallTime now);
  void release(const api::ObjectKey& job, base::WallTime now);
  // Releases all jobs that are not among these.
  void release_others(const std::set<api::ObjectKey>& jobs, base::WallTime now);

  // A tenant as the order of the queue needs it.
  struct Share {
    Tenant tenant;
    MilliGpus average = 0;
    MilliGpus held = 0;  // claims included
  };
  Share share(const std::string& tenant, base::WallTime now);

  // For status.queue: the listed tenants, then at most `others` of the rest that hold or have used most.
  std::vector<api::TenantStatus> statuses(const std::map<std::string, std::int64_t>& queued,
                                          std::size_t others, base::WallTime now);

 private:
  struct Hold {
    std::string tenant;
    MilliGpus amount = 0;
    bool claimed = false;
  };
  TenantUsage& usage_of(const std::string& tenant, base::WallTime now);

  TenantMap map_;
  std::int64_t half_life_;
  std::map<std::string, TenantUsage> usage_;
  std::map<api::ObjectKey, Hold> holds_;
  std::map<std::string, MilliGpus> claimed_;  // by tenant
};

}  // namespace gpupool::planning
