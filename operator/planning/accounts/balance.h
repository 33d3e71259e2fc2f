// SPDX-License-Identifier: Apache-2.0
// What is left of an account's budget, and what that allows. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_account.h"
#include "api/v1alpha1/problem.h"
#include "base/clock.h"
#include "base/money.h"

namespace gpupool::planning {

// A job starts only if its account can pay for so long a time of it, and of all that the account holds: a
// burst of jobs cannot start on a budget that ends in a second.
inline constexpr std::int64_t kLeastRunSeconds = 600;

struct Balance {
  base::Micros budget = 0;
  base::Micros spent = 0;  // in the period, until now
  base::Micros rate = 0;   // of what is held, an hour
  base::Micros left() const { return budget - spent; }
  bool exhausted() const { return spent >= budget; }
};

// The account's budget in millionths; nothing: it has none, or one that cannot be read.
std::optional<base::Micros> budget_of(const api::GpuAccount& account);

// Why a job that costs `rate` an hour cannot start; nothing: it can.
std::optional<api::Problem> shortfall(const api::GpuAccount& account, const Balance& balance,
                                      base::Micros rate);

// Why jobs of an exhausted account do not run.
api::Problem exhausted(const api::GpuAccount& account, const Balance& balance);

// The highest percentage of spec.warnAt that is spent; nothing: none is.
std::optional<std::int64_t> warning(const api::GpuAccount& account, const Balance& balance);

// Time until the balance is exhausted or the next percentage of spec.warnAt is reached, if nothing else
// changes, rounded up to a second; nothing: it never happens.
std::optional<base::Duration> until_next_change(const api::GpuAccount& account, const Balance& balance);

}  // namespace gpupool::planning
