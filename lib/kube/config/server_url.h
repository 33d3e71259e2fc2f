// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::kube {

// Returns the URL without a trailing '/', if it is valid for an API server: http or https, a host, no user,
// query or fragment. Errors begin with `where`.
base::Result<std::string> check_server_url(const std::string& url, const std::string& where);
// Accepts http, https, socks5 or an empty text.
base::Result<void> check_proxy_url(const std::string& url, const std::string& where);

}  // namespace gpupool::kube
