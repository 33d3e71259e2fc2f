// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "csv/csv_report.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

// Writes the report as JSON, one line a column, piece by piece. A number that is not finite is null. Returns
// the first failure of `write`.
Outcome<void> write_report_json(const CsvReport& report,
                                const std::function<Outcome<void>(std::string_view)>& write);

}  // namespace gpupool::carry::csv
