// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/leader/election_lease.h"

namespace gpupool::runtime {

// REQUIRES: lease_duration > renew_deadline > retry_period. The defaults are client-go's.
struct ElectionTimes {
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
};

// One candidate in a leader election, without I/O: next() returns what to do, on_read() and on_written() take
// the result. The Lease object of coordination.k8s.io is called the election lease. After client-go's
// tools/leaderelection, with two differences: a candidate reads twice per retry period and again when the
// lease expires, so a dead leader is replaced within lease_duration plus half a retry_period; and a deleted
// election lease does not end the term of its last holder.
//
// Expiry counts from the local time at which the record was last seen to change, never from times that
// another machine wrote. The own term counts from before the write that the server confirmed. Not
// thread-safe.
class Election {
 public:
  struct Read {};
  struct Create {
    ElectionRecord record;
  };
  struct Write {
    std::string resource_version;
    ElectionRecord record;
  };
  struct Wait {
    base::SteadyTime until;
  };
  struct Lost {};  // leadership was lost: the program must end
  using Action = std::variant<Read, Create, Write, Wait, Lost>;

  Election(std::string identity, ElectionTimes times);

  Action next(base::SteadyTime now, base::WallTime wall);

  // found: the result of a Read; nullopt: there is no election lease.
  void on_read(base::SteadyTime now, const base::Result<std::optional<ElectionLease>>& found);
  // written: the server's answer to a Create or Write that was sent at `sent`.
  void on_written(base::SteadyTime sent, base::SteadyTime now, const base::Result<ElectionLease>& written);

  // This candidate leads before this time; nullopt: it does not lead.
  std::optional<base::SteadyTime> leads_until() const { return leads_until_; }
  // The holder in the record last seen; empty: none.
  const std::string& holder() const { return seen_.spec.holder; }

  // Ends the own term. Returns the write that lets others lead at once; nullopt if this candidate does not
  // lead. REQUIRES: all work that needs the leadership has ended.
  std::optional<Write> release(base::WallTime wall);

 private:
  bool ours() const { return exists_ && seen_.spec.holder == identity_; }
  base::SteadyTime expires() const;
  ElectionRecord claim(base::WallTime wall) const;
  void see(base::SteadyTime now, const ElectionLease& lease);
  void look_after(base::SteadyTime when);

  std::string identity_;
  ElectionTimes times_;
  bool look_ = true;  // the next action is a Read
  bool exists_ = false;
  bool lost_ = false;
  int clashes_ = 0;  // consecutive writes that the server refused because of another write
  ElectionLease seen_;
  base::SteadyTime seen_at_;
  std::optional<base::SteadyTime> wait_until_;
  std::optional<base::SteadyTime> leads_until_;
};

}  // namespace gpupool::runtime
