// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweeper/pod_sweeper.h"

#include "api/v1alpha1/names.h"
#include "planning/workers/pod_end.h"

namespace gpupool::controllers {

base::Result<runtime::Requeue> PodSweeper::reconcile(const api::ObjectKey& key, const base::Log& log,
                                                     std::stop_token stop) {
  const auto pod = caches_.newest_pods.get(key);
  // Foreign pods may have our labels. Only pods with our finalizer are held by gpupool, and nothing else
  // would end them.
  if (pod == nullptr || !pod->metadata.has_finalizer(api::kWorkerFinalizer)) return runtime::Requeue{};
  const auto uid = pod->metadata.label(api::kJobUidLabel);
  if (!caches_.jobs.store().by_index(kByUid, uid).empty()) return runtime::Requeue{};
  const auto job = kube::get<api::GpuJob>(client_, {key.ns, pod->metadata.label(api::kJobNameLabel)}, stop);
  if (!job && job.error().code != base::ErrorCode::kNotFound) return tl::unexpected<base::Error>(job.error());
  if (job && job->metadata.uid == uid)
    return runtime::Requeue{std::chrono::seconds(1)};  // the cache does not show the job yet
  if (!pod->metadata.deleting()) {
    if (const auto done = pods_.remove(*pod, false, stop); !done)
      return tl::unexpected<base::Error>(done.error());
  }
  const auto& node = pod->spec.node_name;
  const bool node_gone = !node.empty() && caches_.newest_nodes.get({"", node}) == nullptr;
  if (!planning::has_ended(*pod) && !node_gone) return runtime::Requeue{std::chrono::seconds(5)};
  if (const auto done = pods_.take_finalizer_off(*pod, stop); !done)
    return tl::unexpected<base::Error>(done.error());
  log.info("ended a worker whose job is gone", {{"pod", key.to_string()}});
  return runtime::Requeue{};
}

}  // namespace gpupool::controllers
