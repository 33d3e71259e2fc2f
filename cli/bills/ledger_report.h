// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "command/command.h"
#include "command/flags.h"

namespace gpupool::bills {

// What commands that read the books have in common.
struct ReportOptions {
  std::string ledger;  // NAMESPACE/SERVICE; empty: the usual one
  std::string month;   // such as 2026-11; empty: this month
  std::string output;  // empty: text; csv, json, yaml or focus
};

// --month and --ledger.
void add_report_flags(command::Flags& flags, ReportOptions& options);

// Asks gpupool-ledger for a report, by the proxy of the API server, and shows it. path: below /v1, such as
// "/payout". kInvalidArgument, before anything is sent: the month is none.
base::Result<int> show_report(const std::string& path, const ReportOptions& options,
                              command::Context& context);

}  // namespace gpupool::bills
