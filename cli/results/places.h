// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/job_data.h"
#include "base/result.h"

namespace gpupool::results {

// Which of a job's results are wanted. Nothing: all, of the last attempt of which something is known.
struct Choice {
  std::string from;  // below the work directory, or with it
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> attempt;
};

// Where one rank has saved what one entry of spec.results names.
struct Place {
  std::string from;  // below the work directory
  std::int64_t rank = 0;
  std::int64_t attempt = 0;
  std::string directory = {};  // where it goes: as `from`, with several ranks also rank-N
  api::ResultTarget to;        // with the names filled in; a prefix is empty or ends with a slash
  std::string secret;
  bool skipped = false;  // the job says that it was not wanted
  std::string why = {};  // why it is incomplete, as far as the job says
};

// The places of the results that are wanted, in the order of spec.results. Of several places with the same
// files, the first bucket. kNotFound if the job has no spec.results, none of these, or has not run. Pure.
base::Result<std::vector<Place>> places_of(const api::GpuJob& job, const Choice& choice);

}  // namespace gpupool::results
