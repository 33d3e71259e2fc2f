// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/explain_text.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/rfc3339.h"

namespace gpupool::planning {
namespace {

std::string counted(std::int64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string pool_line(const api::ExplainedPool& pool) {
  std::vector<std::string> states;
  const auto add = [&](std::int64_t number, const std::string& what) {
    if (number > 0) states.push_back(std::to_string(number) + " " + what);
  };
  add(pool.leased, "leased");
  add(pool.free, "free");
  add(pool.spare, "kept as " + std::string(pool.spare == 1 ? "spare" : "spares"));
  add(pool.not_ready, "not ready");
  add(pool.cordoned, "cordoned or drained");
  add(pool.tainted, "tainted");
  add(pool.foreign, "taken by pods of others");
  add(pool.unsuited, "not suited");
  auto text = "pool " + pool.name + ": " + counted(pool.nodes, "node");
  if (!states.empty()) text += ": " + base::join(states, ", ");
  if (pool.slices)
    text +=
        "; " + std::to_string(pool.slices->free) + " of " + counted(pool.slices->total, "slice") + " free";
  if (pool.gpus)
    text += "; " + std::to_string(pool.gpus->free) + " of " + counted(pool.gpus->total, "GPU") + " free";
  if (!pool.why.empty()) text += " (" + base::join(pool.why, "; ") + ")";
  return text;
}

std::string ahead_line(const api::ExplainedQueue& ahead) {
  if (ahead.jobs == 0) return "ahead: nobody";
  auto text = "ahead: " + counted(ahead.jobs, "job");
  std::vector<std::string> units;
  if (ahead.gpus > 0) units.push_back(counted(ahead.gpus, "GPU"));
  if (ahead.slices > 0) units.push_back(counted(ahead.slices, "slice"));
  if (!units.empty()) text += " with " + base::join(units, " and ");
  if (ahead.higher_priority > 0) text += ", " + std::to_string(ahead.higher_priority) + " of higher priority";
  if (!ahead.yours.empty()) text += "; yours: " + base::join(ahead.yours, ", ");
  return text;
}

std::string basis_text(const api::ExplainedStart& start) {
  const auto samples = counted(start.samples, "job") + " like them that ended";
  if (start.basis == api::start_basis::kNow) return "nothing has to end first";
  if (start.basis == api::start_basis::kHistory) return "by " + samples;
  if (start.basis == api::start_basis::kDeadlines) return "by deadlines";
  return "by " + samples + ", and deadlines";
}

std::string start_line(const api::ExplainedStart& start) {
  std::string text = "start: ";
  if (start.from && start.to) {
    text += "likely " + base::to_rfc3339(*start.from);
    if (*start.to != *start.from) text += " to " + base::to_rfc3339(*start.to);
    text += " (" + basis_text(start) + ")";
  } else {
    text += "not known";
  }
  if (start.latest) return text + "; at the latest " + base::to_rfc3339(*start.latest) + ", by deadlines";
  if (start.without_deadline > 0)
    text += "; no latest time: " + counted(start.without_deadline, "job") +
            (start.without_deadline == 1 ? " has" : " have") + " no activeDeadlineSeconds";
  return text;
}

}  // namespace

std::string lines_of(const api::Explanation& explanation) {
  std::vector<std::string> lines;
  if (!explanation.wants.empty()) lines.push_back("wants: " + explanation.wants);
  if (explanation.pool) lines.push_back(pool_line(*explanation.pool));
  if (explanation.ahead) lines.push_back(ahead_line(*explanation.ahead));
  if (explanation.start) lines.push_back(start_line(*explanation.start));
  if (!explanation.sooner.empty()) lines.push_back("now: " + base::join(explanation.sooner, "; "));
  return base::join(lines, "\n");
}

std::string cut_to(std::string_view text, std::size_t most) {
  auto end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view kMore = "...";
  if (text.size() <= most) return std::string(text);
  return cut_to(text, most - kMore.size()).append(kMore);
}

std::string duration_text(base::Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto two = [](std::int64_t large, const char* unit, std::int64_t small, const char* small_unit) {
    return std::to_string(large) + unit + (small > 0 ? " " + std::to_string(small) + small_unit : "");
  };
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 86400) return two(seconds / 3600, "h", seconds / 60 % 60, "m");
  return two(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

}  // namespace gpupool::planning
