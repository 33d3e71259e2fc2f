// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/bill_records.h"

#include "api/meta/resource_version.h"
#include "api/v1alpha1/gpu_bill_record.h"
#include "planning/billing/bill_record.h"

namespace gpupool::controllers {
namespace {

// The server will never take it: the kind is not installed, a right is missing, or it calls it invalid.
bool is_final(const base::Error& error) {
  return error.code == base::ErrorCode::kNotFound || error.code == base::ErrorCode::kForbidden ||
         error.code == base::ErrorCode::kInvalid;
}

}  // namespace

BillRecords::BillRecords(kube::Client& client, const BillVersions& versions, base::Clock& clock,
                         base::Metrics& metrics, const base::Log& log)
    : client_(client),
      versions_(versions),
      log_(log),
      records_(metrics.counter("gpupool_bill_records_total",
                               "GpuBillRecords made, because the ledger had not entered what a job held")),
      failures_(metrics.counter("gpupool_bill_records_refused_total",
                                "GpuBillRecords that the API server refused: what they say is lost")),
      ledgers_(client, {}, clock, metrics, log) {}

// Nothing waits for it: without it records are made.
void BillRecords::add_to(runtime::Manager& manager) {
  manager.add_cache(ledgers_.reflector(), [] { return true; });
}

bool BillRecords::is_entered(const api::GpuJob& job) const {
  const auto ledger = ledgers_.store().get({"", api::kTheLedger});
  return ledger != nullptr &&
         versions_.version_of(job) <= api::version_number(ledger->status.through_version);
}

base::Result<void> BillRecords::keep_all(const api::GpuJob& job, const std::stop_token& stop) {
  const auto* bill = job.status.bill();
  if (bill == nullptr || bill->segments.empty() || is_entered(job)) return {};
  const auto made = client_.create(api::GpuBillRecord::kType, "", planning::bill_record(job), stop);
  if (made) {
    records_.increment();
    return {};
  }
  const auto& error = made.error();
  if (error.code == base::ErrorCode::kAlreadyExists) return {};
  if (!is_final(error)) return tl::unexpected<base::Error>(error);
  failures_.increment();
  log_.error("a GpuBillRecord was refused: what the job held is lost unless the ledger has seen it",
             {{"job", job.metadata.key().to_string()}, {"error", error.message}});
  return {};
}

base::Result<void> BillRecords::keep_dropped(const api::GpuJob& job, const api::GpuJobStatus& next,
                                             const std::stop_token& stop) {
  if (!planning::drops_segments(job.status.bill(), next.bill())) return {};
  return keep_all(job, stop);
}

}  // namespace gpupool::controllers
