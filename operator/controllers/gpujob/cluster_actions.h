// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/accounts/account_book.h"
#include "controllers/cluster/bill_records.h"
#include "controllers/cluster/caches.h"
#include "controllers/cluster/children.h"
#include "controllers/cluster/job_writer.h"
#include "controllers/cluster/node_leases.h"
#include "controllers/cluster/node_writer.h"
#include "controllers/cluster/worker_pods.h"
#include "controllers/gpujob/explainer.h"
#include "controllers/gpujob/job_actions.h"
#include "controllers/gpujob/job_metrics.h"
#include "controllers/gpujob/node_readiness.h"
#include "controllers/queue/pool_queue.h"
#include "runtime/events/recorder.h"

namespace gpupool::controllers {

// What only a cluster with a ledger has.
struct Money {
  BillRecords* bills = nullptr;
  AccountBook* accounts = nullptr;
};

// JobActions on a real cluster. Called by reconcile threads; thread-safe.
class ClusterActions final : public JobActions {
 public:
  // money: null pointers without a ledger. REQUIRES: everything referenced outlives this.
  ClusterActions(kube::Client& client, Caches& caches, PoolQueue& queue, Explainer& explainer,
                 NodeReadiness& readiness, JobMetrics& metrics, runtime::EventRecorder& events,
                 const base::Clock& clock, WorkerSettings workers, Money money);

  Job job(const api::ObjectKey& key) override;
  std::shared_ptr<const api::GpuPool> pool(const std::string& name) override;
  std::vector<std::string> pool_names() override;
  std::shared_ptr<const planning::TemplateFields> template_fields() override;
  std::shared_ptr<const api::Node> node(const std::string& name) override;
  std::shared_ptr<const api::GpuNode> report_of(const api::Node& node) override;
  std::vector<Job> holders(const std::string& node) override;
  base::Duration not_ready_for(const api::Node& node) override;
  planning::Pods workers(const api::GpuJob& job) override;
  std::vector<planning::Child> children(const api::GpuJob& job) override;
  planning::Pods watched_workers(const api::GpuJob& job) override;
  base::Result<Live> read_live(const api::GpuJob& job, std::stop_token stop) override;

  Ticket ask_queue(const api::GpuJob& job) override;
  Ticket replace_nodes(const api::GpuJob& job, const std::vector<std::string>& kept) override;
  planning::Funds funds(const api::GpuJob& job) override;
  std::optional<api::Problem> admit(const api::GpuJob& job, const api::GpuJobStatus& next) override;
  void leave_queue(const api::ObjectKey& job) override;

  base::Result<Job> write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                 std::stop_token stop) override;
  base::Result<Job> add_finalizer(const api::GpuJob& job, std::stop_token stop) override;
  base::Result<void> remove_finalizer(const api::GpuJob& job, std::stop_token stop) override;
  base::Result<void> confirm(const api::GpuJob& job, std::stop_token stop) override;
  base::Result<void> delete_job(const api::GpuJob& job, std::stop_token stop) override;

  base::Result<Taken> take_node(const api::GpuJob& job, const api::NodeRef& ref, const api::LeaseValue& value,
                                std::stop_token stop) override;
  base::Result<void> free_node(const api::GpuJob& job, const api::NodeRef& ref,
                               std::stop_token stop) override;

  base::Result<Made> create_children(const api::GpuJob& job, std::stop_token stop) override;
  base::Result<Made> create_service(const api::GpuJob& job, std::stop_token stop) override;
  base::Result<std::optional<api::Problem>> rehearse(const api::GpuJob& job, std::stop_token stop) override;
  std::optional<base::Result<std::optional<api::Problem>>> rehearse_first(const api::GpuJob& job,
                                                                          std::stop_token stop) override;
  base::Result<std::optional<api::Problem>> rehearse_pod(const api::GpuJob& job,
                                                         std::stop_token stop) override;
  base::Result<void> delete_child(const planning::Child& child, std::stop_token stop) override;

  base::Result<void> delete_pod(const api::Pod& pod, bool quickly, std::stop_token stop) override;
  base::Result<void> release_pod(const api::Pod& pod, std::stop_token stop) override;
  base::Result<planning::MountTrouble> read_mount_trouble(const api::Pod& pod, std::stop_token stop) override;
  base::Result<void> nudge_pod(const api::Pod& pod, std::stop_token stop) override;

  api::Explanation explain(const api::GpuJob& job) override;
  void tell(const api::GpuJob& job, const planning::Note& note) override;
  void on_status(const api::GpuJob& before, const api::GpuJobStatus& after) override;
  void on_marks_restored() override;

 private:
  base::Result<void> look_at_nodes(const api::GpuJob& job, std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
  PoolQueue& queue_;
  Explainer& explainer_;
  NodeReadiness& readiness_;
  JobMetrics& metrics_;
  runtime::EventRecorder& events_;
  const base::Clock& clock_;
  Money money_;
  JobWriter writer_;
  NodeWriter node_writer_;
  NodeLeases leases_;
  Children children_;
  WorkerPods pods_;
};

}  // namespace gpupool::controllers
