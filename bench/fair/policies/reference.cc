// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/policies/reference.h"

#include <algorithm>

#include "bench/fair/policies/bound_class.h"

namespace gpupool::bench::fair {
namespace {

constexpr Seconds kMargin = 30;         // between the end of a backfilled job and the start of the holder
constexpr Seconds kShortPatience = 10;  // of claims to a guarantee

}  // namespace

Reference::Reference(const Workload& workload, const Settings& settings, Yield yield)
    : workload_(workload),
      settings_(settings),
      yield_(yield),
      leases_(workload, settings),
      lines_(workload.tenants.size()),
      refused_(workload.tenants.size()) {}

void Reference::arrived(JobId id) { arrived_.push_back(id); }

void Reference::ended(JobId id) { ended_.push_back(id); }

void Reference::take_in(const Cluster& cluster) {
  leases_.advance(cluster.now());
  for (const auto id : ended_) leases_.ended(cluster, id);
  for (const auto id : arrived_) lines_[cluster.job(id).tenant].put(cluster, id);
  for (const auto id : yielded_) lines_[cluster.job(id).tenant].put(cluster, id);
  ended_.clear();
  arrived_.clear();
  yielded_.clear();
  for (auto& groups : refused_) groups.clear();
  holder_refused_ = false;
  wakes_at_ = kNever;
  if (holder_) kept_ = reserve(cluster, cluster.job(*holder_).gpus);
}

bool Reference::before(const Cluster& cluster, const Candidate& a, const Candidate& b) const {
  const auto mine = workload_.jobs[a.id].tenant;
  const auto its = workload_.jobs[b.id].tenant;
  const auto& tenants = workload_.tenants;
  if (a.guaranteed != b.guaranteed) return a.guaranteed;
  const auto left = a.guaranteed ? cluster.held(mine) * tenants[its].guaranteed
                                 : leases_.key(cluster, mine) * tenants[its].weight;
  const auto right = a.guaranteed ? cluster.held(its) * tenants[mine].guaranteed
                                  : leases_.key(cluster, its) * tenants[mine].weight;
  return left != right ? left < right : a.id < b.id;
}

std::optional<Reference::Candidate> Reference::next(const Cluster& cluster) const {
  const auto with_guarantee = [&](JobId id) {
    const auto& job = cluster.job(id);
    return Candidate{id, cluster.held(job.tenant) + job.gpus <= workload_.tenants[job.tenant].guaranteed};
  };
  std::optional<Candidate> best;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto id = lines_[i].candidate(cluster, refused_[i], holder_, settings_.assumed);
    if (!id) continue;
    const auto candidate = with_guarantee(*id);
    if (!best || before(cluster, candidate, *best)) best = candidate;
  }
  if (!holder_ || holder_refused_) return best;
  const auto holder = with_guarantee(*holder_);
  if (best && best->guaranteed && (!holder.guaranteed || before(cluster, *best, holder))) return best;
  return holder;
}

bool Reference::leaves_kept(const Cluster& cluster, JobId id) const {
  return kept_.lets(cluster, cluster.job(id).gpus, TenantLine::group_of(cluster, id).bound, kMargin);
}

std::int64_t Reference::usable(const Cluster& cluster, const Candidate& candidate) const {
  if (!holder_ || candidate.id == *holder_ || candidate.guaranteed) return cluster.free();
  return leaves_kept(cluster, candidate.id) ? cluster.free() : std::min(cluster.free(), kept_.spare);
}

void Reference::start(Actions& actions, JobId id) {
  const auto& cluster = actions.cluster();
  if (holder_ && holder_ != id && !leaves_kept(cluster, id)) actions.promise(*holder_, kNever);
  lines_[cluster.job(id).tenant].remove(cluster, id);
  actions.start(id);
  leases_.started(cluster, id);
  if (holder_ == id) holder_.reset();
  if (holder_) kept_ = reserve(cluster, cluster.job(*holder_).gpus);
}

void Reference::wake(const Cluster& cluster, Seconds moment) {
  if (moment > cluster.now()) wakes_at_ = std::min(wakes_at_, moment);
}

bool Reference::claim_by(Actions& actions, const Candidate& candidate, YieldRule rule) {
  const auto& cluster = actions.cluster();
  const auto& job = cluster.job(candidate.id);
  const auto patient = job.arrival + (rule == YieldRule::kToShare ? settings_.patience : kShortPatience);
  if (patient > cluster.now()) {
    wake(cluster, patient);
    return false;
  }
  const auto missing = job.gpus - usable(cluster, candidate);
  const auto victims = reference_victims(cluster, leases_, settings_, {candidate.id, missing, rule});
  for (const auto victim : victims) {
    actions.yield(victim);
    leases_.ended(cluster, victim);
    yielded_.push_back(victim);
  }
  if (victims.empty()) {
    for (const auto id : cluster.running()) {
      if (cluster.job(id).preemptible) wake(cluster, guard_end(cluster, settings_, id, rule));
    }
    return false;
  }
  wake(cluster, cluster.now() + 1);  // for the victims
  start(actions, candidate.id);
  return true;
}

bool Reference::claim(Actions& actions, const Candidate& candidate) {
  if (yield_ == Yield::kNobody) return false;
  if (candidate.guaranteed && claim_by(actions, candidate, YieldRule::kToGuarantee)) return true;
  return yield_ == Yield::kToShareToo && claim_by(actions, candidate, YieldRule::kToShare);
}

void Reference::refuse(Actions& actions, const Candidate& candidate) {
  const auto& cluster = actions.cluster();
  const auto tenant = cluster.job(candidate.id).tenant;
  if (holder_ == candidate.id) {
    holder_refused_ = true;
  } else if (!holder_) {
    holder_ = candidate.id;
    holder_refused_ = true;
    kept_ = reserve(cluster, cluster.job(candidate.id).gpus);
    actions.promise(candidate.id, kept_.start);
  } else {
    refused_[tenant].insert(TenantLine::group_of(cluster, candidate.id));
  }
}

void Reference::decide(Actions& actions) {
  const auto& cluster = actions.cluster();
  take_in(cluster);
  while (const auto candidate = next(cluster)) {
    if (cluster.job(candidate->id).gpus <= usable(cluster, *candidate)) {
      start(actions, candidate->id);
    } else if (!claim(actions, *candidate)) {
      refuse(actions, *candidate);
    }
  }
}

}  // namespace gpupool::bench::fair
