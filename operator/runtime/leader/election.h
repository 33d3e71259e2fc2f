#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/leader/lease_record.h"

namespace gpupool::runtime {

// lease > renew deadline > retry period. client-go's numbers.
struct ElectionTimes {
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
};

// One candidate in an election by Lease, without I/O: next() says what to do, on_read() and on_written() what
// came of it. After client-go's tools/leaderelection, with two differences: a candidate looks twice in a
// retry period and again at the moment of expiry, so that a dead leader is followed within the lease's
// duration plus half a retry period; and a deleted Lease does not free what its last holder was promised.
//
// Expiry is judged by the local time at which the record was last seen to change, never by the times that
// another machine wrote into it. Our own term is counted from before the write that the server confirmed. Not
// thread-safe.
class Election {
 public:
  struct Read {};
  struct Create {
    LeaseRecord record;
  };
  struct Write {
    std::string resource_version;
    LeaseRecord record;
  };
  struct Wait {
    base::SteadyTime until;
  };
  struct Lost {};  // for good: the program that led has to end
  using Action = std::variant<Read, Create, Write, Wait, Lost>;

  Election(std::string identity, ElectionTimes times);

  Action next(base::SteadyTime now, base::WallTime wall);

  // What a Read found; nothing: there is no Lease.
  void on_read(base::SteadyTime now, const base::Result<std::optional<Lease>>& found);
  // What the server answered to a Create or Write that was sent at `sent`.
  void on_written(base::SteadyTime sent, base::SteadyTime now, const base::Result<Lease>& written);

  // We lead before this moment; nothing: not at all.
  std::optional<base::SteadyTime> leads_until() const { return leads_until_; }
  // Who held the Lease when last looked at; empty: nobody.
  const std::string& holder() const { return seen_.spec.holder; }

  // Ends our term and says what to write so that others need not wait for it to expire; nothing if we do not
  // lead. Only when all work that needed the leadership has ended.
  std::optional<Write> release(base::WallTime wall);

 private:
  bool ours() const { return exists_ && seen_.spec.holder == identity_; }
  base::SteadyTime expires() const;
  LeaseRecord claim(base::WallTime wall) const;
  void see(base::SteadyTime now, const Lease& lease);
  void look_after(base::SteadyTime when);

  std::string identity_;
  ElectionTimes times_;
  bool look_ = true;  // read before anything else
  bool exists_ = false;
  bool lost_ = false;
  int clashes_ = 0;  // writes in a row that somebody else's came before
  Lease seen_;
  base::SteadyTime seen_at_;
  std::optional<base::SteadyTime> wait_until_;
  std::optional<base::SteadyTime> leads_until_;
};

}  // namespace gpupool::runtime
