// SPDX-License-Identifier: Apache-2.0
// What a reader asks of the books. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/month.h"
#include "base/result.h"
#include "kube/access_review.h"

namespace gpupool::ledger {

struct ReportRequest {
  enum class Kind { kBill, kPayout, kMachines, kExplanation };
  Kind kind = Kind::kBill;
  std::string ns;     // of a bill; empty: of all namespaces
  std::string job;    // of an explanation
  std::string owner;  // of a payout and of machines; empty: of all
  base::Month month;
  std::string format = "text";
};

// path, as decoded:
//   /v1/bill, /v1/namespaces/NS/bill, /v1/namespaces/NS/jobs/JOB/explanation,
//   /v1/payout, /v1/owners/OWNER/payout, /v1/machines, /v1/owners/OWNER/machines
// query: month=2026-11, this_month if it has none; format=text, csv, json or focus, as far as the report has
// it. kNotFound: it is no such path. kInvalidArgument, for people: the query.
base::Result<ReportRequest> read_report_request(const std::string& path, const std::string& query,
                                                const base::Month& this_month);

// Which right a reader needs. Bills: to list gpujobs, whose statuses have their costs. Payouts and machines:
// to get gpuledgers/payouts, which nobody serves, with the owner as the name.
kube::AccessQuestion right_for(const ReportRequest& request);

// What is read, for people.
const char* name_of(ReportRequest::Kind kind);

}  // namespace gpupool::ledger
