// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/core/pod_event.h"

// Why a kubelet does not mount the volumes of a worker. It says so only in Events. Pure.
namespace gpupool::planning {

struct MountTrouble {
  bool asked = false;   // step::AskMounts was executed
  std::string message;  // of the last Event; empty if there is none
  // Something that the template names does not exist: waiting on this node does not help.
  bool missing = false;
};

// The reason of such Events.
inline constexpr char kFailedMount[] = "FailedMount";

// events: those of one pod with the reason FailedMount, in any order.
MountTrouble mount_trouble(const std::vector<api::PodEvent>& events);

// True if the kubelet may be waiting for volumes: the pod has a node, and its sandbox is not known to be
// ready (condition PodReadyToStartContainers, Kubernetes 1.29).
bool may_wait_for_volumes(const api::Pod& pod);

}  // namespace gpupool::planning
