// SPDX-License-Identifier: Apache-2.0
#include "jobs/progress_story.h"

#include <chrono>
#include <optional>

#include "command/duration.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::jobs {
namespace {

std::string age_of(const std::optional<base::WallTime>& time, base::WallTime now) {
  if (!time) return "";
  return command::age_text(std::chrono::duration_cast<std::chrono::seconds>(now - *time));
}

std::string text_of(const std::optional<std::int64_t>& number, const char* unit = "") {
  return number ? std::to_string(*number) + unit : "";
}

}  // namespace

std::string checkpoint_text(const api::GpuJob& job, base::WallTime now) {
  const auto& progress = job.status.progress;
  if (!progress || !progress->checkpoint) return "";
  const auto& checkpoint = *progress->checkpoint;
  auto text = "step " + std::to_string(checkpoint.step);
  if (!checkpoint.path.empty()) text += " in " + screen::plain_text(checkpoint.path);
  if (checkpoint.at) text += ", " + age_of(checkpoint.at, now) + " ago";
  return text;
}

std::string history_text(const api::GpuJob& job, base::WallTime now, const screen::Terminal& terminal) {
  const auto& progress = job.status.progress;
  if (!progress || progress->history.empty()) return "";
  screen::Table table(
      {{"  ATTEMPT"}, {"ENDED"}, {"CAUSE"}, {"NODES", 12}, {"LEFT", 12}, {"GOES ON FROM"}, {"REPEATED"}});
  for (const auto& end : progress->history) {
    table.add({{"  " + std::to_string(end.attempt)},
               {age_of(end.at, now)},
               {end.cause},
               {end.nodes},
               {end.left},
               {text_of(end.from_step)},
               {text_of(end.repeated_seconds, "s")}});
  }
  return "Attempts that ended:\n" + table.text(terminal);
}

}  // namespace gpupool::jobs
