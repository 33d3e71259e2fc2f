// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "base/result.h"

namespace gpupool::submit {

// The flags of `run` about sources and results, as they were typed. Empty: not given.
struct DataFlags {
  std::vector<std::string> sources;         // PATH=URL
  std::vector<std::string> unpack;          // PATH
  std::vector<std::string> source_secrets;  // NAME, or PATH=NAME
  std::vector<std::string> results;         // FROM=URL
  std::string result_secret;
  std::optional<std::int64_t> sync_seconds;
  std::string s3_endpoint;
  std::string s3_region;
};

// spec.source and spec.results of a job. In git.commit there may still be a branch or tag.
struct JobData {
  std::vector<api::SourceItem> source;
  std::vector<api::JobResult> results;
  bool empty() const { return source.empty() && results.empty(); }
};

// kInvalidArgument for what does not fit together. Pure.
base::Result<JobData> read_data_flags(const DataFlags& flags);

// spec.source and spec.results as JSON, without what is not set. Pure.
std::string source_json(const std::vector<api::SourceItem>& items);
std::string results_json(const std::vector<api::JobResult>& results);

}  // namespace gpupool::submit
