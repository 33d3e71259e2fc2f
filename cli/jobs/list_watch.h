// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/job_table.h"
#include "objects/job_row.h"
#include "screen/table.h"
#include "screen/terminal.h"

namespace gpupool::jobs {

// A list of jobs, and below it a line for each change, also of changes that a lost connection has hidden. Not
// thread-safe. Pure.
class ListWatch {
 public:
  // wanted: which jobs are shown.
  ListWatch(std::function<bool(const objects::JobRow&)> wanted, const ListShape& shape)
      : wanted_(std::move(wanted)), shape_(shape) {}

  // All jobs there are. What is to be printed: at first the table, later what has changed since.
  std::string on_list(std::vector<objects::JobRow> jobs, const screen::Terminal& terminal);
  // One job. gone: it was deleted.
  std::string on_change(objects::JobRow job, bool gone, const screen::Terminal& terminal);

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name

  std::function<bool(const objects::JobRow&)> wanted_;
  ListShape shape_;
  std::optional<screen::Table> table_;
  std::map<Key, objects::JobRow> known_;  // that are wanted, without their ages
};

}  // namespace gpupool::jobs
