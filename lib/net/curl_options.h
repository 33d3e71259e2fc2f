// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/curl_connection.h"

namespace gpupool::net {

// Sets libcurl options and stores the first one that failed.
class CurlOptions {
 public:
  explicit CurlOptions(void* easy) : easy_(easy) {}

  // The options that are the same for every request: protocol, timeouts, keep-alive.
  void set_connection();
  void set_tls(const TlsMaterial& tls);
  void set_proxy(const std::string& proxy_url);
  // Method, body, callbacks and total timeout.
  void set_exchange(CurlExchange& exchange);
  void set_text(int option, const std::string& value);
  void set_list(int option, curl_slist* list);
  void set_error_buffer(char* buffer);

  // Null if all options are set; else the reason of the first failure.
  const char* error() const;

 private:
  template <class T>
  void set(int option, T value);

  void* easy_;
  int failed_ = 0;
};

}  // namespace gpupool::net
