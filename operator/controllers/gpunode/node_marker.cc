#include "controllers/gpunode/node_marker.h"

#include "controllers/cluster/slice_book.h"
#include "controllers/gpunode/mark_patch.h"
#include "planning/membership.h"

namespace gpupool::controllers {
namespace {

constexpr int kTries = 5;  // each failed one means that somebody else wrote the node meanwhile

}  // namespace

std::string NodeMarker::plan(const std::shared_ptr<const api::Node>& node) const {
  const auto pool = planning::pool_of(caches_.pools.store().list(), node);
  const auto report = caches_.report_of(*node);
  const auto patch = mark_patch(*node, planning::wanted_marks(*node, pool.get(), report.get(), false));
  if (patch.empty() || !has_sharers(caches_, *node)) return patch;
  return mark_patch(*node, planning::wanted_marks(*node, pool.get(), report.get(), true));
}

base::Result<runtime::Requeue> NodeMarker::reconcile(const api::ObjectKey& key, const base::Log& /*log*/,
                                                     std::stop_token stop) {
  auto node = caches_.newest_nodes.get(key);
  for (int tries = 0; tries < kTries; ++tries) {
    if (node == nullptr || node->metadata.deleting()) return runtime::Requeue{};
    const auto patch = plan(node);
    if (patch.empty()) return runtime::Requeue{};
    auto written = kube::decode<api::Node>(
        client_.patch(api::Node::kType, key, kube::PatchType::kJson, patch, "", stop));
    if (written) {
      caches_.newest_nodes.remember(*std::move(written));
      return runtime::Requeue{};
    }
    const auto code = written.error().code;
    if (code == base::ErrorCode::kNotFound) return runtime::Requeue{};
    if (code != base::ErrorCode::kConflict && code != base::ErrorCode::kInvalid)
      return tl::unexpected<base::Error>(written.error());
    auto fresh = kube::get<api::Node>(client_, key, stop);
    if (!fresh && fresh.error().code == base::ErrorCode::kNotFound) return runtime::Requeue{};
    if (!fresh) return tl::unexpected<base::Error>(fresh.error());
    node = caches_.newest_nodes.remember(*std::move(fresh));
  }
  return base::fail(base::ErrorCode::kConflict, "node " + key.name + " changes all the time");
}

}  // namespace gpupool::controllers
