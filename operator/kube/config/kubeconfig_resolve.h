#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/config/kubeconfig.h"
#include "kube/config/rest_config.h"

namespace gpupool::kube {

// The server and identity of one context. files: where the kubeconfig came from, for messages. context empty:
// current-context. Reads the files that it names once, so that what is missing is an error now. clock must
// outlive the result.
base::Result<RestConfig> resolve_kubeconfig(const Kubeconfig& config, const std::string& files,
                                            const std::string& context, base::Clock& clock);

}  // namespace gpupool::kube
