// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "api/v1alpha1/gpu_account.h"
#include "api/v1alpha1/gpu_ledger.h"
#include "base/clock.h"
#include "base/log.h"
#include "books/books.h"
#include "kube/client.h"
#include "runtime/cache/store.h"
#include "serve/intake.h"
#include "serve/job_feed.h"
#include "serve/spending.h"

namespace gpupool::ledger {

// Tells the cluster how far the books have come: in GpuLedger.status, and what each GpuAccount has spent. So
// the operator knows which bills are safe, and what is left of budgets. Not thread-safe.
class Publication {
 public:
  // books: to read. REQUIRES: everything referenced outlives this.
  Publication(kube::Client& client, Books& books, Intake& intake, JobFeed& jobs,
              const runtime::Store<api::GpuAccount>& accounts, const base::Clock& clock,
              const base::Log& log);

  // True if the books have all that was published: the published head is in them. False: they are older, for
  // example restored from a backup, or other ones. Makes the GpuLedger if it is missing.
  base::Result<bool> agrees(const std::stop_token& stop);
  // Publishes the head of the books though it is not the published one, and that no GpuJob has been entered.
  base::Result<Head> adopt(const std::stop_token& stop);

  // Call once a second. Writes nothing if nothing has changed; after new entries at once, after other changes
  // of jobs with a bill 10 s later. Returns whether the cluster now knows of all entries made before the
  // call.
  bool publish(const std::stop_token& stop);

 private:
  base::Result<void> write_ledger(const std::string& version, const Head& head, const std::stop_token& stop);
  base::Result<void> write_account(const api::GpuAccount& account, const std::string& version, bool due,
                                   const std::stop_token& stop);
  bool fail(const base::Error& error);

  kube::Client& client_;
  Books& books_;
  Intake& intake_;
  JobFeed& jobs_;
  const runtime::Store<api::GpuAccount>& accounts_;
  const base::Clock& clock_;
  const base::Log& log_;
  Spending spending_;
  std::optional<Head> head_;                 // as published
  std::optional<base::SteadyTime> written_;  // when
  std::set<std::string> changed_;            // namespaces whose accounts do not name the newest version
  bool failing_ = false;
};

}  // namespace gpupool::ledger
