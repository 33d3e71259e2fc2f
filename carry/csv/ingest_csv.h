// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "csv/csv_report.h"
#include "failure/failure.h"
#include "files/size_budget.h"

namespace gpupool::carry {

// Makes the CSV file `to` from the file `from`, both paths below the directory `root`, by the rules of
// `spec`, and beside it `to`.report.json. Both can then be read by all and written by nobody, and are there
// whole or not at all. `from` is only read, two times or more, never as a whole.
//
// The order, which is that of a program with pandas:
// 1. Rows with too few or too many fields are dropped.
// 2. Types are found, from all rows that are left.
// 3. Rows are dropped for a value that does not fit a declared type, or for a missing value with the rule
// Drop.
// 4. Missing values are imputed. Mean, median and mode are of the values in the rows that are left.
// 5. Values are clipped. Quantiles are of the column after imputing; a value that was imputed is clipped too.
// Every figure is exact, however large the file is: if the values do not fit the memory, the file is read
// more often.
//
// kInvalid: `from` is no file that can be read so, a rule does not fit it, or no row is left; the message
// names file, line and column. kMismatch: `from` changed meanwhile. Also kStopped, kTooLarge and kLocal.
// Thread-safe for different `to`.
Outcome<CsvReport> ingest_csv(int root, const std::string& from, const std::string& to,
                              const api::CsvIngestion& spec, SizeBudget& budget, const std::stop_token& stop);

}  // namespace gpupool::carry
