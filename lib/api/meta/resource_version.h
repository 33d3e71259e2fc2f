// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace gpupool::api {

// The number of a resourceVersion; 0 if it is none. Those of one kind are in the order of the changes
// (KEP-5504); before Kubernetes 1.35 that is so because they are revisions of etcd.
inline std::uint64_t version_number(const std::string& resource_version) {
  std::uint64_t number = 0;
  const char* const begin = resource_version.c_str();
  const char* const end = begin + resource_version.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  return error == std::errc() && rest == end ? number : 0;
}

}  // namespace gpupool::api
