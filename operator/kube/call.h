#pragma once

#include <string>
#include <string_view>

#include "api/meta/resource_type.h"

namespace gpupool::kube {

// What one request means to Kubernetes: for messages, metrics and the RBAC rule it needs.
struct Call {
  std::string_view verb;                    // RBAC's word: get, list, watch, create, delete, patch
  const api::ResourceType* type = nullptr;  // null for a path that is no resource; must outlive the call
  std::string ns = {};
  std::string name = {};  // empty for collections
  std::string subresource = {};
  std::string path = {};  // only without a type

  bool is_read() const { return verb == "get" || verb == "list" || verb == "watch"; }
  // Such as "patch GpuJob/status lab/resnet", "list Pod in all namespaces", "get /readyz".
  std::string describe() const;
  // The policy rule that allows this call, in a form that can be pasted under `rules:`.
  std::string rbac_rule() const;
};

}  // namespace gpupool::kube
