// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/transfer_report.h"
#include "base/clock.h"

namespace gpupool::carry {

struct FetchOptions {
  api::JobSource source;
  std::int64_t attempt = 0;
  std::size_t report_bytes = 3072;
  std::string termination_log;
  std::string work;         // the directory of the items
  std::string state;        // a directory on the same disk, which the pod keeps
  std::string secrets;      // one directory for each Secret
  std::string config_maps;  // one directory for each ConfigMap
};

// Fetches all items of a source, four at a time, then makes the CSV files (docs/data.md). What an earlier
// start in this pod has completed is not fetched again. Leaves a report as termination message. Returns the
// exit code: 0 if all is there, 1 if something failed, 143 after a stop.
int fetch_source(const FetchOptions& options, base::Clock& clock, std::stop_token stop);

}  // namespace gpupool::carry
