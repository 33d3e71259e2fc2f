// SPDX-License-Identifier: Apache-2.0
#include "sweeps/trial_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "objects/output.h"
#include "objects/phase.h"

namespace gpupool::sweeps {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

std::string objective_of(const api::GpuSweep& sweep) {
  return sweep.spec.objective ? sweep.spec.objective->metric : std::string();
}

// Those of spec.job.metrics and what was reported, without the objective, in the order in which they appear.
Texts metric_names(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials) {
  Texts names;
  std::set<std::string> known{objective_of(sweep)};
  for (const auto& trial : trials) {
    for (const auto& metric : trial.metrics) {
      if (known.insert(metric.name).second) names.push_back(metric.name);
    }
  }
  return names;
}

std::string last_of(const SeenTrial& trial, const std::string& name) {
  const auto found = std::ranges::find(trial.metrics, name, &api::JobMetric::name);
  return found == trial.metrics.end() ? "" : found->last;
}

std::string parameter_of(const SeenTrial& trial, const std::string& name) {
  const auto found = trial.parameters.find(name);
  return found == trial.parameters.end() ? "" : found->second;
}

// Titles in the first row.
std::vector<Texts> grid_of(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials) {
  const auto objective = objective_of(sweep);
  const auto metrics = metric_names(sweep, trials);
  Texts titles{"TRIAL", "STATE"};
  if (!objective.empty()) titles.push_back(objective);
  for (const auto& parameter : sweep.spec.parameters) titles.push_back(parameter.name);
  titles.insert(titles.end(), metrics.begin(), metrics.end());
  titles.emplace_back("REASON");
  std::vector<Texts> grid{std::move(titles)};
  for (const auto& trial : trials) {
    Texts row{std::to_string(trial.index), trial.state};
    if (!objective.empty()) row.push_back(trial.value);
    for (const auto& parameter : sweep.spec.parameters) row.push_back(parameter_of(trial, parameter.name));
    for (const auto& name : metrics) row.push_back(last_of(trial, name));
    row.push_back(trial.reason);
    grid.push_back(std::move(row));
  }
  return grid;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

Json json_of(const api::GpuSweep& sweep, const SeenTrial& trial) {
  Json item{{"trial", trial.index}, {"job", trial.job}, {"state", trial.state}};
  if (!trial.reason.empty()) item["reason"] = trial.reason;
  if (sweep.spec.objective && !trial.value.empty()) item["value"] = trial.value;
  if (!trial.rungs.empty()) {
    item["rungs"] = Json::array();  // texts, because JSON knows no NaN
    for (const auto value : trial.rungs) item["rungs"].push_back(planning::rung_text(value));
  }
  item["parameters"] = trial.parameters;
  auto metrics = Json::object();
  for (const auto& metric : trial.metrics) {
    Json numbers{{"last", metric.last}};
    if (!metric.least.empty()) numbers["least"] = metric.least;
    if (!metric.greatest.empty()) numbers["greatest"] = metric.greatest;
    metrics[metric.name] = std::move(numbers);
  }
  item["metrics"] = std::move(metrics);
  return item;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

screen::Colour colour_of_state(const std::string& state) {
  using screen::Colour;
  if (state == "NoValue" || state == "Deleted") return Colour::kRed;
  if (state == "Waiting" || state == "Stopped") return Colour::kFaint;
  return objects::colour_of_phase(state);
}

screen::Table trial_table(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials) {
  const auto grid = grid_of(sweep, trials);
  const auto& titles = grid.front();
  constexpr std::size_t kLeast = 8;
  std::vector<std::size_t> shown;
  std::vector<screen::Column> columns;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const bool empty =
        std::all_of(grid.begin() + 1, grid.end(), [&](const Texts& row) { return row[i].empty(); });
    if (empty && i > 1) continue;
    shown.push_back(i);
    columns.push_back({titles[i], i > 1 ? kLeast : 0});
  }
  screen::Table table(std::move(columns));
  for (std::size_t row = 1; row < grid.size(); ++row) {
    std::vector<screen::Cell> cells;
    cells.reserve(shown.size());
    for (const auto i : shown)
      cells.push_back({grid[row][i], i == 1 ? colour_of_state(grid[row][i]) : screen::Colour::kNone});
    table.add(std::move(cells));
  }
  return table;
}

std::string trial_csv(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials) {
  std::string text;
  for (const auto& row : grid_of(sweep, trials)) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + quoted(row[i]);
    text += "\r\n";
  }
  return text;
}

std::string trial_json(const api::GpuSweep& sweep, const SeenTrial& trial) {
  Json json{{"apiVersion", objects::kOutputVersion}, {"kind", "SweepTrial"}, {"sweep", sweep.metadata.name}};
  json.update(json_of(sweep, trial));
  return text_of(json);
}

std::string trials_json(const api::GpuSweep& sweep, const std::vector<SeenTrial>& trials) {
  Json json{{"apiVersion", objects::kOutputVersion}, {"kind", "SweepTrials"}, {"sweep", sweep.metadata.name}};
  if (sweep.spec.objective) {
    json["objective"] = {{"metric", sweep.spec.objective->metric}, {"goal", sweep.spec.objective->goal}};
  }
  json["items"] = Json::array();
  for (const auto& trial : trials) json["items"].push_back(json_of(sweep, trial));
  return text_of(json);
}

}  // namespace gpupool::sweeps
