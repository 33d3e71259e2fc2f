// SPDX-License-Identifier: Apache-2.0
// What a job has held at which price (docs/billing.md). The facts from which the ledger makes its entries.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace gpupool::api {

// What makes a GPU-second of one node differ from that of another one of the same lease. Its fields are
// fields of the part or the segment.
struct BillTerms {
  std::string pool;
  std::string owner;  // of the nodes (kOwnerLabel); empty: not named
  std::string currency;
  std::string per_gpu_hour;  // a decimal number
  std::int64_t fee = 0;      // percent of the platform
  std::int64_t gpus = 0;     // on each node; 0: slices
  std::int64_t slices = 0;   // on each node, of GPUs that are cut into `split`
  std::int64_t split = 0;
  bool operator==(const BillTerms&) const = default;
};

// Nodes of the lease that are held, with the same terms since the same second.
struct OpenPart {
  BillTerms terms;
  std::vector<std::string> nodes;           // empty: all nodes of the lease that no other part names
  std::optional<base::WallTime> from = {};  // absent: its time has not begun
  bool operator==(const OpenPart&) const = default;
};

// Nodes that were held from `from` until `to`, in whole seconds; the second `to` is not part of it.
struct BillSegment {
  std::int64_t number =
      0;  // from 1, without gaps; with the UID of the job it is the key of the ledger's entry
  BillTerms terms;
  std::vector<std::string> nodes;  // empty: all nodes of the lease, which is being given back
  std::int64_t node_count = 0;
  std::optional<base::WallTime> from;
  std::optional<base::WallTime> to;
  std::string cost;        // with the remainder of the segment before it: base::charge_for()
  std::int64_t carry = 0;  // the remainder that it began with
  bool operator==(const BillSegment&) const = default;
};

// status.bill: only of a job that has had a lease in a pool with a price.
struct JobBill {
  std::string currency;          // of `cost`
  std::string cost;              // of all segments so far in this currency
  std::int64_t gpu_seconds = 0;  // of all segments so far; of each, parts of a GPU-second are left out
  std::int64_t segment_count = 0;
  std::int64_t carry = 0;             // remainder of the lease's last segment: parts of a millionth
  std::vector<OpenPart> open;         // of the lease
  std::vector<BillSegment> segments;  // the last ones
  bool operator==(const JobBill&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::OpenPart> {
  using T = api::OpenPart;
  static constexpr auto fields = std::array{field<&T::nodes>("nodes"),
                                            field<&T::from>("from"),
                                            field<&T::terms, &api::BillTerms::pool>("pool"),
                                            field<&T::terms, &api::BillTerms::owner>("owner"),
                                            field<&T::terms, &api::BillTerms::currency>("currency"),
                                            field<&T::terms, &api::BillTerms::per_gpu_hour>("perGpuHour"),
                                            field<&T::terms, &api::BillTerms::fee>("fee"),
                                            field<&T::terms, &api::BillTerms::gpus>("gpus"),
                                            field<&T::terms, &api::BillTerms::slices>("slices"),
                                            field<&T::terms, &api::BillTerms::split>("split")};
};
template <>
struct Schema<api::BillSegment> {
  using T = api::BillSegment;
  static constexpr auto fields = std::array{field<&T::number>("number"),
                                            field<&T::nodes>("nodes"),
                                            field<&T::node_count>("nodeCount"),
                                            field<&T::from>("from"),
                                            field<&T::to>("to"),
                                            field<&T::cost>("cost"),
                                            field<&T::carry>("carry"),
                                            field<&T::terms, &api::BillTerms::pool>("pool"),
                                            field<&T::terms, &api::BillTerms::owner>("owner"),
                                            field<&T::terms, &api::BillTerms::currency>("currency"),
                                            field<&T::terms, &api::BillTerms::per_gpu_hour>("perGpuHour"),
                                            field<&T::terms, &api::BillTerms::fee>("fee"),
                                            field<&T::terms, &api::BillTerms::gpus>("gpus"),
                                            field<&T::terms, &api::BillTerms::slices>("slices"),
                                            field<&T::terms, &api::BillTerms::split>("split")};
};
template <>
struct Schema<api::JobBill> {
  using T = api::JobBill;
  static constexpr auto fields = std::array{field<&T::currency>("currency"),
                                            field<&T::cost>("cost"),
                                            field<&T::gpu_seconds>("gpuSeconds"),
                                            field<&T::segment_count>("segmentCount"),
                                            field<&T::carry>("carry"),
                                            field<&T::open>("open"),
                                            field<&T::segments>("segments")};
};

}  // namespace gpupool::base::json
