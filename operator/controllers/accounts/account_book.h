// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_account.h"
#include "api/v1alpha1/gpu_bill_record.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/cluster/bill_versions.h"
#include "controllers/cluster/caches.h"
#include "planning/accounts/balance.h"
#include "planning/accounts/charge.h"
#include "planning/accounts/funds.h"
#include "runtime/cache/informer.h"

namespace gpupool::controllers {

// What accounts have spent until now: what their status says is in the books, and what jobs and
// GpuBillRecords say that is not in it yet, among it what is held now. So a budget ends at its second,
// however late the ledger is. Thread-safe.
class AccountBook {
 public:
  // REQUIRES: everything referenced outlives this; constructed before the manager runs.
  AccountBook(kube::Client& client, Caches& caches, const BillVersions& versions, base::Clock& clock,
              base::Metrics& metrics, const base::Log& log);
  void add_to(runtime::Manager& manager);
  // Called with the name of an account whose balance or jobs have changed, and with "" when anybody who waits
  // for money may have another account now. On the reflectors' threads.
  void on_change(std::function<void(const std::string&)> handler) { on_change_ = std::move(handler); }

  // JobActions::funds and JobActions::admit.
  planning::Funds funds(const api::GpuJob& job);
  std::optional<api::Problem> admit(const api::GpuJob& job, const api::GpuJobStatus& next);

  // An account with a budget, as it is now.
  struct State {
    std::shared_ptr<const api::GpuAccount> account;
    planning::Balance balance;
    std::vector<api::ObjectKey> holders;  // jobs that hold something
    std::vector<api::ObjectKey> waiting;  // jobs that wait for it
  };
  // Nothing: there is no such account, or it has no budget.
  std::optional<State> state(const std::string& account);

  // All jobs that wait for money.
  std::vector<api::ObjectKey> waiting() const;

 private:
  // Of one job, or of one GpuBillRecord.
  struct Live {
    api::ObjectKey job;  // of a record: empty
    std::string uid;     // of the job
    planning::JobCharge charge;
    bool waits = false;
  };
  // What a job that is about to hold nodes will cost.
  struct Reserved {
    api::ObjectKey job;
    base::Micros rate = 0;
    base::SteadyTime at = {};
  };
  struct Account {
    std::shared_ptr<const api::GpuAccount> object;
    std::map<std::string, Live> live;          // by UID of the job, or name of the record
    std::map<std::string, Reserved> reserved;  // by UID of the job
  };

  void on_account(const runtime::Change<api::GpuAccount>& change);
  void on_job(const runtime::Change<api::GpuJob>& change);
  void on_record(const runtime::Change<api::GpuBillRecord>& change);
  void tell(const std::string& account);
  Account* account_of(const std::string& ns) GPUPOOL_REQUIRES(mutex_);
  void rebuild() GPUPOOL_REQUIRES(mutex_);
  void take_job(Account& account, const api::GpuJob& job) GPUPOOL_REQUIRES(mutex_);
  void take_record(Account& account, const api::GpuBillRecord& record) GPUPOOL_REQUIRES(mutex_);
  bool is_reserved(const std::string& uid, const Reserved& reserved) const;
  planning::Balance balance_of(Account& account) GPUPOOL_REQUIRES(mutex_);
  base::Micros rate_of_claim(const api::GpuJob& job) const;

  Caches& caches_;
  const BillVersions& versions_;
  base::Clock& clock_;
  const base::Log log_;
  runtime::Informer<api::GpuAccount> accounts_;
  runtime::Informer<api::GpuBillRecord> records_;
  std::function<void(const std::string&)> on_change_;
  base::Mutex mutex_;
  std::map<std::string, Account> book_ GPUPOOL_GUARDED_BY(mutex_);          // by name
  std::map<std::string, std::string> payers_ GPUPOOL_GUARDED_BY(mutex_);    // accounts by namespace
  std::map<std::string, base::Micros> refused_ GPUPOOL_GUARDED_BY(mutex_);  // rates by UID of the job
};

}  // namespace gpupool::controllers
