// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace gpupool::net {

// Keys and certificates as PEM text; never as temporary files.
struct TlsMaterial {
  std::string ca_pem = {};           // empty: the system's CAs
  std::string client_cert_pem = {};  // with client_key_pem, or empty
  std::string client_key_pem = {};
  bool insecure_skip_verify = false;
  std::string server_name = {};  // empty: the host of the URL
  bool operator==(const TlsMaterial&) const = default;
};

// A server and how to reach it.
struct Endpoint {
  std::string url = {};        // https://host:port[/prefix], http:// too; IPv6 hosts in brackets
  std::string proxy_url = {};  // http, https or socks5; empty: from https_proxy and no_proxy
  bool compression = true;
  // Called before new connections, and at most every few seconds for pooled ones. When the answer changes,
  // pooled connections made with the old one are not used again. After an error the last good answer is used.
  // REQUIRES: thread-safe.
  std::function<base::Result<TlsMaterial>()> tls = {};
};

// The same server, reached without what says who this program is: for requests with other people's tokens.
Endpoint without_identity(const Endpoint& endpoint);

}  // namespace gpupool::net
