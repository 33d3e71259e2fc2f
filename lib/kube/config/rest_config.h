// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/token_source.h"
#include "net/endpoint.h"

namespace gpupool::kube {

// How to reach one API server and which identity to use.
struct RestConfig {
  net::Endpoint endpoint;
  std::shared_ptr<TokenSource> tokens;  // null: none
  std::string impersonate_user;
  std::vector<std::string> impersonate_groups;
  std::string ns;  // namespace of the context or of the pod; may be empty
};

struct ConfigSource {
  std::string kubeconfig = {};  // --kubeconfig; may be a list, like KUBECONFIG
  std::string context = {};     // --context; empty: current-context
};

// Tries in controller-runtime's order: the flag, $KUBECONFIG, in-cluster, ~/.kube/config. The error names the
// source that was tried and what is wrong with it (missing, empty, not YAML, no such context, ...). REQUIRES:
// clock outlives the result.
base::Result<RestConfig> load_config(const ConfigSource& source, base::Clock& clock);

// The pod's service account: host and port from the environment; the token is read again every 60 s, the CA
// when its file changes. directory: normally /var/run/secrets/kubernetes.io/serviceaccount.
base::Result<RestConfig> in_cluster_config(const std::string& directory, base::Clock& clock);

// paths: one file, or several separated by ':', merged as by kubectl (the first file that has an entry wins).
base::Result<RestConfig> kubeconfig_config(const std::string& paths, const std::string& context,
                                           base::Clock& clock);

}  // namespace gpupool::kube
