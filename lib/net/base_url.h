// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::net {

// The parts of an Endpoint's URL.
struct BaseUrl {
  std::string scheme;     // "http" or "https"
  std::string authority;  // host and port as written
  std::string host;       // IPv6 addresses in brackets
  std::string port;       // never empty
  std::string prefix;     // path before every target; without a slash at the end; often empty
};

// Returns kInvalidArgument if the text is no http or https URL, or contains a user, a query or a fragment.
base::Result<BaseUrl> parse_base_url(const std::string& url);

}  // namespace gpupool::net
