// SPDX-License-Identifier: Apache-2.0
// What a job has held, kept beyond the job until the ledger has entered it. Made by the operator when
// segments of status.bill would be lost otherwise; deleted by gpupool-ledger. It has no namespace, because
// nothing can be created in a namespace that is being deleted.
#pragma once

#include <array>
#include <string>

#include "api/meta/object_meta.h"
#include "api/meta/resource_type.h"
#include "api/v1alpha1/job_bill.h"
#include "base/json.h"

namespace gpupool::api {

struct GpuBillRecordSpec {
  std::string ns;  // of the job
  std::string job;
  std::string job_uid;
  JobBill bill;  // its segments; nothing of it is open
};

struct GpuBillRecord {
  static constexpr ResourceType kType{"gpupool.dev", "v1alpha1", "gpubillrecords", "GpuBillRecord", false};
  ObjectMeta metadata;
  GpuBillRecordSpec spec;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::GpuBillRecordSpec> {
  using T = api::GpuBillRecordSpec;
  static constexpr auto fields = std::array{field<&T::ns>("namespace"), field<&T::job>("job"),
                                            field<&T::job_uid>("jobUID"), field<&T::bill>("bill")};
};
template <>
struct Schema<api::GpuBillRecord> {
  using T = api::GpuBillRecord;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec")};
};

}  // namespace gpupool::base::json
