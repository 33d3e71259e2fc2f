// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "base/clock.h"
#include "push/result_target.h"

namespace gpupool::carry {

// location.prefix: the folder of the files, a slash at its end is not needed. secret: the directory of the
// mounted Secret; empty: requests are not signed. clock: must outlive the target.
Outcome<std::unique_ptr<ResultTarget>> make_s3_target(api::S3Location location, const std::string& secret,
                                                      const base::Clock& clock);

}  // namespace gpupool::carry
