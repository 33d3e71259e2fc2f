// SPDX-License-Identifier: Apache-2.0
#include "launcher/worker_env.h"

#include <algorithm>
#include <string_view>

#include "api/worker_result_format.h"

namespace gpupool::launcher {

EnvironmentEntries worker_environment(const Options& options) {
  const int per_node = options.processes_per_node;
  const std::string port = std::to_string(options.master_port);
  EnvironmentEntries entries = {{"RANK", std::to_string(options.node_rank * per_node)},
                                {"WORLD_SIZE", std::to_string(options.nodes * per_node)},
                                {"LOCAL_RANK", "0"},
                                {"MASTER_ADDR", options.master_addr},
                                {"MASTER_PORT", port},
                                {"PET_NNODES", std::to_string(options.nodes)},
                                {"PET_NODE_RANK", std::to_string(options.node_rank)},
                                {"PET_NPROC_PER_NODE", std::to_string(per_node)},
                                {"PET_MASTER_ADDR", options.master_addr},
                                {"PET_MASTER_PORT", port},
                                {"GPUPOOL_JOB", options.job},
                                {"GPUPOOL_ATTEMPT", std::to_string(options.attempt)}};
  if (!options.metrics.empty()) entries.emplace_back("GPUPOOL_METRICS", metric_pipe(options));
  if (!options.checkpoint_dir.empty()) {
    entries.emplace_back("GPUPOOL_CHECKPOINT_DIR", options.checkpoint_dir);
    entries.emplace_back("GPUPOOL_RESUME", options.resume ? "1" : "0");
    entries.emplace_back("GPUPOOL_NOTICE_FILE", notice_file(options));
    entries.emplace_back("GPUPOOL_GRACE_SECONDS", std::to_string(options.grace_seconds));
    entries.emplace_back("GPUPOOL_REPORT_FILE", report_file(options));
  }
  return entries;
}

std::string metric_pipe(const Options& options) { return options.state_dir + "/metrics"; }

std::string notice_file(const Options& options) {
  return options.state_dir + '/' + std::string(api::worker_result::kNoticeFile);
}

std::string report_file(const Options& options) {
  return options.state_dir + '/' + std::string(api::worker_result::kReportFile);
}

std::vector<std::string> merged_environment(const std::vector<std::string>& current,
                                            const EnvironmentEntries& entries) {
  std::vector<std::string> merged;
  for (const std::string& variable : current) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    const bool ours =
        std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return e.first == name; });
    if (!ours) merged.push_back(variable);
  }
  for (const auto& [name, value] : entries) {
    std::string variable = name;
    variable += '=';
    variable += value;
    merged.push_back(std::move(variable));
  }
  return merged;
}

}  // namespace gpupool::launcher
