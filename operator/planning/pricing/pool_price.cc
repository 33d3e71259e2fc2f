// SPDX-License-Identifier: Apache-2.0
#include "planning/pricing/pool_price.h"

#include <algorithm>
#include <vector>

namespace gpupool::planning {
namespace {

constexpr std::int64_t kAll = 100;   // percent
constexpr std::int64_t kDay = 1440;  // minutes

std::string check_amount(const std::string& field, const std::string& amount) {
  if (base::parse_micros(amount)) return {};
  return field + ": \"" + amount +
         "\" is not a price such as 1.20: a decimal number with at most 12 digits before the point and 6 "
         "after it";
}

std::string check_models(const std::string& field, const std::vector<api::ModelPrice>& models) {
  for (const auto& model : models) {
    if (auto problem = check_amount(field + " of " + model.model, model.per_gpu_hour); !problem.empty())
      return problem;
  }
  return {};
}

// The entry of the schedule that holds; null: none has begun. Of two with one moment, the later one in the
// list.
const api::PriceChange* change_at(const api::PoolPrice& price, base::WallTime at) {
  const api::PriceChange* found = nullptr;
  for (const auto& change : price.schedule) {
    if (!change.from || *change.from > at) continue;
    if (found == nullptr || *change.from >= *found->from) found = &change;
  }
  return found;
}

const api::ModelPrice* find_model(const std::vector<api::ModelPrice>& models, std::string_view model) {
  const auto found =
      std::ranges::find_if(models, [&](const auto& candidate) { return candidate.model == model; });
  return found == models.end() ? nullptr : &*found;
}

// Returns what is wrong with it, beginning with the name of the field.
std::string check_demand(const api::PoolPrice& price) {
  const auto& demand = *price.demand;
  if (!price.models.empty() || !price.schedule.empty())
    return "demand: a price that follows demand is one price for all GPUs, and has no schedule: remove "
           "models "
           "and schedule, or use a pool for each model";
  if (auto problem = check_amount("demand.floor", demand.floor); !problem.empty()) return problem;
  if (auto problem = check_amount("demand.ceiling", demand.ceiling); !problem.empty()) return problem;
  if (auto problem = check_amount("demand.cost", demand.cost); !problem.empty()) return problem;
  if (base::parse_micros(demand.floor) == 0)
    return "demand.floor: must be more than 0, because the price changes by a percentage of itself";
  const auto first = base::parse_micros(price.per_gpu_hour).value_or(0);
  if (first < base::parse_micros(demand.floor) || first > base::parse_micros(demand.ceiling))
    return "demand: perGpuHour, the first price, must be from floor to ceiling";
  if (demand.step_percent < 1 || demand.step_percent > kAll)
    return "demand.stepPercent: must be a percentage from 1 to 100";
  if (demand.every_minutes < 1 || demand.every_minutes > kDay)
    return "demand.everyMinutes: must be a number of minutes from 1 to 1440";
  return {};
}

// The price that was decided last, within the bounds of now.
base::Micros demand_price(const api::GpuPool& pool) {
  const auto& price = *pool.spec.price;
  const auto& decided = pool.status.price;
  const auto now = base::parse_micros(decided ? decided->per_gpu_hour : price.per_gpu_hour).value_or(0);
  return std::clamp(now, base::parse_micros(price.demand->floor).value_or(0),
                    base::parse_micros(price.demand->ceiling).value_or(0));
}

}  // namespace

std::string check_price(const api::PoolPrice& price) {
  const bool letters =
      std::ranges::all_of(price.currency, [](char letter) { return letter >= 'A' && letter <= 'Z'; });
  if (price.currency.size() != 3 || !letters)
    return "currency: \"" + price.currency + "\" is not three capital letters such as EUR";
  if (price.fee < 0 || price.fee > kAll) return "fee: must be a percentage from 0 to 100";
  if (auto problem = check_amount("perGpuHour", price.per_gpu_hour); !problem.empty()) return problem;
  if (auto problem = check_models("models", price.models); !problem.empty()) return problem;
  for (const auto& change : price.schedule) {
    if (!change.from) return "schedule: an entry has no time `from`";
    if (auto problem = check_amount("schedule.perGpuHour", change.per_gpu_hour); !problem.empty())
      return problem;
    if (auto problem = check_models("schedule.models", change.models); !problem.empty()) return problem;
  }
  return price.demand ? check_demand(price) : "";
}

base::Micros price_of(const api::GpuPool& pool, std::string_view model, base::WallTime at) {
  const auto& price = *pool.spec.price;
  if (price.demand) return demand_price(pool);
  const auto* change = change_at(price, at);
  const auto* named = change == nullptr ? nullptr : find_model(change->models, model);
  if (named == nullptr && (change == nullptr || change->models.empty()))
    named = find_model(price.models, model);
  const auto& other = change == nullptr ? price.per_gpu_hour : change->per_gpu_hour;
  return base::parse_micros(named == nullptr ? other : named->per_gpu_hour).value_or(0);
}

std::optional<base::WallTime> next_price_change(const api::PoolPrice& price, base::WallTime after) {
  std::optional<base::WallTime> next;
  for (const auto& change : price.schedule) {
    if (change.from && *change.from > after && (!next || *change.from < *next)) next = change.from;
  }
  return next;
}

}  // namespace gpupool::planning
