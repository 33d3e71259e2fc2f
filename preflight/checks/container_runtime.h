// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/finding.h"
#include "checks/unix_socket.h"

namespace gpupool::checks {

// An OCI runtime that a pod can be run by.
struct RuntimeHandler {
  std::string name;    // in the configuration, and in a RuntimeClass
  std::string binary;  // as configured; empty: found by name
  bool binary_missing = false;
  bool systemd_cgroup = false;
};

// What the configuration of containerd or CRI-O says.
struct RuntimeConfig {
  std::string path;   // of its main file, or of where it would be
  std::string error;  // why it cannot be read; the rest is then empty
  bool cri_disabled = false;
  std::vector<RuntimeHandler> handlers;
  std::string default_handler;
  bool cdi = false;  // devices of CDI specs can be asked for
};

struct RuntimeEngine {
  std::string name;     // "containerd"
  std::string service;  // systemd's name of it
  UnixSocket socket;
  RuntimeConfig config;
};

struct ContainerRuntimeFacts {
  std::vector<RuntimeEngine> engines;  // that are installed or running
  std::vector<std::string> cdi_specs;  // files that describe nvidia.com/gpu
  bool systemd = false;                // is the machine's init
};

Finding judge_container_runtime(const ContainerRuntimeFacts& facts);

}  // namespace gpupool::checks
