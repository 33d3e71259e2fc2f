// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/node_leases.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "controllers/cluster/taint_patch.h"
#include "kube/patch.h"
#include "planning/nodes/lease_marks.h"

namespace gpupool::controllers {
namespace {

using api::Problem;
using base::json::quote;

JobActions::Taken refused(const std::string& text) { return {false, Problem{api::reason::kNodeTaken, text}}; }

std::string take_patch(const api::Node& node, const std::string& value, const std::string& job) {
  kube::JsonPatch patch;
  patch.only_if_version(node.metadata.resource_version);
  patch_taint(patch, node.spec.taints, api::kLease, value);
  if (node.metadata.labels.empty()) patch.add("/metadata/labels", "{}");
  patch.add(kube::json_pointer({"metadata", "labels", api::kNodeLeaseLabel}), quote(value));
  if (node.metadata.annotations.empty()) patch.add("/metadata/annotations", "{}");
  patch.add(kube::json_pointer({"metadata", "annotations", api::kLease}), quote(job));
  return patch.text();
}

// Returns a patch that removes all lease marks; empty if there are none.
std::string strip_patch(const api::Node& node) {
  const bool label = node.metadata.labels.contains(api::kNodeLeaseLabel);
  const bool annotation = node.metadata.annotations.contains(api::kLease);
  const bool taint = !planning::lease_taint(node).empty() || planning::has_stray_lease_taint(node);
  if (!taint && !label && !annotation) return {};
  kube::JsonPatch patch;
  patch.only_if_version(node.metadata.resource_version);
  patch_taint(patch, node.spec.taints, api::kLease, std::nullopt);
  if (label) patch.remove(kube::json_pointer({"metadata", "labels", api::kNodeLeaseLabel}));
  if (annotation) patch.remove(kube::json_pointer({"metadata", "annotations", api::kLease}));
  return patch.text();
}

bool is_of(const std::string& value, const std::string& job_uid) {
  const auto parsed = api::parse_lease_value(value);
  return parsed && parsed->job_uid == job_uid;
}

}  // namespace

base::Result<JobActions::Taken> NodeLeases::take(const api::NodeRef& ref, const api::LeaseValue& value,
                                                 const api::ObjectKey& job, std::stop_token stop) {
  JobActions::Taken taken;
  using Patch = std::optional<std::string>;
  const auto plan = [&](const std::shared_ptr<const api::Node>& node, bool live) -> Patch {
    if (node == nullptr || node->metadata.uid != ref.uid) {
      taken = refused("node " + ref.name + " is gone");
      return std::nullopt;
    }
    if (planning::carries_lease(*node, value.to_string())) return std::nullopt;
    const auto holder = planning::lease_taint(*node);
    // The lease in the label holds the node: somebody has put back the taint of an earlier one.
    const bool ours = node->metadata.label(api::kNodeLeaseLabel) == value.to_string();
    if (holder.empty() || ours || is_of(holder, value.job_uid))
      return take_patch(*node, value.to_string(), job.to_string());
    if (!live) return "";
    taken = refused("node " + ref.name + " is held by the lease " + holder);
    return std::nullopt;
  };
  const auto written = writer_.edit(ref.name, plan, stop);
  if (!written) return tl::unexpected<base::Error>(written.error());
  taken.written = *written;
  return taken;
}

base::Result<void> NodeLeases::free(const api::NodeRef& ref, const std::string& job_uid,
                                    std::stop_token stop) {
  using Patch = std::optional<std::string>;
  const auto plan = [&](const std::shared_ptr<const api::Node>& node, bool live) -> Patch {
    if (node == nullptr || node->metadata.uid != ref.uid) return std::nullopt;
    if (is_of(planning::lease_taint(*node), job_uid) ||
        is_of(node->metadata.label(api::kNodeLeaseLabel), job_uid))
      return strip_patch(*node);
    if (live) return std::nullopt;
    return "";  // read the node: the cache may not show marks from before a crash
  };
  const auto written = writer_.edit(ref.name, plan, stop);
  if (!written) return tl::unexpected<base::Error>(written.error());
  return {};
}

base::Result<void> NodeLeases::strip(const api::Node& node, std::stop_token stop) {
  const auto patch = strip_patch(node);
  return patch.empty() ? base::Result<void>() : writer_.write(node.metadata.name, patch, stop);
}

}  // namespace gpupool::controllers
