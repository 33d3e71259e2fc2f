// SPDX-License-Identifier: Apache-2.0
#include "objects/job_row.h"

#include <array>
#include <charconv>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "objects/table_list.h"

namespace gpupool::objects {
namespace {

struct TextColumn {
  const char* name;
  std::string JobRow::* member;
};

constexpr std::array kTexts{TextColumn{"Name", &JobRow::name},     TextColumn{"Phase", &JobRow::phase},
                            TextColumn{"Pool", &JobRow::pool},     TextColumn{"GPUs", &JobRow::gpus},
                            TextColumn{"Nodes", &JobRow::nodes},   TextColumn{"Reason", &JobRow::reason},
                            TextColumn{"Age", &JobRow::age},       TextColumn{"Created", &JobRow::created},
                            TextColumn{"Master", &JobRow::master}, TextColumn{"Namespace", &JobRow::ns}};

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

base::Result<std::vector<JobRow>> list_jobs(kube::Client& client, const std::string& ns,
                                            const std::string& label_selector, const std::stop_token& stop) {
  auto table = read_table(client, api::GpuJob::kType, ns, label_selector, stop);
  if (!table) return tl::unexpected<base::Error>(table.error());
  if (ns.empty() && !table->column("Namespace")) {
    return base::fail(base::ErrorCode::kBadRequest,
                      "the definition of GpuJob in this cluster is older than this program and does not list "
                      "namespaces: choose one with -n, or upgrade gpupool in the cluster");
  }
  std::vector<JobRow> jobs(table->rows.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].ns = ns;
  for (const TextColumn& text : kTexts) {
    const auto column = table->column(text.name);
    for (std::size_t i = 0; column && i < jobs.size(); ++i)
      jobs[i].*text.member = std::move(table->rows[i][*column]);
  }
  const auto attempts = table->column("Attempts");
  const auto priority = table->column("Priority");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (attempts) jobs[i].attempts = number(table->rows[i][*attempts]);
    if (priority) jobs[i].priority = number(table->rows[i][*priority]);
  }
  return jobs;
}

}  // namespace gpupool::objects
