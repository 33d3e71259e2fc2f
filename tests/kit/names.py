# SPDX-License-Identifier: Apache-2.0
"""Names that gpupool gives to keys of Kubernetes objects. They are its interface, so tests write them out."""

LEASE = "gpupool.dev/lease"  # key of the taint and of the annotation of a leased node, and of the label of a worker
LEASE_LABEL = "gpupool.dev.node-restriction.kubernetes.io/lease"
OWNER_LABEL = "gpupool.dev.node-restriction.kubernetes.io/owner"
POOL_LABEL = "gpupool.dev.node-restriction.kubernetes.io/pool"  # written by people: the node belongs to this pool
MEMBER_LABEL = "gpupool.dev.node-restriction.kubernetes.io/member"
POOL_TAINT = "gpupool.dev/pool"
JOB_UID, JOB_NAME = "gpupool.dev/job-uid", "gpupool.dev/job-name"  # labels of a worker
SLICES_LABEL = "gpupool.dev/slices"  # label of a worker in a sharing pool
WORKER_FINALIZER = "gpupool.dev/worker"
GPU, SLICE = "nvidia.com/gpu", "gpupool.dev/vgpu"  # resources
API_VERSION = "gpupool.dev/v1alpha1"
SYSTEM_NAMESPACE = "gpupool-system"
DRAIN, RESTART = "gpupool.dev/drain", "gpupool.dev/restart"  # annotations of a node, and of a job; written by people
LAUNCHER_IMAGE = "gpupool.dev/launcher:dev"
