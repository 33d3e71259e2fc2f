// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/log.h"
#include "base/money.h"
#include "base/month.h"
#include "books/books.h"
#include "reports/statement.h"

namespace gpupool {

enum class LedgerCommand {
  kServe,
  kBill,
  kPayout,
  kMachines,
  kExplain,
  kVerify,
  kCorrect,
  kClose,
  kPay,
  kExport,
  kAdopt
};

// The command line of gpupool-ledger.
struct Options {
  LedgerCommand command = LedgerCommand::kServe;
  std::string database = "/data/ledger.db";
  std::string kubeconfig;
  std::string health_bind_address = ":8080";
  std::string readers_bind_address;  // empty: nobody reads by the network
  std::string tls_directory = "/etc/gpupool/tls";
  int access_cache_seconds = 30;
  base::LogLevel log_level = base::LogLevel::kInfo;
  ledger::Whose whose = {};
  std::optional<base::Month> month;  // absent: this one
  std::string format = "text";
  std::string job;
  std::optional<ledger::Head> head;
  std::int64_t entry = 0;  // to correct; or: to export those after it
  base::Micros amount = 0;
  std::string reason;
  std::string currency;
  std::string reference;
};

// Returns the exit code if there is nothing to run: 0 for --help and --version, 2 for a wrong flag (named on
// stderr).
std::variant<Options, int> read_options(int argc, char** argv);

}  // namespace gpupool
