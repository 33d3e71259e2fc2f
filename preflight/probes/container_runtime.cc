// SPDX-License-Identifier: Apache-2.0
#include "probes/container_runtime.h"

#include "probes/cdi_specs.h"
#include "probes/runtime_config.h"

namespace gpupool::probes {

checks::ContainerRuntimeFacts container_runtime(const HostRoot& root) {
  checks::ContainerRuntimeFacts facts;
  const auto containerd_socket = root.socket("/run/containerd/containerd.sock");
  if (containerd_socket.exists || root.exists("/etc/containerd/config.toml") ||
      !binary_missing(root, "containerd")) {
    facts.engines.push_back({"containerd", "containerd", containerd_socket, containerd_config(root)});
  }
  const auto crio_socket = root.socket("/run/crio/crio.sock");
  if (crio_socket.exists || root.exists("/etc/crio") || !binary_missing(root, "crio")) {
    facts.engines.push_back({"CRI-O", "crio", crio_socket, crio_config(root)});
  }
  facts.cdi_specs = cdi_specs(root);
  facts.systemd = root.exists("/run/systemd/system");  // sd_booted(3)
  return facts;
}

}  // namespace gpupool::probes
