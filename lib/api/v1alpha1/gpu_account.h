// SPDX-License-Identifier: Apache-2.0
// Who pays for the jobs of some namespaces, and how much at most (docs/billing.md). The spec is written by
// people, the status by gpupool-ledger.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/json.h"

namespace gpupool::api {

// Values of AccountBudget::period.
namespace budget_period {
inline constexpr char kMonth[] = "Month";  // a calendar month in UTC
inline constexpr char kTotal[] = "Total";
}  // namespace budget_period

// Values of GpuAccountSpec::on_exhausted.
namespace on_exhausted {
inline constexpr char kRefuse[] = "Refuse";    // nothing new starts
inline constexpr char kSuspend[] = "Suspend";  // running jobs give their nodes back too
}  // namespace on_exhausted

struct AccountBudget {
  std::string amount;  // a decimal number
  std::string period = budget_period::kMonth;
};

struct GpuAccountSpec {
  std::vector<std::string> namespaces;
  std::string currency;
  std::optional<AccountBudget> budget;  // absent: no limit
  std::string on_exhausted = on_exhausted::kRefuse;
  std::vector<std::int64_t> warn_at;  // percent of the budget
};

// What is in the books; what jobs hold now is not in it.
struct GpuAccountStatus {
  std::string spent;                    // in spec.currency; of `month`, or in all
  std::string month;                    // such as 2026-11; empty: spent is in all
  std::string through_version;          // all GpuJobs up to this resourceVersion are in `spent`
  std::optional<base::WallTime> as_of;  // when this was written
};

struct GpuAccount {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpuaccounts", "GpuAccount", false};
  ObjectMeta metadata;
  GpuAccountSpec spec;
  GpuAccountStatus status;

  // Its budget is of a month.
  bool by_month() const { return spec.budget && spec.budget->period == budget_period::kMonth; }
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::AccountBudget> {
  using T = api::AccountBudget;
  static constexpr auto fields = std::array{field<&T::amount>("amount"), field<&T::period>("period")};
};
template <>
struct Schema<api::GpuAccountSpec> {
  using T = api::GpuAccountSpec;
  static constexpr auto fields = std::array{
      field<&T::namespaces>("namespaces"), field<&T::currency>("currency"), field<&T::budget>("budget"),
      field<&T::on_exhausted>("onExhausted"), field<&T::warn_at>("warnAt")};
};
template <>
struct Schema<api::GpuAccountStatus> {
  using T = api::GpuAccountStatus;
  static constexpr auto fields =
      std::array{field<&T::spent>("spent"), field<&T::month>("month"),
                 field<&T::through_version>("throughVersion"), field<&T::as_of>("asOf")};
};
template <>
struct Schema<api::GpuAccount> {
  using T = api::GpuAccount;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
