// SPDX-License-Identifier: Apache-2.0
#include "planning/accounts/balance.h"

#include <algorithm>
#include <chrono>

#include "api/v1alpha1/reasons.h"
#include "base/wide.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kWhole = 100;

base::Micros part_of(base::Micros amount, std::int64_t parts, std::int64_t whole) {
  return static_cast<base::Micros>(base::product(amount, parts) / whole);
}

std::string budget_text(const api::GpuAccount& account, base::Micros budget) {
  return base::micros_text(budget) + " " + account.spec.currency + (account.by_month() ? " a month" : "");
}

// Nothing: never.
std::optional<base::Duration> until_spent(const Balance& balance, base::Micros amount) {
  if (balance.rate <= 0) return std::nullopt;
  const auto missing = base::product(std::max<base::Micros>(amount - balance.spent, 0), kHour);
  const auto seconds = static_cast<std::int64_t>((missing + balance.rate - 1) / balance.rate);
  return std::chrono::seconds(std::max<std::int64_t>(seconds, 1));
}

}  // namespace

std::optional<base::Micros> budget_of(const api::GpuAccount& account) {
  return account.spec.budget ? base::parse_micros(account.spec.budget->amount) : std::nullopt;
}

api::Problem exhausted(const api::GpuAccount& account, const Balance& balance) {
  return {api::reason::kBudgetExhausted, "account " + account.metadata.name + " has spent its budget of " +
                                             budget_text(account, balance.budget) +
                                             "; jobs go on when it is raised" +
                                             (account.by_month() ? ", or next month (UTC)" : "")};
}

std::optional<api::Problem> shortfall(const api::GpuAccount& account, const Balance& balance,
                                      base::Micros rate) {
  if (balance.exhausted()) return exhausted(account, balance);
  const auto needed = part_of(balance.rate + rate, kLeastRunSeconds, kHour);
  if (balance.left() >= needed) return std::nullopt;
  // Without what is left and held now: such a message would change all the time, and each change is a write.
  auto text = "too little is left of the budget of account " + account.metadata.name + " (" +
              budget_text(account, balance.budget) +
              "): it must pay for 10 minutes of what it holds and of this job";
  if (rate > 0)
    text += ", which alone costs " + base::micros_text(part_of(rate, kLeastRunSeconds, kHour)) + " " +
            account.spec.currency;
  return api::Problem{api::reason::kBudgetExhausted, std::move(text)};
}

std::optional<std::int64_t> warning(const api::GpuAccount& account, const Balance& balance) {
  std::optional<std::int64_t> highest;
  for (const auto percent : account.spec.warn_at) {
    const bool reached = balance.spent >= part_of(balance.budget, percent, kWhole);
    if (reached && (!highest || percent > *highest)) highest = percent;
  }
  return highest;
}

std::optional<base::Duration> until_next_change(const api::GpuAccount& account, const Balance& balance) {
  std::optional<base::Duration> first;
  const auto look_at = [&](base::Micros amount) {
    if (balance.spent >= amount) return;
    const auto time = until_spent(balance, amount);
    if (time && (!first || *time < *first)) first = time;
  };
  look_at(balance.budget);
  for (const auto percent : account.spec.warn_at) look_at(part_of(balance.budget, percent, kWhole));
  return first;
}

}  // namespace gpupool::planning
