#include "gather/kubelet.h"

#include "gather/processes.h"

namespace gpupool::gather {

checks::KubeletFacts kubelet(const HostRoot& root, const std::string& directory) {
  checks::KubeletFacts facts;
  facts.directory = directory;
  facts.configured = root.exists(directory + "/config.yaml") || root.exists(directory + "/pki");
  const auto processes = process_names(root);
  // MicroK8s has the kubelet in kubelite. That of k3s shows in its sockets.
  facts.process = processes.contains("kubelet") || processes.contains("kubelite");
  facts.device_plugins = root.socket(directory + "/device-plugins/kubelet.sock");
  facts.pod_resources = root.socket(directory + "/pod-resources/kubelet.sock");
  return facts;
}

}  // namespace gpupool::gather
