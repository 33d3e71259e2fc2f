// SPDX-License-Identifier: Apache-2.0
#include "jobs/job_table.h"

#include <string>
#include <utility>

#include "objects/phase.h"

namespace gpupool::jobs {

std::vector<screen::Cell> job_cells(objects::JobRow job, const ListShape& shape) {
  std::vector<screen::Cell> cells;
  if (shape.all_namespaces) cells.push_back({std::move(job.ns)});
  cells.push_back({std::move(job.name)});
  const auto colour = objects::colour_of_phase(job.phase);
  cells.push_back({std::move(job.phase), colour});
  for (auto* text : {&job.pool, &job.gpus, &job.nodes, &job.reason}) cells.push_back({std::move(*text)});
  if (shape.wide) {
    for (const auto number : {job.attempts, job.priority}) cells.push_back({std::to_string(number)});
    cells.push_back({std::move(job.master)});
  }
  cells.push_back({std::move(job.age)});
  return cells;
}

screen::Table job_table(std::vector<objects::JobRow> jobs, const ListShape& shape) {
  std::vector<screen::Column> columns;
  if (shape.all_namespaces) columns.push_back({"NAMESPACE"});
  for (const char* title : {"NAME", "PHASE", "POOL", "GPUS"}) columns.push_back({title});
  columns.push_back({"NODES", 12});
  columns.push_back({"REASON", 12});
  if (shape.wide) {
    for (const char* title : {"ATTEMPTS", "PRIORITY"}) columns.push_back({title});
    columns.push_back({"MASTER", 12});
  }
  columns.push_back({"AGE"});
  screen::Table table(std::move(columns));
  for (auto& job : jobs) table.add(job_cells(std::move(job), shape));
  return table;
}

}  // namespace gpupool::jobs
