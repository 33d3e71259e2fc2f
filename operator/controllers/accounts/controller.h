// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "controllers/accounts/account_book.h"
#include "controllers/setup.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/reconciler.h"
#include "runtime/queue/work_queue.h"

namespace gpupool::controllers {

// The controller of GpuAccounts. Wakes jobs when their account can pay again, and at the second when it
// cannot pay any more; tells by Events how much of a budget is spent. Writes nothing else.
class AccountController final : private runtime::Reconciler {
 public:
  // jobs: the queue of the controller of GpuJobs. REQUIRES: everything referenced outlives this.
  AccountController(const Setup& setup, AccountBook& book, runtime::WorkQueue& jobs);

 private:
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;
  void tell(const AccountBook::State& state);

  AccountBook& book_;
  runtime::WorkQueue& jobs_;
  runtime::EventRecorder& events_;
  base::Clock& clock_;
  std::map<std::string, std::string> told_;  // what was told last, by name; used by the one reconcile thread
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
