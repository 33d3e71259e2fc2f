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

// How to reach and speak to one API server, whatever it was read from.
struct RestConfig {
  net::Endpoint endpoint;
  std::shared_ptr<TokenSource> tokens;  // null: none
  std::string impersonate_user;
  std::vector<std::string> impersonate_groups;
  std::string ns;  // the context's namespace, or the pod's; may be empty
};

struct ConfigSource {
  std::string kubeconfig = {};  // --kubeconfig; may be a list as KUBECONFIG is
  std::string context = {};     // --context; empty: current-context
};

// The field's order (controller-runtime): the flag, $KUBECONFIG, in-cluster, ~/.kube/config. The error says
// which was tried and what is wrong with it (missing, empty, not YAML, no such context, ...). clock must
// outlive the result.
base::Result<RestConfig> load_config(const ConfigSource& source, base::Clock& clock);

// The pod's service account: host and port from the environment, token re-read every 60 s, CA re-read when it
// changes. directory: normally /var/run/secrets/kubernetes.io/serviceaccount.
base::Result<RestConfig> in_cluster_config(const std::string& directory, base::Clock& clock);

// paths: one file or several separated by ':', merged as kubectl does (the first to set a key wins).
base::Result<RestConfig> kubeconfig_config(const std::string& paths, const std::string& context,
                                           base::Clock& clock);

}  // namespace gpupool::kube
