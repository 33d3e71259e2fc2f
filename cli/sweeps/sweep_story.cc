// SPDX-License-Identifier: Apache-2.0
#include "sweeps/sweep_story.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/rfc3339.h"
#include "command/duration.h"
#include "objects/phase.h"
#include "planning/sweep/asha.h"
#include "planning/sweep/trial_result.h"
#include "screen/fields.h"
#include "screen/plain_text.h"
#include "screen/plot.h"
#include "screen/table.h"
#include "sweeps/trial_output.h"

namespace gpupool::sweeps {
namespace {

using screen::add_field;
using screen::plain_lines;
using screen::plain_text;

std::string when(const std::optional<base::WallTime>& time, base::WallTime now) {
  if (!time) return "";
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *time);
  return base::to_rfc3339(*time) + " (" + command::age_text(age) + " ago)";
}

std::string counts_text(const api::SweepCounts& counts) {
  std::string text = std::to_string(counts.total) + " trials: " + std::to_string(counts.succeeded) +
                     " succeeded, " + std::to_string(counts.failed) + " failed, " +
                     std::to_string(counts.active) + " active, " +
                     std::to_string(std::max<std::int64_t>(0, counts.total - counts.created)) + " to begin";
  if (counts.stopped > 0) text += ", " + std::to_string(counts.stopped) + " stopped";
  return text;
}

std::string objective_text(const api::SweepObjective& objective) {
  auto text = objective.goal + " " + objective.metric;
  if (!objective.target.empty()) text += ", until it reaches " + objective.target;
  return text;
}

std::string stopping_text(const api::SweepAsha& asha) {
  std::string steps;
  for (const auto step : planning::rungs_of(asha))
    steps += (steps.empty() ? "" : ", ") + std::to_string(step);
  return "at steps " + steps + " the best 1/" + std::to_string(asha.eta) + " go on";
}

// "0.9 at 1, 0.5 at 3".
std::string rungs_text(const api::GpuSweep& sweep, const planning::RungValues& values) {
  if (!sweep.spec.stopping || !sweep.spec.stopping->asha) return "";
  const auto rungs = planning::rungs_of(*sweep.spec.stopping->asha);
  std::string text;
  for (std::size_t i = 0; i < std::min(rungs.size(), values.size()); ++i)
    text += (i == 0 ? "" : ", ") + planning::rung_text(values[i]) + " at " + std::to_string(rungs[i]);
  return text;
}

std::string parameters_text(const std::map<std::string, std::string>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::string values_plot(const api::SweepObjective& objective, const SeenTrials& seen,
                        const screen::Terminal& terminal) {
  std::vector<screen::PlotPoint> points;
  std::optional<double> best;
  for (const auto& trial : seen.trials) {
    const auto value = planning::finite_number(trial.value);
    if (!value) continue;
    const bool better = trial.state != "Stopped" && (!best || planning::is_better(*value, *best, objective));
    if (better) best = value;
    points.push_back({static_cast<double>(trial.index), *value, better});
  }
  if (points.size() < 2) return "";
  return plain_text(objective.metric) + " by trial; * is the best so far\n" + screen::plot(points, terminal);
}

std::string top_table(const api::GpuSweepStatus& status, const screen::Terminal& terminal) {
  if (status.top.empty()) return "";
  screen::Table table({{"  TRIAL"}, {"VALUE"}, {"PARAMETERS", 20}});
  for (const auto& trial : status.top)
    table.add({{"  " + std::to_string(trial.trial)}, {trial.value}, {parameters_text(trial.parameters)}});
  return "Best trials:\n" + table.text(terminal);
}

std::string failures_table(const api::GpuSweepStatus& status, const screen::Terminal& terminal) {
  if (status.failures.empty()) return "";
  screen::Table table({{"  TRIAL"}, {"REASON"}, {"MESSAGE", 20}});
  for (const auto& failure : status.failures)
    table.add({{"  " + std::to_string(failure.trial)}, {failure.reason}, {failure.message}});
  return "Last failures:\n" + table.text(terminal);
}

}  // namespace

std::string sweep_text(const api::GpuSweep& sweep, const SeenTrials& seen, base::WallTime now,
                       const screen::Terminal& terminal) {
  const auto& status = sweep.status;
  std::string all;
  add_field(all, "Name", plain_text(sweep.metadata.name));
  add_field(all, "Namespace", plain_text(sweep.metadata.ns));
  const auto phase =
      status.phase.empty() ? "new: the operator has not seen it yet" : plain_text(status.phase);
  add_field(all, "Phase",
            screen::painted(phase, objects::colour_of_phase(status.phase), terminal) +
                (status.reason.empty() ? "" : " (" + plain_text(status.reason) + ")"));
  add_field(all, "Message", plain_lines(status.message));
  if (status.counts.total > 0) add_field(all, "Trials", counts_text(status.counts));
  if (sweep.spec.objective) add_field(all, "Objective", plain_text(objective_text(*sweep.spec.objective)));
  if (sweep.spec.stopping && sweep.spec.stopping->asha)
    add_field(all, "Stopping", stopping_text(*sweep.spec.stopping->asha));
  add_field(all, "Started", when(status.start_time, now));
  add_field(all, "Ended", when(status.completion_time, now));
  const auto plot = sweep.spec.objective ? values_plot(*sweep.spec.objective, seen, terminal) : std::string();
  for (const auto& part : {plot, top_table(status, terminal), failures_table(status, terminal)}) {
    if (!part.empty()) all += "\n" + part;
  }
  return all;
}

std::string trial_text(const api::GpuSweep& sweep, const SeenTrials& seen, const SeenTrial& trial,
                       const screen::Terminal& terminal) {
  std::string all;
  add_field(all, "Trial", std::to_string(trial.index) + " of " + plain_text(sweep.metadata.name));
  add_field(all, "State",
            screen::painted(plain_text(trial.state), colour_of_state(trial.state), terminal) +
                (trial.reason.empty() ? "" : " (" + plain_text(trial.reason) + ")"));
  add_field(all, "Job", plain_text(trial.job));
  if (sweep.spec.objective) add_field(all, "Value", plain_text(trial.value));
  add_field(all, "At steps", rungs_text(sweep, trial.rungs));
  std::string text;
  for (const auto& [name, value] : trial.parameters)
    text += (text.empty() ? "" : "\n") + plain_text(name) + "=" + plain_text(value);
  add_field(all, "Parameters", seen.unknown.empty() ? text : "not known: " + plain_text(seen.unknown));
  text.clear();
  for (const auto& metric : trial.metrics)
    text += (text.empty() ? "" : "\n") + plain_text(metric.name) + "=" + plain_text(metric.last);
  add_field(all, "Metrics", text);
  return all;
}

}  // namespace gpupool::sweeps
