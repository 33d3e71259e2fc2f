// SPDX-License-Identifier: Apache-2.0
#include "controllers/accounts/account_book.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/meta/resource_version.h"
#include "api/v1alpha1/reasons.h"
#include "base/money.h"
#include "base/month.h"
#include "base/unix_seconds.h"
#include "planning/job/job_status.h"
#include "planning/pricing/price_list.h"

namespace gpupool::controllers {
namespace {

using std::chrono::seconds;

// A status is written within this time after the moments in it. Only for jobs whose versions this program has
// not seen, because it was started later.
constexpr std::int64_t kLongestWrite = 60;
// How long a refused or failed write keeps money set aside.
constexpr auto kReservedFor = seconds(30);

bool waits_for_money(const api::GpuJob& job) {
  return job.status.reason == api::reason::kBudgetExhausted ||
         job.status.reason == api::reason::kWrongCurrency;
}

// True if the change is one of what the account pays or of who waits for it.
bool concerns_accounts(const runtime::Change<api::GpuJob>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = change.before->status;
  const auto& after = change.after->status;
  const auto* old_bill = before.bill();
  const auto* new_bill = after.bill();
  if ((old_bill == nullptr) != (new_bill == nullptr)) return true;
  if (old_bill != nullptr && !(*old_bill == *new_bill)) return true;
  return waits_for_money(*change.before) != waits_for_money(*change.after) ||
         change.before->metadata.uid != change.after->metadata.uid;
}

}  // namespace

AccountBook::AccountBook(kube::Client& client, Caches& caches, const BillVersions& versions,
                         base::Clock& clock, base::Metrics& metrics, const base::Log& log)
    : caches_(caches),
      versions_(versions),
      clock_(clock),
      log_(log),
      accounts_(client, {}, clock, metrics, log),
      records_(client, {}, clock, metrics, log) {
  caches.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) { on_job(change); });
  accounts_.on_change([this](const runtime::Change<api::GpuAccount>& change) { on_account(change); });
  records_.on_change([this](const runtime::Change<api::GpuBillRecord>& change) { on_record(change); });
}

// Jobs wait for both: without them a budget would be overrun after each start. Where a kind is not installed
// the operator does not become ready, and says so.
void AccountBook::add_to(runtime::Manager& manager) {
  manager.add_cache(accounts_.reflector(), [this] { return accounts_.synced(); });
  manager.add_cache(records_.reflector(), [this] { return records_.synced(); });
}

void AccountBook::tell(const std::string& account) {
  if (on_change_) on_change_(account);
}

// Accounts are few: their namespaces are read anew with each change of one. The first by name pays.
void AccountBook::on_account(const runtime::Change<api::GpuAccount>& change) {
  {
    const base::MutexLock lock(mutex_);
    std::map<std::string, Account> book;
    std::map<std::string, std::string> payers;
    for (const auto& account : accounts_.store().list()) {
      const auto& name = account->metadata.name;
      auto known = book_.find(name);
      if (known != book_.end()) book.emplace(name, std::move(known->second));
      book[name].object = account;
    }
    for (const auto& [name, account] : book) {
      for (const auto& ns : account.object->spec.namespaces) payers.emplace(ns, name);
    }
    book_ = std::move(book);
    if (payers != payers_) {
      payers_ = std::move(payers);
      rebuild();
    }
  }
  const auto& metadata = (change.after ? change.after : change.before)->metadata;
  tell(metadata.name);
  const bool same_spec = change.before && change.after &&
                         change.before->metadata.generation == change.after->metadata.generation;
  if (same_spec) return;
  log_.info(change.after ? "read the spec of an account" : "an account is gone",
            {{"name", metadata.name}, {"generation", metadata.generation}});
  tell("");
}

void AccountBook::rebuild() {
  for (auto& [name, account] : book_) account.live.clear();
  for (const auto& job : caches_.jobs.store().list()) {
    if (auto* account = account_of(job->metadata.ns)) take_job(*account, *job);
  }
  for (const auto& record : records_.store().list()) {
    if (auto* account = account_of(record->spec.ns)) take_record(*account, *record);
  }
}

AccountBook::Account* AccountBook::account_of(const std::string& ns) {
  const auto payer = payers_.find(ns);
  return payer == payers_.end() ? nullptr : &book_.at(payer->second);
}

void AccountBook::take_job(Account& account, const api::GpuJob& job) {
  Live live{job.metadata.key(), job.metadata.uid, planning::charge_of(job, account.object->spec.currency),
            waits_for_money(job)};
  if (live.charge.empty() && !live.waits) {
    account.live.erase(job.metadata.uid);
  } else {
    account.live.insert_or_assign(job.metadata.uid, std::move(live));
  }
}

void AccountBook::take_record(Account& account, const api::GpuBillRecord& record) {
  account.live.insert_or_assign(record.metadata.name,
                                Live{{},
                                     record.spec.job_uid,
                                     planning::charge_of(record.spec.bill, 0, account.object->spec.currency),
                                     false});
}

void AccountBook::on_job(const runtime::Change<api::GpuJob>& change) {
  if (!concerns_accounts(change)) return;
  std::string name;
  {
    const base::MutexLock lock(mutex_);
    const bool asks_the_same = change.before && change.after &&
                               change.before->metadata.uid == change.after->metadata.uid &&
                               change.before->metadata.generation == change.after->metadata.generation;
    if (change.before && !asks_the_same) refused_.erase(change.before->metadata.uid);
    auto* const account = account_of((change.after ? change.after : change.before)->metadata.ns);
    if (account == nullptr) return;
    if (change.before) account->live.erase(change.before->metadata.uid);
    if (change.after) take_job(*account, *change.after);
    name = account->object->metadata.name;
  }
  tell(name);
}

void AccountBook::on_record(const runtime::Change<api::GpuBillRecord>& change) {
  const auto& record = change.after ? *change.after : *change.before;
  std::string name;
  {
    const base::MutexLock lock(mutex_);
    auto* const account = account_of(record.spec.ns);
    if (account == nullptr) return;
    account->live.erase(record.metadata.name);
    if (change.after) take_record(*account, record);
    name = account->object->metadata.name;
  }
  tell(name);
}

// Until the cache shows that the job holds what it was set aside for, or that it does not.
bool AccountBook::is_reserved(const std::string& uid, const Reserved& reserved) const {
  const auto job = caches_.jobs.store().get(reserved.job);
  if (job == nullptr || job->metadata.uid != uid) return false;
  if (planning::awaits_others(job->status)) return true;
  return !planning::holds_nodes(job->status) && clock_.now() - reserved.at < kReservedFor;
}

planning::Balance AccountBook::balance_of(Account& account) {
  const auto& object = *account.object;
  const auto& status = object.status;
  const auto now = base::unix_seconds(clock_.wall());
  planning::Balance balance;
  balance.budget = planning::budget_of(object).value_or(0);
  planning::Stretch period{0, now};
  const bool by_month = object.by_month();
  const auto month = base::month_of(now);
  if (by_month) period.from = month.begin;
  const bool current = by_month ? status.month == month.name : status.month.empty();
  if (current) balance.spent = base::parse_micros(status.spent).value_or(0);
  const auto version = api::version_number(status.through_version);
  const auto known_since = status.as_of ? base::unix_seconds(*status.as_of) - kLongestWrite : 0;
  for (const auto& [id, live] : account.live) {
    const auto seen = versions_.segments_at(live.uid, version);
    // What an earlier month's status says is not in `spent`; what is before this month does not count.
    const auto entered = !current ? 0 : seen ? *seen : planning::last_ended_by(live.charge, known_since);
    balance.spent += planning::cost_in(live.charge, period, entered);
    balance.rate += planning::hourly_rate(live.charge);
  }
  std::erase_if(account.reserved, [this](const auto& one) { return !is_reserved(one.first, one.second); });
  for (const auto& [uid, reserved] : account.reserved) balance.rate += reserved.rate;
  return balance;
}

planning::Funds AccountBook::funds(const api::GpuJob& job) {
  const base::MutexLock lock(mutex_);
  auto* const account = account_of(job.metadata.ns);
  if (account == nullptr) return {};
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  if (pool == nullptr || !pool->spec.price) return {};  // it costs nothing
  const auto& spec = account->object->spec;
  if (pool->spec.price->currency != spec.currency)
    return {api::Problem{api::reason::kWrongCurrency, "pool " + job.spec.pool + " has prices in " +
                                                          pool->spec.price->currency + ", and account " +
                                                          account->object->metadata.name + " pays in " +
                                                          spec.currency}};
  if (!planning::budget_of(*account->object)) return {};
  const auto balance = balance_of(*account);
  if (planning::holds_nodes(job.status) && !planning::awaits_others(job.status)) {
    const bool costs = planning::hourly_rate(planning::charge_of(job, spec.currency)) > 0;
    if (!costs || !balance.exhausted()) return {};
    return {planning::exhausted(*account->object, balance), spec.on_exhausted == api::on_exhausted::kSuspend};
  }
  if (planning::awaits_others(job.status)) return {};
  const auto refused = refused_.find(job.metadata.uid);
  return {planning::shortfall(*account->object, balance, refused == refused_.end() ? 0 : refused->second)};
}

// The nodes of a claim have no price in the status yet: the pool's highest one for what the job asks for.
base::Micros AccountBook::rate_of_claim(const api::GpuJob& job) const {
  const auto pool = caches_.pools.store().get({"", job.spec.pool});
  const auto prices = pool == nullptr ? std::nullopt : planning::prices_at(*pool, clock_.wall());
  if (!prices) return 0;
  return planning::highest_of(*prices) * std::max<std::int64_t>(job.spec.gpus, 1);
}

std::optional<api::Problem> AccountBook::admit(const api::GpuJob& job, const api::GpuJobStatus& next) {
  const base::MutexLock lock(mutex_);
  auto* const account = account_of(job.metadata.ns);
  if (account == nullptr || !planning::budget_of(*account->object)) return std::nullopt;
  base::Micros rate = 0;
  if (planning::awaits_others(next)) {
    rate = rate_of_claim(job);
  } else {
    auto as_next = job;
    as_next.status = next;
    rate = planning::hourly_rate(planning::charge_of(as_next, account->object->spec.currency));
  }
  if (rate == 0) return std::nullopt;
  account->reserved.erase(job.metadata.uid);
  if (auto problem = planning::shortfall(*account->object, balance_of(*account), rate)) {
    refused_[job.metadata.uid] = rate;
    return problem;
  }
  refused_.erase(job.metadata.uid);
  account->reserved[job.metadata.uid] = {job.metadata.key(), rate, clock_.now()};
  return std::nullopt;
}

std::optional<AccountBook::State> AccountBook::state(const std::string& account) {
  const base::MutexLock lock(mutex_);
  const auto found = book_.find(account);
  if (found == book_.end() || !planning::budget_of(*found->second.object)) return std::nullopt;
  State state{found->second.object, balance_of(found->second), {}, {}};
  for (const auto& [id, live] : found->second.live) {
    if (live.waits) state.waiting.push_back(live.job);
    const bool holds = std::ranges::any_of(live.charge, [](const auto& time) { return !time.to; });
    if (holds) state.holders.push_back(live.job);
  }
  return state;
}

std::vector<api::ObjectKey> AccountBook::waiting() const {
  std::vector<api::ObjectKey> keys;
  for (const auto& job : caches_.jobs.store().list()) {
    if (waits_for_money(*job)) keys.push_back(job->metadata.key());
  }
  return keys;
}

}  // namespace gpupool::controllers
