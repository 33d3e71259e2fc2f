// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/lease_value.h"

#include <charconv>

namespace gpupool::api {

std::string LeaseValue::to_string() const { return job_uid + "." + std::to_string(n); }

std::optional<LeaseValue> parse_lease_value(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return std::nullopt;
  LeaseValue value{.job_uid = std::string(text.substr(0, dot)), .n = 0};
  const char* end = text.data() + text.size();
  const auto [last, problem] = std::from_chars(text.data() + dot + 1, end, value.n);
  if (problem != std::errc{} || last != end || value.n < 1) return std::nullopt;
  return value;
}

}  // namespace gpupool::api
