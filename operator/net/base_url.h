#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::net {

// An Endpoint's URL in its parts.
struct BaseUrl {
  std::string scheme;     // "http" or "https"
  std::string authority;  // host and port as written
  std::string host;       // IPv6 addresses in brackets
  std::string port;       // never empty
  std::string prefix;     // path before every target; without a slash at its end, often empty
};

// kInvalidArgument if it is no http or https URL, or holds user, query or fragment.
base::Result<BaseUrl> parse_base_url(const std::string& url);

}  // namespace gpupool::net
