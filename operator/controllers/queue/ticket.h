// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "api/meta/object_meta.h"
#include "planning/queue/verdict.h"

namespace gpupool::controllers {

// The answer of a pool's queue to one job. Its nodes or slices are granted to the job until the ticket is
// destroyed: its owner either writes them into the job's status or gives them up. Issued by PoolQueue, owned
// by the reconcile of the job. Not thread-safe; may be destroyed on any thread.
class Ticket {
 public:
  class Issuer {
   public:
    virtual void end_ticket(const api::ObjectKey& job) = 0;  // thread-safe

   protected:
    ~Issuer() = default;
  };

  // REQUIRES: the issuer outlives the ticket.
  Ticket(Issuer& issuer, api::ObjectKey job, planning::Verdict verdict)
      : issuer_(&issuer), job_(std::move(job)), verdict_(std::move(verdict)) {}
  ~Ticket() {
    if (issuer_ != nullptr) issuer_->end_ticket(job_);
  }
  Ticket(Ticket&& other) noexcept
      : issuer_(std::exchange(other.issuer_, nullptr)),
        job_(std::move(other.job_)),
        verdict_(std::move(other.verdict_)) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  Ticket& operator=(Ticket&&) = delete;

  const planning::Verdict& verdict() const { return verdict_; }
  // Call when a newer ticket of the same job replaces this one: destroying it then has no effect.
  void discard() { issuer_ = nullptr; }

 private:
  Issuer* issuer_;
  api::ObjectKey job_;
  planning::Verdict verdict_;
};

}  // namespace gpupool::controllers
