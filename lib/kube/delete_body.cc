// SPDX-License-Identifier: Apache-2.0
#include "kube/delete_body.h"

#include "base/json.h"

namespace gpupool::kube {
namespace {

const char* to_string(Propagation propagation) {
  switch (propagation) {
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
    case Propagation::kBackground:
      break;
  }
  return "Background";
}

}  // namespace

std::string delete_body(const DeleteOptions& options) {
  std::string body = R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":")";
  body += to_string(options.propagation);
  body += '"';
  if (options.grace_period_seconds) {
    body += R"(,"gracePeriodSeconds":)" + std::to_string(*options.grace_period_seconds);
  }
  std::string preconditions;
  if (!options.uid.empty()) preconditions += R"("uid":)" + base::json::quote(options.uid);
  if (!options.resource_version.empty()) {
    if (!preconditions.empty()) preconditions += ',';
    preconditions += R"("resourceVersion":)" + base::json::quote(options.resource_version);
  }
  if (!preconditions.empty()) body += R"(,"preconditions":{)" + preconditions + "}";
  return body + "}";
}

}  // namespace gpupool::kube
