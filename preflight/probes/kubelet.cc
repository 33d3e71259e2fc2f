// SPDX-License-Identifier: Apache-2.0
#include "probes/kubelet.h"

#include "probes/processes.h"

namespace gpupool::probes {

checks::KubeletFacts kubelet(const HostRoot& root, const std::string& directory) {
  checks::KubeletFacts facts;
  facts.directory = directory;
  facts.configured = root.exists(directory + "/config.yaml") || root.exists(directory + "/pki");
  const auto processes = process_names(root);
  // MicroK8s runs the kubelet inside kubelite. The kubelet of k3s is recognised by its sockets.
  facts.process = processes.contains("kubelet") || processes.contains("kubelite");
  facts.device_plugins = root.socket(directory + "/device-plugins/kubelet.sock");
  facts.pod_resources = root.socket(directory + "/pod-resources/kubelet.sock");
  return facts;
}

}  // namespace gpupool::probes
