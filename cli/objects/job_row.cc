// SPDX-License-Identifier: Apache-2.0
#include "objects/job_row.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
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
  const auto attempts = table->column("Attempts");
  const auto priority = table->column("Priority");
  std::array<std::optional<std::size_t>, kTexts.size()> columns;
  for (std::size_t i = 0; i < kTexts.size(); ++i) columns.at(i) = table->column(kTexts.at(i).name);
  std::vector<JobRow> jobs;
  jobs.reserve(table->rows.size());
  for (auto& row : table->rows) {
    JobRow& job = jobs.emplace_back();
    job.ns = ns;
    if (attempts) job.attempts = number(row[*attempts]);
    if (priority) job.priority = number(row[*priority]);
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (columns.at(i)) job.*kTexts.at(i).member = std::move(row[*columns.at(i)]);
    }
    row = {};  // of ten thousand
  }
  return jobs;
}

}  // namespace gpupool::objects
