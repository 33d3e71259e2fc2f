// SPDX-License-Identifier: Apache-2.0
#include "runtime/leader/election.h"

#include <algorithm>
#include <utility>

#include "base/rfc3339.h"

namespace gpupool::runtime {
namespace {

using base::ErrorCode;
using std::chrono::seconds;

// A longer leaseDurationSeconds is taken for a mistake; it must not exclude all candidates for ever.
constexpr seconds kLongestPromise{3600};

// True if the election lease is not in the state that was last read.
bool is_clash(ErrorCode code) {
  return code == ErrorCode::kConflict || code == ErrorCode::kAlreadyExists || code == ErrorCode::kNotFound;
}

}  // namespace

Election::Election(std::string identity, ElectionTimes times)
    : identity_(std::move(identity)), times_(times) {}

Election::Action Election::next(base::SteadyTime now, base::WallTime wall) {
  if (leads_until_ && now >= *leads_until_) lost_ = true;
  if (lost_) {
    leads_until_.reset();
    return Lost{};
  }
  if (wait_until_ && now < *wait_until_) {
    return Wait{leads_until_ ? std::min(*wait_until_, *leads_until_) : *wait_until_};
  }
  wait_until_.reset();
  if (look_) return Read{};
  if (!exists_) return Create{claim(wall)};
  return Write{seen_.metadata.resource_version, claim(wall)};
}

void Election::on_read(base::SteadyTime now, const base::Result<std::optional<ElectionLease>>& found) {
  const auto soon = now + times_.retry_period / 2;
  if (!found) return look_after(soon);
  exists_ = found->has_value();
  if (exists_) see(now, **found);
  const bool held_by_other = !seen_.spec.holder.empty() && seen_.spec.holder != identity_;
  if (leads_until_) {
    lost_ = exists_ && held_by_other;
  } else if (held_by_other && now < expires()) {
    return look_after(std::min(soon, expires()));
  }
  look_ = false;
}

void Election::on_written(base::SteadyTime sent, base::SteadyTime now,
                          const base::Result<ElectionLease>& written) {
  if (written && written->spec.holder == identity_) {
    exists_ = true;
    clashes_ = 0;
    see(now, *written);
    leads_until_ = sent + times_.renew_deadline;
    wait_until_ = sent + times_.retry_period;
    return;
  }
  const bool clash = !written && is_clash(written.error().code);
  if (clash && ++clashes_ == 1) {
    look_ = true;
  } else if (clash || !leads_until_) {
    look_after(now + times_.retry_period / 2);
  } else {
    wait_until_ = now + times_.retry_period;
  }
}

std::optional<Election::Write> Election::release(base::WallTime wall) {
  if (!leads_until_) return std::nullopt;
  leads_until_.reset();
  lost_ = true;
  if (!ours()) return std::nullopt;
  auto record = claim(wall);
  record.holder.clear();
  record.duration_seconds = 1;
  return Write{seen_.metadata.resource_version, record};
}

base::SteadyTime Election::expires() const {
  const auto promised = std::min(seconds(seen_.spec.duration_seconds), kLongestPromise);
  return seen_at_ + (promised > seconds(0) ? promised : times_.lease_duration);
}

ElectionRecord Election::claim(base::WallTime wall) const {
  ElectionRecord record = seen_.spec;
  const auto stamp = base::to_rfc3339_micro(wall);
  if (record.holder != identity_) {
    record.acquire_time = stamp;
    if (exists_) ++record.transitions;
  }
  record.holder = identity_;
  record.duration_seconds = std::chrono::ceil<seconds>(times_.lease_duration).count();
  record.renew_time = stamp;
  return record;
}

void Election::see(base::SteadyTime now, const ElectionLease& lease) {
  if (lease.spec != seen_.spec) seen_at_ = now;
  seen_ = lease;
}

void Election::look_after(base::SteadyTime when) {
  look_ = true;
  wait_until_ = when;
}

}  // namespace gpupool::runtime
