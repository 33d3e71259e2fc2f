// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "bench/fair/engine/policy.h"
#include "bench/fair/policies/backfill.h"
#include "bench/fair/policies/leases.h"
#include "bench/fair/policies/reference_victims.h"
#include "bench/fair/policies/tenant_line.h"

namespace gpupool::bench::fair {

// What spec.queue is designed to do, as a model that counts GPUs and knows no nodes. It is written apart from
// the operator's code, so that the two can be compared: guarantees first, then the tenant with the least
// usage of late and now for its weight; within a tenant the greatest response ratio; a reservation for the
// first that does not get its GPUs, which it keeps until it starts; backfill behind it by bounds; and who
// yields.
class Reference final : public Policy {
 public:
  enum class Yield { kNobody, kToGuarantee, kToShareToo };
  Reference(const Workload& workload, const Settings& settings, Yield yield);

  void arrived(JobId id) override;
  void ended(JobId id) override;
  void decide(Actions& actions) override;
  Seconds wakes_at() const override { return wakes_at_; }

 private:
  struct Candidate {
    JobId id;
    bool guaranteed;  // with it, its tenant holds no more than its guarantee
  };

  std::optional<Candidate> next(const Cluster& cluster) const;
  bool before(const Cluster& cluster, const Candidate& a, const Candidate& b) const;
  bool leaves_kept(const Cluster& cluster, JobId id) const;
  // GPUs that are free now and not kept from this candidate.
  std::int64_t usable(const Cluster& cluster, const Candidate& candidate) const;
  void take_in(const Cluster& cluster);
  void start(Actions& actions, JobId id);
  bool claim(Actions& actions, const Candidate& candidate);
  bool claim_by(Actions& actions, const Candidate& candidate, YieldRule rule);
  void refuse(Actions& actions, const Candidate& candidate);
  void wake(const Cluster& cluster, Seconds moment);

  const Workload& workload_;
  const Settings& settings_;
  Yield yield_;
  Leases leases_;
  std::vector<TenantLine> lines_;
  std::vector<JobId> arrived_;  // since the last pass
  std::vector<JobId> ended_;
  std::vector<JobId> yielded_;  // in the last pass; they wait again in the next
  std::optional<JobId> holder_;
  Reservation kept_;  // for the holder
  // Of the present pass.
  std::vector<std::set<TenantLine::Group>> refused_;  // by tenant
  bool holder_refused_ = false;
  Seconds wakes_at_ = kNever;
};

}  // namespace gpupool::bench::fair
