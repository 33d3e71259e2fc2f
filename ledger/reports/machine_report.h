// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/month.h"
#include "base/result.h"
#include "books/books.h"
#include "books/machine_times.h"
#include "reports/statement.h"

namespace gpupool::ledger {

// Of one machine in a month, in thousandths of GPU-seconds.
struct MachineLine {
  std::string node;
  std::string owner;          // of its last segment in the month; empty: the platform, or not rented
  std::int64_t measured = 0;  // its device plugin has read how busy it was
  std::int64_t busy = 0;      // of these
  std::int64_t rented = 0;    // by the books; machines are measured also while nobody rents them
  bool operator==(const MachineLine&) const = default;
};

// For the owners of machines: who has used them, how long and for what, and how busy they were.
struct MachineReport {
  std::vector<MachineLine> machines;  // by name
  Statement payout;
};

// owner empty: all machines, also those that nobody has rented; else the owner's that were rented in the
// month. most_lines: of the payout, as of make_statement().
base::Result<MachineReport> make_machine_report(Books& books, MachineTimes& times, const base::Month& month,
                                                const std::string& owner,
                                                std::size_t most_lines = kAnyNumberOfLines);

std::string as_text(const MachineReport& report);
std::string as_json(const MachineReport& report);
// format: text or json.
std::string in_format(const MachineReport& report, const std::string& format);

}  // namespace gpupool::ledger
