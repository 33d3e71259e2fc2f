// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/gpu_bill_record.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "runtime/watch/reflector.h"
#include "serve/intake.h"

namespace gpupool::ledger {

// Enters what GpuBillRecords say: what jobs held that are gone. Once it is in the books, remove() deletes
// them. Thread-safe.
class RecordFeed final : public runtime::ReflectorSink {
 public:
  // REQUIRES: both outlive this.
  RecordFeed(Intake& intake, const base::Log& log) : intake_(intake), log_(log) {}

  base::Result<void> item(std::string_view text) override;
  void commit() override;
  void abandon() override;
  base::Result<std::string> event(std::string_view type, std::string_view line) override;

  // A record that was passed to the intake and is not known to be deleted.
  struct Entered {
    std::string name;
    std::string uid;
  };
  std::vector<Entered> entered();
  // Deletes records. REQUIRES: the intake has had nothing left since entered() returned them. What cannot be
  // deleted stays in entered().
  void remove(const std::vector<Entered>& records, kube::Client& client, const std::stop_token& stop);

 private:
  void enter(const std::vector<api::GpuBillRecord>& records);

  Intake& intake_;
  const base::Log& log_;
  base::Mutex mutex_;
  std::vector<api::GpuBillRecord> listed_ GPUPOOL_GUARDED_BY(mutex_);
  std::vector<Entered> entered_ GPUPOOL_GUARDED_BY(mutex_);
  bool failing_ GPUPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpupool::ledger
