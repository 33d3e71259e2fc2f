// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "checks/finding.h"
#include "checks/unix_socket.h"

namespace gpupool::checks {

struct KubeletFacts {
  std::string directory;      // "/var/lib/kubelet"
  bool configured = false;    // the directory holds a configuration or certificates
  bool process = false;       // a kubelet, or a program with one in it, runs
  UnixSocket device_plugins;  // <directory>/device-plugins/kubelet.sock
  UnixSocket pod_resources;   // <directory>/pod-resources/kubelet.sock

  bool runs() const { return process || device_plugins.answers; }
};

Finding judge_kubelet(const KubeletFacts& facts);

}  // namespace gpupool::checks
