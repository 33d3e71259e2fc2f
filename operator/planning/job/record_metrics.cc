// SPDX-License-Identifier: Apache-2.0
#include "planning/job/record_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/names.h"
#include "api/worker_result_format.h"
#include "base/join.h"
#include "planning/job/settle_attempt.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::planning {
namespace {

namespace format = api::worker_result;
namespace state = api::lease_state;

constexpr std::size_t kWords = 9;  // of the text of a metric
constexpr std::size_t kLongestNumber = 32;

std::optional<std::array<std::string_view, kWords>> words_of(std::string_view text) {
  std::array<std::string_view, kWords> words;
  for (std::size_t i = 0; i < kWords; ++i) {
    const auto end = std::min(text.find(' '), text.size());
    words.at(i) = text.substr(0, end);
    if (words.at(i).empty()) return std::nullopt;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return text.empty() ? std::optional(words) : std::nullopt;
}

template <class Number>
std::optional<Number> number_of(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// The number as a text of the status; empty if there is none. Throws nothing.
std::string value_of(std::string_view word) {
  const bool is_number = word.size() <= kLongestNumber && number_of<double>(word);
  const bool is_named = word == "NaN" || word == "Infinity" || word == "-Infinity";
  return is_number || is_named ? std::string(word) : std::string();
}

std::optional<api::JobMetric> parse_metric(std::string_view text) {
  const auto words = words_of(text);
  if (!words) return std::nullopt;
  const auto& [name, last, last_step, least, least_step, greatest, greatest_step, count, not_finite] = *words;
  api::JobMetric metric;
  metric.name = name;
  metric.last = value_of(last);
  metric.last_step = number_of<std::int64_t>(last_step);
  metric.least = value_of(least);
  metric.least_step = number_of<std::int64_t>(least_step);
  metric.greatest = value_of(greatest);
  metric.greatest_step = number_of<std::int64_t>(greatest_step);
  metric.count = number_of<std::int64_t>(count).value_or(0);
  metric.not_finite = number_of<std::int64_t>(not_finite).value_or(0);
  if (metric.last.empty() || metric.count < 1) return std::nullopt;
  return metric;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= format::kMaxMetricNameBytes &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

api::JobMetricsStatus metrics_of(const api::GpuJob& job, const WorkerResult& result) {
  api::JobMetricsStatus metrics;
  metrics.attempt = job.status.lease->attempt;
  std::vector<api::JobMetric> came;
  for (const auto& text : result.metrics) {
    if (auto metric = parse_metric(text)) came.push_back(*std::move(metric));
  }
  for (const auto& name : job.spec.metrics->names) {
    const auto found = std::ranges::find(came, name, &api::JobMetric::name);
    if (found == came.end()) {
      metrics.missing.push_back(name);
    } else {
      metrics.values.push_back(*found);
    }
  }
  if (metrics.missing.empty()) return metrics;
  for (const auto& name : result.other_metrics) {
    if (is_name(name) && metrics.other_names.size() < format::kMaxOtherMetrics)
      metrics.other_names.push_back(name);
  }
  return metrics;
}

std::string text_of_missing(const api::JobMetricsStatus& metrics) {
  auto text = "; metrics that never came: " + base::join(metrics.missing, ", ");
  if (!metrics.other_names.empty())
    text += "; numbers that came instead: " + base::join(metrics.other_names, ", ");
  return text;
}

// The result of rank 0 of the attempt that ends.
std::optional<WorkerResult> result_of_rank_0(const Observation& seen, const std::string& id) {
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) != id || rank_of(*pod) != 0) continue;
    if (auto result = result_of_worker(*pod, seen.worker_container)) return result;
  }
  return std::nullopt;
}

}  // namespace

Step record_metrics(const Observation& seen, Step step) {
  auto* write = std::get_if<step::WriteStatus>(&step);
  const auto& lease = seen.job.status.lease;
  if (write == nullptr || !seen.job.spec.metrics || !lease || !write->status.lease) return step;
  const bool ends_attempt =
      write->status.lease->state == state::kReleasing || write->status.lease->id != lease->id;
  // settle_attempt() may find that an attempt that was stopped had succeeded.
  const bool settled = lease->state == state::kReleasing || lease->state == state::kRestarting;
  const bool succeeds =
      write->status.lease->outcome == api::outcome::kSucceeded && lease->outcome != api::outcome::kSucceeded;
  if (settled ? !succeeds : !ends_attempt) return step;
  const auto result = result_of_rank_0(seen, settled ? value_of_ended_attempt(seen) : lease->id);
  if (!result) return step;
  auto& status = write->status;
  status.metrics = metrics_of(seen.job, *result);
  if (status.lease->outcome == api::outcome::kSucceeded && !status.metrics->missing.empty())
    status.message += text_of_missing(*status.metrics);
  return step;
}

}  // namespace gpupool::planning
