// SPDX-License-Identifier: Apache-2.0
#include "objects/job_row.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "kube/table_list.h"

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

// Reads rows of one table.
class RowReader {
 public:
  // ns empty: of all namespaces.
  RowReader(const kube::TableList& table, std::string ns)
      : ns_(std::move(ns)), attempts_(table.column("Attempts")), priority_(table.column("Priority")) {
    for (std::size_t i = 0; i < kTexts.size(); ++i) columns_.at(i) = table.column(kTexts.at(i).name);
  }

  JobRow read(std::vector<std::string> cells) const {
    JobRow job;
    job.ns = ns_;
    if (attempts_) job.attempts = number(cells[*attempts_]);
    if (priority_) job.priority = number(cells[*priority_]);
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (columns_.at(i)) job.*kTexts.at(i).member = std::move(cells[*columns_.at(i)]);
    }
    return job;
  }

 private:
  std::string ns_;
  std::optional<std::size_t> attempts_;
  std::optional<std::size_t> priority_;
  std::array<std::optional<std::size_t>, kTexts.size()> columns_;
};

// Jobs, and the table that they were read from, without its rows.
struct Listed {
  std::vector<JobRow> jobs;
  kube::TableList table;
};

base::Result<Listed> list(kube::Client& client, const std::string& ns, const std::string& label_selector,
                          const std::stop_token& stop) {
  auto table = kube::read_table(client, api::GpuJob::kType, ns, label_selector, stop);
  if (!table) return tl::unexpected<base::Error>(table.error());
  if (ns.empty() && !table->column("Namespace")) {
    return base::fail(base::ErrorCode::kBadRequest,
                      "the definition of GpuJob in this cluster is older than this program and does not list "
                      "namespaces: choose one with -n, or upgrade gpupool in the cluster");
  }
  const RowReader reader(*table, ns);
  std::vector<JobRow> jobs;
  jobs.reserve(table->rows.size());
  for (auto& row : table->rows) jobs.push_back(reader.read(std::exchange(row, {})));  // of ten thousand
  table->rows.clear();
  return Listed{std::move(jobs), std::move(*table)};
}

}  // namespace

base::Result<std::vector<JobRow>> list_jobs(kube::Client& client, const std::string& ns,
                                            const std::string& label_selector, const std::stop_token& stop) {
  return list(client, ns, label_selector, stop).map([](Listed listed) { return std::move(listed.jobs); });
}

base::Result<void> watch_jobs(kube::Client& client, const std::string& ns, const std::string& label_selector,
                              const std::function<void(std::vector<JobRow>)>& on_list,
                              const std::function<void(JobRow, bool gone)>& on_change,
                              const std::stop_token& stop) {
  auto listed = list(client, ns, label_selector, stop);
  if (!listed) return tl::unexpected<base::Error>(listed.error());
  on_list(std::move(listed->jobs));
  const RowReader reader(listed->table, ns);
  const kube::OnRow on_row = [&](bool gone, std::vector<std::string> cells) {
    on_change(reader.read(std::move(cells)), gone);
    return true;
  };
  return kube::watch_table(client, api::GpuJob::kType, ns, label_selector, listed->table, on_row, stop);
}

}  // namespace gpupool::objects
