// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "checks/finding.h"

namespace gpupool::checks {

struct ApiServerFacts {
  enum class Pools { kNotAsked, kReadable, kForbidden, kUndefined, kFailed };

  std::string no_config;   // why there is no server to ask: nothing says where it is
  std::string bad_config;  // what is wrong with the kubeconfig that was named
  std::string url;
  std::string error;    // why no HTTP answer came
  int status = 0;       // of GET /version
  std::string version;  // "v1.30.2"; empty: not told
  std::chrono::milliseconds took{0};
  bool has_credentials = false;  // without them the certificate is not checked either
  Pools pools = Pools::kNotAsked;
  std::string pools_error;
};

// Slower than this, calls of kubelet and device plugin are noticeably delayed.
inline constexpr std::chrono::seconds kSlow{1};

Finding judge_api_server(const ApiServerFacts& facts);

}  // namespace gpupool::checks
