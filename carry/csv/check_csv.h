// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/v1alpha1/job_data.h"
#include "failure/failure.h"

namespace gpupool::carry {

// Returns what is wrong with the rules whatever the file holds (kInvalid; the message names the field and the
// column): an unknown type, rule or delimiter, bounds that are no finite numbers or cross, a quantile outside
// 0 to 1, a bound and a quantile for one side, a column in both missing.columns and missing.constants, a
// constant with a NUL byte or without UTF-8. Pure.
Outcome<void> check_csv(const api::CsvIngestion& spec);

}  // namespace gpupool::carry
