// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_ledger.h"
#include "base/metrics.h"
#include "controllers/cluster/bill_versions.h"
#include "controllers/cluster/caches.h"
#include "kube/client.h"
#include "runtime/cache/informer.h"

namespace gpupool::controllers {

// Keeps what jobs have held until the ledger has it. Segments of a bill leave the status only in two ways:
// the job goes, or the status has too many of them. Before either, the ledger must have entered them (it says
// so in GpuLedger.status.throughVersion); else a GpuBillRecord keeps them. So nothing waits for the ledger,
// and nothing is lost while it is away. Only where a ledger is used. Thread-safe.
class BillRecords {
 public:
  // REQUIRES: everything referenced outlives this; constructed before the manager runs.
  BillRecords(kube::Client& client, const BillVersions& versions, base::Clock& clock, base::Metrics& metrics,
              const base::Log& log);
  void add_to(runtime::Manager& manager);

  // Call before the job goes. Writes nothing if the ledger has the segments of its bill. If the server
  // refuses the record for good (the kind or a right is missing), that is logged and counted, and no error: a
  // deletion does not wait for the ledger.
  base::Result<void> keep_all(const api::GpuJob& job, const std::stop_token& stop);
  // The same before the status is written, if that drops segments.
  base::Result<void> keep_dropped(const api::GpuJob& job, const api::GpuJobStatus& next,
                                  const std::stop_token& stop);

 private:
  bool is_entered(const api::GpuJob& job) const;

  kube::Client& client_;
  const BillVersions& versions_;
  base::Log log_;
  base::Counter& records_;
  base::Counter& failures_;
  runtime::Informer<api::GpuLedger> ledgers_;
};

}  // namespace gpupool::controllers
