#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"

namespace gpupool::kube {

// The rest_client_* series, named as client-go names them. Thread-safe.
class RequestMetrics {
 public:
  explicit RequestMetrics(base::Metrics& metrics) : metrics_(metrics) {}

  // One request sent. http_status 0: no answer came.
  void sent(const std::string& method, int http_status);
  // How long one request took, without the waits between tries. Not for watches, which last as long as they
  // last.
  void took(std::string_view verb, base::Duration how_long);
  void retried(const std::string& method);

 private:
  base::Metrics& metrics_;
};

}  // namespace gpupool::kube
