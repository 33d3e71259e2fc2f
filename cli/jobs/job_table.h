// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "objects/job_row.h"
#include "screen/table.h"

namespace gpupool::jobs {

// Which columns a list of jobs has.
struct ListShape {
  bool all_namespaces = false;
  bool wide = false;
};

// Takes the texts of the jobs: there may be ten thousand.
screen::Table job_table(std::vector<objects::JobRow> jobs, const ListShape& shape);
// A line of such a table.
std::vector<screen::Cell> job_cells(objects::JobRow job, const ListShape& shape);

}  // namespace gpupool::jobs
