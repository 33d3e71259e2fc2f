// SPDX-License-Identifier: Apache-2.0
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
#include "api/v1alpha1/gpu_sweep.h"
#include "base/latest.h"
#include "controllers/cluster/foreign_pod_cache.h"
#include "planning/job/template_fields.h"
#include "planning/nodes/membership.h"
#include "runtime/cache/informer.h"
#include "runtime/cache/read_your_writes.h"
#include "runtime/manager/manager.h"

namespace gpupool::controllers {

inline constexpr char kByJobUid[] = "job-uid";
inline constexpr char kByUid[] = "uid";
inline constexpr char kBySweepUid[] = "sweep-uid";
inline constexpr char kByNode[] = "node";
inline constexpr char kByHeldNode[] = "held-node";

// Returns the names of the nodes in a job's lease, lost ones included.
std::vector<std::string> nodes_of(const api::GpuJob& job);

// The caches of everything that the controllers watch. main constructs one before all controllers; it must
// outlive them. Children are selected by label, so other workloads cost almost nothing. Stores and functions
// are thread-safe; handlers are registered before the manager starts and run on the reflectors' threads.
struct Caches {
  Caches(kube::Client& client, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  runtime::Informer<api::GpuPool> pools;
  runtime::Informer<api::GpuJob> jobs;
  runtime::Informer<api::GpuSweep>
      sweeps;  // may stay empty: the operator runs where the kind is not installed
  runtime::Informer<api::Node> nodes;
  runtime::Informer<api::GpuNode> gpu_nodes;
  runtime::Informer<api::Pod> pods;
  ForeignPodCache foreign_pods;
  runtime::Informer<api::StatefulSet> stateful_sets;
  runtime::Informer<api::BatchJob> batch_jobs;  // without those that have succeeded
  runtime::Informer<api::Service> services;
  // The same objects, with what this program has written and the watch has not shown yet.
  runtime::ReadYourWrites<api::GpuJob> newest_jobs;
  runtime::ReadYourWrites<api::GpuSweep> newest_sweeps;
  runtime::ReadYourWrites<api::Node> newest_nodes;
  runtime::ReadYourWrites<api::Pod> newest_pods;
  runtime::ReadYourWrites<api::StatefulSet> newest_stateful_sets;
  runtime::ReadYourWrites<api::BatchJob> newest_batch_jobs;
  runtime::ReadYourWrites<api::Service> newest_services;
  // Which pool a node belongs to, as of the last change of a pool.
  base::Latest<planning::Membership> membership{planning::Membership({})};

  // The fields that the API server knows in pod templates; empty until they have been read, and if they
  // cannot be read. Set before the controllers start.
  base::Latest<planning::TemplateFields> template_fields;

  // Adds all caches to the manager.
  void add_to(runtime::Manager& manager);

  // Returns the report of the node's device plugin; null if there is none, or only one of an earlier node
  // with this name.
  std::shared_ptr<const api::GpuNode> report_of(const api::Node& node) const;

  // Returns the job that the pod is a worker of (planning::is_worker); null if there is no such job.
  std::shared_ptr<const api::GpuJob> job_of(const api::Pod& pod) const;
  // All workers of the job. workers_of includes what this program has written; watched_workers_of shows only
  // what the watch has brought.
  std::vector<std::shared_ptr<const api::Pod>> workers_of(const api::GpuJob& job) const;
  std::vector<std::shared_ptr<const api::Pod>> watched_workers_of(const api::GpuJob& job) const;

 private:
  bool is_worker(const api::Pod& pod, const api::GpuJob& job) const;
};

}  // namespace gpupool::controllers

// Instantiated only in caches.cc, to save a third of the time to compile a controller.
namespace gpupool::runtime {
extern template class Store<api::GpuPool>;
extern template class Informer<api::GpuPool>;
extern template class Store<api::GpuJob>;
extern template class Informer<api::GpuJob>;
extern template class ReadYourWrites<api::GpuJob>;
extern template class Store<api::GpuSweep>;
extern template class Informer<api::GpuSweep>;
extern template class ReadYourWrites<api::GpuSweep>;
extern template class Store<api::Node>;
extern template class Informer<api::Node>;
extern template class ReadYourWrites<api::Node>;
extern template class Store<api::GpuNode>;
extern template class Informer<api::GpuNode>;
extern template class Store<api::Pod>;
extern template class Informer<api::Pod>;
extern template class ReadYourWrites<api::Pod>;
extern template class Store<api::StatefulSet>;
extern template class Informer<api::StatefulSet>;
extern template class ReadYourWrites<api::StatefulSet>;
extern template class Store<api::BatchJob>;
extern template class Informer<api::BatchJob>;
extern template class ReadYourWrites<api::BatchJob>;
extern template class Store<api::Service>;
extern template class Informer<api::Service>;
extern template class ReadYourWrites<api::Service>;
}  // namespace gpupool::runtime
