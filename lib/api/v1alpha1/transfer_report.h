// SPDX-License-Identifier: Apache-2.0
// What gpupool-carry leaves in the termination message of its container, as one line of JSON. gpupool-carry
// writes it, the operator reads it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace gpupool::api {

inline constexpr std::int64_t kTransferReportVersion = 1;
inline constexpr char kTransferStopped[] = "Stopped";  // a stop signal came

struct TransferredItem {
  std::string path;   // of a source: the item's path; of results: `from`
  std::string to;     // of results: where they are
  std::string state;  // of results: one of transfer_state
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string digest;   // "sha256:HEX" of the file, or of the list of names and digests; "git:COMMIT"
  std::string message;  // for people: a short report of a CSV file, or why results are incomplete
  bool operator==(const TransferredItem&) const = default;
};

namespace transfer_state {
inline constexpr char kComplete[] = "Complete";
inline constexpr char kIncomplete[] = "Incomplete";
inline constexpr char kSkipped[] = "Skipped";  // `when` or `ranks` says so
}  // namespace transfer_state

struct TransferReport {
  std::int64_t version = 0;
  std::int64_t attempt = 0;
  std::string reason;   // empty: all is done; else SourceDenied and so on (reasons.h), or kTransferStopped
  std::string message;  // for people; only with a reason
  std::int64_t bytes = 0;
  std::int64_t milliseconds = 0;
  std::vector<TransferredItem> items;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::TransferredItem> {
  using T = api::TransferredItem;
  static constexpr auto fields =
      std::array{field<&T::path>("path"),      field<&T::to>("to"),       field<&T::state>("state"),
                 field<&T::files>("files"),    field<&T::bytes>("bytes"), field<&T::digest>("digest"),
                 field<&T::message>("message")};
};
template <>
struct Schema<api::TransferReport> {
  using T = api::TransferReport;
  static constexpr auto fields = std::array{
      field<&T::version>("version"), field<&T::attempt>("attempt"), field<&T::reason>("reason"),
      field<&T::message>("message"), field<&T::bytes>("bytes"),     field<&T::milliseconds>("milliseconds"),
      field<&T::items>("items")};
};

}  // namespace gpupool::base::json
