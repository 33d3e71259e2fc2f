// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"

namespace gpupool::kubelet {

// Tells the kubelet behind `kubelet_socket` of the plugin that serves on `endpoint`, a file name in the same
// directory. Blocks until the kubelet has answered, for 10 s at most; newer kubelets call the plugin before
// they answer. kTransport: nobody answers there; kInvalid: the kubelet refuses, the message says why.
base::Result<void> register_plugin(const std::string& kubelet_socket, const std::string& endpoint,
                                   const std::string& resource, std::stop_token stop);

}  // namespace gpupool::kubelet
