// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpupool/reconciler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/status_json.h"
#include "controllers/cluster/finalizer_patch.h"
#include "planning/demand/pool_demand.h"
#include "planning/pool/draining_nodes.h"
#include "planning/pool/pool_status.h"
#include "planning/pricing/pool_price.h"

namespace gpupool::controllers {
namespace {

// How old counts in a status may be. A thousand jobs that start together then cost a few writes.
constexpr auto kCountInterval = std::chrono::seconds(1);

planning::Drains drains_in(const PoolView& view) {
  std::vector<const planning::PoolNode*> nodes;
  nodes.reserve(view.nodes.size() + view.shared.size());
  for (const auto& node : view.nodes) nodes.push_back(&node);
  for (const auto& node : view.shared) nodes.push_back(&node.node);
  return planning::drains_of(nodes, view.to_leave);
}

std::optional<base::Duration> sooner(std::optional<base::Duration> a, std::optional<base::Duration> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// Jobs that wait for a lower price may start then, or others must not any more.
std::optional<base::Duration> until_prices_change(const api::GpuPool& pool, const api::GpuPoolStatus& status,
                                                  base::WallTime now) {
  if (!pool.spec.price) return std::nullopt;
  const auto& demand = pool.spec.price->demand;
  if (demand && status.price) return planning::until_decision(*demand, status.price, now);
  const auto next = planning::next_price_change(*pool.spec.price, now);
  if (!next) return std::nullopt;
  return std::chrono::duration_cast<base::Duration>(*next - now);
}

}  // namespace

GpuPoolReconciler::GpuPoolReconciler(kube::Client& client, PoolQueue& queue, base::Clock& clock,
                                     base::Metrics& metrics, planning::RunTimes::Source history,
                                     DemandPricer::Jobs jobs)
    : client_(client),
      queue_(queue),
      clock_(clock),
      counts_(kCountInterval, clock),
      metrics_(metrics),
      pricer_(clock, std::move(jobs), history),
      forecaster_(queue, clock, std::move(history)) {}

base::Result<void> GpuPoolReconciler::set_finalizer(const api::GpuPool& pool, bool wanted,
                                                    std::stop_token stop) {
  const auto patch = finalizer_patch(pool.metadata, api::kPoolFinalizer, wanted);
  if (patch.empty()) return {};
  const auto done =
      client_.patch(api::GpuPool::kType, pool.metadata.key(), kube::PatchType::kJson, patch, "", stop);
  if (done || done.error().code == base::ErrorCode::kNotFound) return {};
  return tl::unexpected<base::Error>(done.error());
}

base::Result<runtime::Requeue> GpuPoolReconciler::reconcile(const api::ObjectKey& key,
                                                            const base::Log& /*log*/, std::stop_token stop) {
  queue_.notify(key.name);
  // Also limits counts that change nothing, because counting at every change of a job would dominate CPU use.
  if (const auto wait = counts_.until_next(key.name); wait > base::Duration::zero())
    return runtime::Requeue{wait};
  const auto view = queue_.view(key.name);
  if (!view) {
    metrics_.on_drains(key.name, {});
    metrics_.on_queue(key.name, nullptr, nullptr);
    return runtime::Requeue{};
  }
  const auto& pool = *view->pool;
  if (!pool.metadata.deleting()) {
    if (!pool.metadata.has_finalizer(api::kPoolFinalizer)) {
      const auto done = set_finalizer(pool, true, stop);
      if (!done) return tl::unexpected<base::Error>(done.error());
      return runtime::Requeue{};  // the watch brings the new version
    }
  } else if (view->holding.empty()) {
    const auto done = set_finalizer(pool, false, stop);
    if (!done) return tl::unexpected<base::Error>(done.error());
    return runtime::Requeue{};
  }
  counts_.done(key.name);
  auto drains = drains_in(*view);
  metrics_.on_drains(key.name, drains);
  metrics_.on_queue(key.name, &pool, view->queue ? &*view->queue : nullptr);
  planning::PoolJobs jobs{view->holding, view->waiting, std::move(drains.nodes)};
  if (view->queue) jobs.queue = *view->queue;
  auto status = pool.spec.sharing
                    ? planning::make_pool_status(pool, view->members, view->shared, jobs, clock_.wall())
                    : planning::make_pool_status(pool, view->members, view->nodes, jobs, clock_.wall());
  status.price = pricer_.price(pool, status);
  runtime::Requeue again;
  again.after = until_prices_change(pool, status, clock_.wall());
  if (view->queue)
    again.after = sooner(again.after, sooner(forecaster_.update(key.name), queue_.until_claims(key.name)));
  if (!planning::is_news(status, pool.status)) return again;
  const auto body = api::status_update(pool.metadata, status);
  const auto done = client_.update(api::GpuPool::kType, key, body, "status", stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound)
    return tl::unexpected<base::Error>(done.error());
  return again;
}

}  // namespace gpupool::controllers
