#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::kube {

// The URL without a trailing '/', if it is one of an API server: http or https, a host, no user, query or
// fragment. Errors begin with `where`.
base::Result<std::string> check_server_url(const std::string& url, const std::string& where);
// http, https, socks5 or empty.
base::Result<void> check_proxy_url(const std::string& url, const std::string& where);

}  // namespace gpupool::kube
