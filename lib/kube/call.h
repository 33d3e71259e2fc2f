// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/meta/resource_type.h"

namespace gpupool::kube {

// What one request means in Kubernetes: for messages, metrics and the RBAC rule that it needs.
struct Call {
  std::string_view verb;  // RBAC's word: get, list, watch, create, delete, patch
  const api::ResourceType* type =
      nullptr;  // null for a path that is no resource. REQUIRES: outlives the call
  std::string ns = {};
  std::string name = {};  // empty for collections
  std::string subresource = {};
  std::string path = {};  // only without a type

  bool is_read() const { return verb == "get" || verb == "list" || verb == "watch"; }
  // Returns, for example, "patch GpuJob/status lab/resnet", "list Pod in all namespaces", "get /readyz".
  std::string describe() const;
  // Returns the policy rule that allows this call, as YAML that can be pasted under `rules:`.
  std::string rbac_rule() const;
};

}  // namespace gpupool::kube
