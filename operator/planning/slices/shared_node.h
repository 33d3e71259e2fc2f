// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/node_gpus.h"
#include "planning/slices/slice_size.h"

namespace gpupool::planning {

// A GPU of a sharing pool, from the report of its node.
struct SharedGpu {
  std::int64_t index = 0;
  std::string model;
  std::int64_t memory_mib = 0;
  SliceSize size;
  bool healthy = true;
  std::int64_t healthy_slices = 0;
  std::int64_t free =
      0;  // healthy slices without those of pods known to be on this GPU; negative if overbooked
  bool operator==(const SharedGpu&) const = default;
};

// Slices of one worker on this node whose GPU is not known: reserved by a lease, or of a pod that the report
// does not show yet.
struct Claim {
  std::int64_t slices = 0;
  std::int64_t gpus = 1;  // number of GPUs with these slices; over 1 only for whole GPUs
  std::int64_t per_gpu() const { return (slices + gpus - 1) / gpus; }
  auto operator<=>(const Claim&) const = default;
};

// A node of a sharing pool. Made by describe_shared_node(), changed by add_claim().
struct SharedNode {
  PoolNode node;                   // `gpus` and `leased` as in exclusive pools
  bool marked = false;             // has the taint and the label of the pool
  std::string unusable;            // why the node cannot be used; empty if it can
  std::vector<std::string> notes;  // GPUs that are left out, and why
  std::vector<SharedGpu> gpus;     // GPUs that the pool may use, in order of index
  std::vector<Claim> claims;       // in no particular order
  std::int64_t advertised = 0;     // slices, or GPUs, that the kubelet can hand out (status.allocatable)
  std::int64_t held = 0;           // slices of pods and claims, on any GPU
  Resources requested;             // by workers on the node, also those of claims, besides slices
  bool operator==(const SharedNode& other) const;
};

// What a worker takes besides its slices: these requests, and its place as a pod.
Resources taken_by_worker(Resources requests);

// Adds one worker with these slices. On a node with one healthy GPU, its slices are taken from that GPU.
void add_claim(SharedNode& node, std::int64_t slices);

// What is known about the slices of a node from other sources than its report.
struct Occupants {
  struct Pod {
    std::string ns;
    std::string name;
    std::int64_t slices = 0;
  };
  std::vector<Pod> pods;  // workers that are bound to the node and have not ended
  std::set<std::pair<std::string, std::string>>
      ended;                           // workers (namespace, name) that have ended or are gone
  std::vector<std::int64_t> reserved;  // slices of each worker that is not bound yet
};

// A node of a pool that rents GPUs: its GPUs are alike and count as one GPU with as many slices, so a worker
// with n of them has n slices. The number is that of status.allocatable; no report is needed, and the kubelet
// chooses the GPUs. foreign: what foreign pods hold; occupants are workers only. Pure.
SharedNode describe_node_of_gpus(const api::Node& node, const api::GpuPool& pool, const Occupants& occupants,
                                 ForeignShare foreign);

// report may be null. A pod in the report counts unless it is known to have ended; a worker that the report
// does not show becomes a claim. Pure.
SharedNode describe_shared_node(const api::Node& node, const api::GpuNode* report, const api::GpuPool& pool,
                                const Occupants& occupants);

}  // namespace gpupool::planning
