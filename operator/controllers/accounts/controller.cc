// SPDX-License-Identifier: Apache-2.0
#include "controllers/accounts/controller.h"

#include <algorithm>
#include <chrono>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "base/month.h"
#include "base/unix_seconds.h"

namespace gpupool::controllers {
namespace {

base::Month month_at(base::WallTime now) { return base::month_of(base::unix_seconds(now)); }

base::Duration until_month_ends(base::WallTime now) {
  const base::WallTime end{std::chrono::seconds(month_at(now).end)};
  return std::chrono::duration_cast<base::Duration>(end - now);
}

}  // namespace

AccountController::AccountController(const Setup& setup, AccountBook& book, runtime::WorkQueue& jobs)
    : book_(book),
      jobs_(jobs),
      events_(setup.events),
      clock_(setup.clock),
      controller_({"gpuaccount", "GpuAccount", 1, std::chrono::seconds(30)}, *this, setup.clock,
                  setup.metrics, setup.log) {
  book_.on_change([this](const std::string& account) { controller_.queue().add({"", account}); });
  setup.manager.add_controller(controller_);
}

base::Result<runtime::Requeue> AccountController::reconcile(const api::ObjectKey& key,
                                                            const base::Log& /*log*/,
                                                            std::stop_token /*stop*/) {
  if (key.name.empty()) {
    for (const auto& job : book_.waiting()) jobs_.add(job);
    return runtime::Requeue{};
  }
  const auto state = book_.state(key.name);
  if (!state) return runtime::Requeue{};
  const auto& account = *state->account;
  const auto& balance = state->balance;
  tell(*state);
  if (balance.exhausted() && account.spec.on_exhausted == api::on_exhausted::kSuspend) {
    for (const auto& job : state->holders) jobs_.add(job);
  }
  if (!planning::shortfall(account, balance, 0)) {
    for (const auto& job : state->waiting) jobs_.add(job);
  }
  auto next = planning::until_next_change(account, balance);
  if (account.by_month()) {
    const auto turn = until_month_ends(clock_.wall());
    next = next ? std::min(*next, turn) : turn;
  }
  return runtime::Requeue{next};
}

void AccountController::tell(const AccountBook::State& state) {
  const auto& account = *state.account;
  const auto percent = planning::warning(account, state.balance);
  const bool exhausted = state.balance.exhausted();
  if (!exhausted && !percent) return;
  const auto period = account.by_month() ? month_at(clock_.wall()).name : std::string("all");
  const auto news = account.metadata.uid + "/" + account.spec.budget->amount + "/" + period + "/" +
                    (exhausted ? "exhausted" : std::to_string(*percent));
  auto& told = told_[account.metadata.name];
  if (told == news) return;
  told = news;
  const auto text = exhausted ? planning::exhausted(account, state.balance).message
                              : std::to_string(*percent) + " % of the budget of " +
                                    account.spec.budget->amount + " " + account.spec.currency + " are spent";
  const runtime::ObjectReference about{api::kApiVersion, std::string(api::GpuAccount::kType.kind),
                                       account.metadata.key(), account.metadata.uid,
                                       account.metadata.resource_version};
  events_.record(about, runtime::EventType::kWarning,
                 exhausted ? api::reason::kBudgetExhausted : api::event::kBudgetWarning, "Reconcile", text);
}

}  // namespace gpupool::controllers
