// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpunode/node_marker.h"

#include "controllers/gpunode/mark_patch.h"
#include "controllers/queue/slice_occupancy.h"

namespace gpupool::controllers {

std::string NodeMarker::plan(const std::shared_ptr<const api::Node>& node) const {
  const auto pool = caches_.membership.get()->of(*node).pool;
  const auto report = caches_.report_of(*node);
  const auto patch = mark_patch(*node, planning::wanted_marks(*node, pool.get(), report.get(), false));
  if (patch.empty() || !has_sharers(caches_, *node)) return patch;
  return mark_patch(*node, planning::wanted_marks(*node, pool.get(), report.get(), true));
}

base::Result<runtime::Requeue> NodeMarker::reconcile(const api::ObjectKey& key, const base::Log& /*log*/,
                                                     std::stop_token stop) {
  const auto patch_for = [this](const std::shared_ptr<const api::Node>& node, bool) {
    if (node == nullptr || node->metadata.deleting()) return std::optional<std::string>();
    auto patch = plan(node);
    return patch.empty() ? std::nullopt : std::optional(std::move(patch));
  };
  if (const auto written = writer_.edit(key.name, patch_for, stop); !written)
    return tl::unexpected<base::Error>(written.error());
  return runtime::Requeue{};
}

}  // namespace gpupool::controllers
