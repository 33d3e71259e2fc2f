#pragma once

// Every name that gpupool writes into a cluster (design section 5).
namespace gpupool::api {

inline constexpr char kGroup[] = "gpupool.dev";
inline constexpr char kApiVersion[] = "gpupool.dev/v1alpha1";

// Taint key, node annotation (job as namespace/name), pod label (lease value) and finalizer on a GpuJob.
inline constexpr char kLease[] = "gpupool.dev/lease";
// Node label with the lease value; under a prefix that no kubelet may write (NodeRestriction).
inline constexpr char kNodeLeaseLabel[] = "gpupool.dev.node-restriction.kubernetes.io/lease";
// Finalizer of worker pods: a dead pod stays as evidence until its outcome is written.
inline constexpr char kWorkerFinalizer[] = "gpupool.dev/worker";
// Annotation of worker pods: when their kubelet was last reminded of them.
inline constexpr char kNudged[] = "gpupool.dev/nudged";
// Finalizer of a GpuPool: it waits for its jobs.
inline constexpr char kPoolFinalizer[] = "gpupool.dev/pool";
inline constexpr char kJobUidLabel[] = "gpupool.dev/job-uid";
inline constexpr char kJobNameLabel[] = "gpupool.dev/job-name";
inline constexpr char kPoolLabel[] = "gpupool.dev/pool";
// In sharing pools. Taint of the member nodes, with the pool's name: only workers of the pool come there.
inline constexpr char kPoolTaint[] = "gpupool.dev/pool";
// Label of the member nodes, with their own UID: workers are bound to the nodes of their lease by it.
inline constexpr char kMemberLabel[] = "gpupool.dev.node-restriction.kubernetes.io/member";
// Label of worker pods: how many slices they hold.
inline constexpr char kSlicesLabel[] = "gpupool.dev/slices";
// Taint effect: NoSchedule, never NoExecute, so that an owner's running daemons stay.
inline constexpr char kNoSchedule[] = "NoSchedule";

// Node labels that describe GPUs; ours win over NVIDIA's feature discovery.
inline constexpr char kGpuModelLabel[] = "gpupool.dev/gpu-model";
inline constexpr char kGpuMemoryLabel[] = "gpupool.dev/gpu-memory";  // a quantity, per GPU
inline constexpr char kNvidiaModelLabel[] = "nvidia.com/gpu.product";
inline constexpr char kNvidiaMemoryLabel[] = "nvidia.com/gpu.memory";  // MiB, per GPU
inline constexpr char kNvidiaCountLabel[] = "nvidia.com/gpu.count";

}  // namespace gpupool::api
