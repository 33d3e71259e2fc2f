#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "controllers/cluster/newest.h"
#include "controllers/cluster/pool_placement.h"
#include "runtime/cache/informer.h"

namespace gpupool::controllers {

inline constexpr char kByJobUid[] = "job-uid";
inline constexpr char kByUid[] = "uid";
inline constexpr char kByNode[] = "node";
inline constexpr char kByHeldNode[] = "held-node";

// Names of the nodes that a job's lease has or has lost.
std::vector<std::string> nodes_of(const api::GpuJob& job);

// Everything the controllers watch, made once in main. Children are watched by label, so that other workloads
// cost next to nothing.
struct Caches {
  Caches(kube::Client& client, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  runtime::Informer<api::GpuPool> pools;
  runtime::Informer<api::GpuJob> jobs;
  runtime::Informer<api::Node> nodes;
  runtime::Informer<api::GpuNode> gpu_nodes;
  runtime::Informer<api::Pod> pods;
  runtime::Informer<api::Pod> newcomers;  // pods of others that have a node and do not run yet
  runtime::Informer<api::StatefulSet> stateful_sets;
  runtime::Informer<api::BatchJob> batch_jobs;
  runtime::Informer<api::Service> services;
  Newest<api::GpuJob> newest_jobs;
  Newest<api::Node> newest_nodes;
  PoolPlacement placement;

  // What the node's device plugin reports; null if there is nothing, or only of an earlier node of this name.
  std::shared_ptr<const api::GpuNode> report_of(const api::Node& node) const;

  // The job whose worker the pod is (planning::is_worker); null if it is none of a living job.
  std::shared_ptr<const api::GpuJob> job_of(const api::Pod& pod) const;
  // All workers of the job.
  std::vector<std::shared_ptr<const api::Pod>> workers_of(const api::GpuJob& job) const;

 private:
  bool is_worker(const api::Pod& pod, const api::GpuJob& job) const;
};

}  // namespace gpupool::controllers

// Made in caches.cc alone: they are a third of what compiling a controller would cost.
namespace gpupool::runtime {
extern template class Store<api::GpuPool>;
extern template class Informer<api::GpuPool>;
extern template class Store<api::GpuJob>;
extern template class Informer<api::GpuJob>;
extern template class Store<api::Node>;
extern template class Informer<api::Node>;
extern template class Store<api::GpuNode>;
extern template class Informer<api::GpuNode>;
extern template class Store<api::Pod>;
extern template class Informer<api::Pod>;
extern template class Store<api::StatefulSet>;
extern template class Informer<api::StatefulSet>;
extern template class Store<api::BatchJob>;
extern template class Informer<api::BatchJob>;
extern template class Store<api::Service>;
extern template class Informer<api::Service>;
}  // namespace gpupool::runtime
