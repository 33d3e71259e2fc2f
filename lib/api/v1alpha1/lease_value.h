// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::api {

// `<job UID>.<n>`, the value of one lease of one job. n grows with every lease and every attempt and never
// repeats, so anything of an earlier lease is recognized by its value. At most 43 characters while n <
// 1,000,000, so it is valid as value of a taint and of a label.
struct LeaseValue {
  std::string job_uid;
  std::int64_t n = 0;
  bool operator==(const LeaseValue&) const = default;
  std::string to_string() const;
};

std::optional<LeaseValue> parse_lease_value(std::string_view text);

}  // namespace gpupool::api
