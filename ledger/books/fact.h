// SPDX-License-Identifier: Apache-2.0
// What one segment of a GpuJob's bill says, as the books keep it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_bill_record.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/json.h"
#include "base/money.h"
#include "base/result.h"

namespace gpupool::ledger {

struct Fact {
  std::string job_uid;
  std::int64_t number = 0;  // of the segment
  std::string ns;
  std::string job;
  std::string pool;
  std::string owner;  // empty: the machines are the platform's
  std::string currency;
  base::Micros per_gpu_hour = 0;
  std::int64_t fee = 0;  // percent
  std::int64_t gpus = 0;
  std::int64_t slices = 0;
  std::int64_t split = 0;  // 0: whole nodes
  std::vector<std::string> nodes;
  std::int64_t from = 0;  // Unix seconds
  std::int64_t to = 0;
  std::int64_t carry = 0;
  base::Micros cost = 0;  // as the status says
  bool operator==(const Fact&) const = default;

  // Never repeats: job_uid is the job's, and its segments are numbered.
  std::string key() const { return job_uid + "/" + std::to_string(number); }
  bool whole_nodes() const { return split == 0; }
  // What is held on all nodes together, in GPUs or slices, and how many of these a GPU has.
  std::int64_t units() const {
    return (slices > 0 ? slices : gpus) * static_cast<std::int64_t>(nodes.size());
  }
  std::int64_t units_of_gpu() const { return slices > 0 && split > 0 ? split : 1; }
};

// The segments of the job's status, without those that cannot be read.
std::vector<Fact> facts_of(const api::GpuJob& job);
// Those that were in the job's status.
std::vector<Fact> facts_of(const api::GpuBillRecord& record);

// What the segment costs until `moment`, which is put between its begin and its end; with all of them it is
// the cost of the segment. Nothing: the amount does not fit.
std::optional<base::Micros> cost_until(const Fact& fact, std::int64_t moment);

// Canonical JSON: one text for each fact.
std::string to_text(const Fact& fact);
// How to_text() writes a field, such as "namespace":"lab". Whatever text of the books is about this value,
// also a correction, contains it. Safe as a part of an SQL text: empty if the value has characters that no
// name in Kubernetes has.
std::string mention_of(const char* field, const std::string& value);
base::Result<Fact> fact_from(const std::string& text);

}  // namespace gpupool::ledger

namespace gpupool::base::json {

template <>
struct Schema<ledger::Fact> {
  using T = ledger::Fact;
  static constexpr auto fields = std::array{field<&T::job_uid>("jobUid"),
                                            field<&T::number>("number"),
                                            field<&T::ns>("namespace"),
                                            field<&T::job>("job"),
                                            field<&T::pool>("pool"),
                                            field<&T::owner>("owner"),
                                            field<&T::currency>("currency"),
                                            field<&T::per_gpu_hour>("perGpuHour"),
                                            field<&T::fee>("fee"),
                                            field<&T::gpus>("gpus"),
                                            field<&T::slices>("slices"),
                                            field<&T::split>("split"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::from>("from"),
                                            field<&T::to>("to"),
                                            field<&T::carry>("carry"),
                                            field<&T::cost>("cost")};
};

}  // namespace gpupool::base::json
