// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_result.h"

#include <array>

#include "api/worker_result_format.h"
#include "base/json.h"

template <>
struct gpupool::base::json::Schema<gpupool::planning::WorkerResult> {
  using T = planning::WorkerResult;
  static constexpr auto fields = std::array{field<&T::version>(api::worker_result::kVersionField),
                                            field<&T::attempt>(api::worker_result::kAttemptField),
                                            field<&T::rank>(api::worker_result::kRankField),
                                            field<&T::outcome>(api::worker_result::kOutcomeField),
                                            field<&T::exit_code>(api::worker_result::kExitCodeField),
                                            field<&T::signal>(api::worker_result::kSignalField),
                                            field<&T::stop_signal>(api::worker_result::kStopSignalField),
                                            field<&T::reason>(api::worker_result::kReasonField),
                                            field<&T::message>(api::worker_result::kMessageField),
                                            field<&T::tail>(api::worker_result::kTailField),
                                            field<&T::finished_at>(api::worker_result::kFinishedAtField),
                                            field<&T::metrics>(api::worker_result::kMetricsField),
                                            field<&T::other_metrics>(api::worker_result::kOtherMetricsField),
                                            field<&T::report>(api::worker_result::kReportField),
                                            field<&T::reported_at>(api::worker_result::kReportedAtField),
                                            field<&T::report_error>(api::worker_result::kReportErrorField)};
};

namespace gpupool::planning {

namespace {

// Returns an object with the complete fields of an object that was cut off; empty if they do not tell how the
// command ended. The launcher writes outcome, exitCode, signal and stopSignal first, then attempt.
std::string whole_part(const std::string& cut) {
  std::size_t comma = std::string::npos;
  bool in_text = false;
  int depth = 0;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const char c = cut[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 1) comma = i;
  }
  if (comma == std::string::npos) return {};
  auto part = cut.substr(0, comma);
  namespace format = api::worker_result;
  for (const auto field : {format::kOutcomeField, format::kExitCodeField, format::kAttemptField}) {
    if (part.find("\"" + std::string(field) + "\":") == std::string::npos) return {};
  }
  return part + "}";
}

}  // namespace

std::optional<WorkerResult> parse_worker_result(const std::string& termination_message) {
  if (termination_message.empty() || termination_message.front() != '{') return std::nullopt;
  auto result = base::json::read<WorkerResult>(termination_message);
  if (!result) {
    const auto part = whole_part(termination_message);
    if (part.empty()) return std::nullopt;
    result = base::json::read<WorkerResult>(part);
  }
  if (!result || result->version < 1 || result->outcome.empty()) return std::nullopt;
  return *std::move(result);
}

}  // namespace gpupool::planning
