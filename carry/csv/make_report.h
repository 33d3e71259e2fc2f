// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "csv/csv_report.h"
#include "csv/decisions.h"
#include "csv/rewriter.h"
#include "csv/survey.h"

namespace gpupool::carry::csv {

// Puts together what is known after the last reading; delimiter, passes and files are left to the caller.
// Pure.
CsvReport make_report(const Rules& rules, const Survey& survey, const std::vector<ColumnDecision>& decisions,
                      const Rewriter& rewriter);

}  // namespace gpupool::carry::csv
