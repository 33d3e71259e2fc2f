// SPDX-License-Identifier: Apache-2.0
#include "jobs/list_watch.h"

#include <algorithm>

namespace gpupool::jobs {
namespace {

using objects::JobRow;

JobRow without_age(JobRow job) {
  job.age.clear();
  return job;
}

}  // namespace

std::string ListWatch::on_list(std::vector<JobRow> jobs, const screen::Terminal& terminal) {
  if (!table_) {
    std::erase_if(jobs, [this](const JobRow& job) { return !wanted_(job); });
    for (const JobRow& job : jobs) known_.insert_or_assign({job.ns, job.name}, without_age(job));
    table_ = job_table(std::move(jobs), shape_);
    return table_->text(terminal);
  }
  auto gone = known_;
  std::string lines;
  for (JobRow& job : jobs) {
    gone.erase({job.ns, job.name});
    lines += on_change(std::move(job), false, terminal);
  }
  for (auto& [key, job] : gone) lines += on_change(std::move(job), true, terminal);
  return lines;
}

std::string ListWatch::on_change(JobRow job, bool gone, const screen::Terminal& terminal) {
  const Key key{job.ns, job.name};
  if (gone) {
    if (known_.erase(key) == 0 && !wanted_(job)) return {};
    job.phase = "Deleted";
  } else if (!wanted_(job)) {
    known_.erase(key);
    return {};
  } else {
    auto plain = without_age(job);
    const auto known = known_.find(key);
    if (known != known_.end() && known->second == plain) return {};
    known_.insert_or_assign(key, std::move(plain));
  }
  return table_->line_below(job_cells(std::move(job), shape_), terminal);
}

}  // namespace gpupool::jobs
