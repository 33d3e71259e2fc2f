// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/config/kubeconfig.h"
#include "kube/config/rest_config.h"

namespace gpupool::kube {

// Returns the server and identity of one context. files: the files of the kubeconfig, for messages. context
// empty: current-context. Reads the files that the kubeconfig names once, so that a missing file is an error
// at start. REQUIRES: clock outlives the result.
base::Result<RestConfig> resolve_kubeconfig(const Kubeconfig& config, const std::string& files,
                                            const std::string& context, base::Clock& clock);

}  // namespace gpupool::kube
