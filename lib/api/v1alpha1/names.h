// SPDX-License-Identifier: Apache-2.0
#pragma once

// All names that gpupool writes into a cluster (docs/protocol.md#names-in-the-cluster).
namespace gpupool::api {

inline constexpr char kGroup[] = "gpupool.dev";
inline constexpr char kApiVersion[] = "gpupool.dev/v1alpha1";

// Taint key on nodes; annotation on nodes (namespace/name of the job); label on pods (lease value); finalizer
// on GpuJobs.
inline constexpr char kLease[] = "gpupool.dev/lease";
// Label on nodes with the lease value. No kubelet may write labels with this prefix (NodeRestriction).
inline constexpr char kNodeLeaseLabel[] = "gpupool.dev.node-restriction.kubernetes.io/lease";
// Finalizer on worker pods. It keeps a pod that has ended until its outcome is written and no node carries
// the lease.
inline constexpr char kWorkerFinalizer[] = "gpupool.dev/worker";
// Annotation on worker pods: when the operator last reminded the kubelet of the pod.
inline constexpr char kNudged[] = "gpupool.dev/nudged";
// Annotation on GpuJobs: a person asks why the job does not run. The operator answers each new value once, in
// status.explanation.
inline constexpr char kExplain[] = "gpupool.dev/explain";
// Annotation on GpuJobs: a person asks for a restart of the workers. Each new value is carried out once
// (JobProgress::restarted).
inline constexpr char kRestart[] = "gpupool.dev/restart";
// Annotation on nodes: jobs leave the node and go on elsewhere. The value is empty, or an RFC 3339 time until
// which a job may wait for another node.
inline constexpr char kDrain[] = "gpupool.dev/drain";
// Finalizer on GpuPools: a pool is deleted after its last job has given its nodes back.
inline constexpr char kPoolFinalizer[] = "gpupool.dev/pool";
inline constexpr char kJobUidLabel[] = "gpupool.dev/job-uid";
inline constexpr char kJobNameLabel[] = "gpupool.dev/job-name";
inline constexpr char kPoolLabel[] = "gpupool.dev/pool";
// Taint on the members of a sharing pool, with the pool's name. Only workers of the pool tolerate it.
inline constexpr char kPoolTaint[] = "gpupool.dev/pool";
// Label on the members of a sharing pool, with the node's UID. It binds workers to the nodes of their lease.
inline constexpr char kMemberLabel[] = "gpupool.dev.node-restriction.kubernetes.io/member";
// Label on worker pods: number of slices of the worker.
inline constexpr char kSlicesLabel[] = "gpupool.dev/slices";
// Label on nodes: who owns the machine and is paid for it. No kubelet may write it (NodeRestriction).
inline constexpr char kOwnerLabel[] = "gpupool.dev.node-restriction.kubernetes.io/owner";
// Taint effect. Never NoExecute: pods of the node's owner keep running.
inline constexpr char kNoSchedule[] = "NoSchedule";

// Labels on the GpuJobs of a GpuSweep: the sweep's name, and the trial's index.
inline constexpr char kSweepLabel[] = "gpupool.dev/sweep";
inline constexpr char kTrialLabel[] = "gpupool.dev/trial";

// Labels on nodes that describe GPUs. Those of gpupool take precedence over those of the vendors' programs.
inline constexpr char kGpuModelLabel[] = "gpupool.dev/gpu-model";
inline constexpr char kGpuMemoryLabel[] = "gpupool.dev/gpu-memory";  // a quantity, per GPU
inline constexpr char kNvidiaModelLabel[] = "nvidia.com/gpu.product";
inline constexpr char kNvidiaMemoryLabel[] = "nvidia.com/gpu.memory";  // MiB, per GPU
inline constexpr char kNvidiaCountLabel[] = "nvidia.com/gpu.count";
// AMD's node labeller.
inline constexpr char kAmdModelLabel[] = "amd.com/gpu.product-name";
inline constexpr char kAmdMemoryLabel[] = "amd.com/gpu.vram";                     // "192G", in GiB, per GPU
inline constexpr char kAmdPartitionLabel[] = "amd.com/compute-memory-partition";  // "spx_nps1": not divided
// Intel's rules and hook for Node Feature Discovery.
inline constexpr char kIntelModelLabel[] = "gpu.intel.com/product";
inline constexpr char kIntelMemoryLabel[] = "gpu.intel.com/memory.max";  // bytes, of all GPUs of the node
inline constexpr char kIntelCountLabel[] = "gpu.intel.com/millicores";   // 1000 per GPU

}  // namespace gpupool::api
