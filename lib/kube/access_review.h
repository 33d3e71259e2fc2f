// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "kube/client.h"

namespace gpupool::kube {

// One question to the API server: may the caller do this? As of SelfSubjectAccessReview.
struct AccessQuestion {
  std::string verb;
  std::string group = {};
  std::string resource;
  std::string subresource = {};
  std::string ns = {};    // empty: in all namespaces
  std::string name = {};  // of the object; empty: of all
};

// Asks the API server, as the client's user. Any user that it knows may ask.
base::Result<bool> may(Client& client, const AccessQuestion& question, const std::stop_token& stop);

}  // namespace gpupool::kube
