// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpupool/turn_forecaster.h"

#include <chrono>
#include <utility>

namespace gpupool::controllers {
namespace {

constexpr auto kInterval = std::chrono::seconds(30);
constexpr auto kLongest = std::chrono::milliseconds(50);

}  // namespace

TurnForecaster::TurnForecaster(PoolQueue& queue, base::Clock& clock, planning::RunTimes::Source history)
    : queue_(queue), clock_(clock), history_(std::move(history)), pace_(kInterval, clock) {}

std::optional<base::Duration> TurnForecaster::update(const std::string& pool) {
  if (const auto wait = pace_.until_next(pool); wait > base::Duration::zero()) return wait;
  const auto seen = queue_.first_turns(pool);
  if (!seen) return std::nullopt;
  pace_.done(pool);
  const auto end = clock_.now() + kLongest;
  planning::Budget budget([&] { return clock_.now() > end; });
  const auto history = seen->waiters.empty() ? planning::RunTimes::ByKind() : history_();
  queue_.take_forecast(pool, planning::forecast_turns(*seen, history, clock_.wall(), budget));
  queue_.notify(pool);
  if (seen->waiters.empty()) return std::nullopt;
  return kInterval;
}

}  // namespace gpupool::controllers
