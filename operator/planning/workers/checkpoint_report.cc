// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/checkpoint_report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "api/worker_result_format.h"
#include "base/json.h"
#include "base/rfc3339.h"

namespace gpupool::planning {
namespace {

struct Report {
  std::optional<std::int64_t> step;
  std::string path;
};

}  // namespace
}  // namespace gpupool::planning

template <>
struct gpupool::base::json::Schema<gpupool::planning::Report> {
  using T = planning::Report;
  static constexpr auto fields = std::array{field<&T::step>("step"), field<&T::path>("path")};
};

namespace gpupool::planning {
namespace {

namespace format = api::worker_result;

ReportProblem problem(const std::string& why) { return {std::string(format::kReportFile) + " " + why}; }

// C0, DEL and C1 (U+0080 to U+009F). REQUIRES: `text` is valid UTF-8.
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

// Why the launcher could not read the report, if the text can be one of its own.
ReportProblem unreadable(const std::string& why) {
  const bool usual = why.size() <= format::kMaxReportErrorBytes && !has_control_character(why);
  return problem("cannot be used" + (usual ? ": it " + why : std::string()));
}

ReportProblem no_report(const std::string& why) {
  return problem("is not an object with step and path: " + why);
}

}  // namespace

std::variant<std::monostate, CheckpointReport, ReportProblem> checkpoint_report(const WorkerResult& result) {
  if (!result.report_error.empty()) return unreadable(result.report_error);
  if (!result.report) return std::monostate();
  if (result.report->empty()) return no_report("it is empty");
  const auto report = base::json::read<Report>(*result.report);
  if (!report) return no_report(report.error().message);
  if (!report->step) return no_report("step is missing");
  if (*report->step < 0 || *report->step > kMaxReportedStep)
    return problem("has a step that is not a number from 0 to 2^53: " + std::to_string(*report->step));
  if (report->path.size() > kMaxReportedPath)
    return problem("has a path of more than " + std::to_string(kMaxReportedPath) + " bytes");
  if (has_control_character(report->path)) return problem("has a path with a control character");
  return CheckpointReport{*report->step, report->path, base::parse_rfc3339(result.reported_at)};
}

}  // namespace gpupool::planning
