#include "controllers/cluster/node_leases.h"

#include "api/v1alpha1/reasons.h"
#include "controllers/cluster/taint_patch.h"
#include "kube/patch.h"
#include "planning/node_gpus.h"

namespace gpupool::controllers {
namespace {

using base::json::quote;
using planning::Problem;
constexpr int kTries = 8;  // each failed one means that somebody else wrote the node meanwhile

NodeLeases::Taken refused(const std::string& text) { return {false, Problem{api::reason::kNodeTaken, text}}; }

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

// Empty if there is nothing of ours.
std::string strip_patch(const api::Node& node) {
  const bool label = node.metadata.labels.contains(api::kNodeLeaseLabel);
  const bool annotation = node.metadata.annotations.contains(api::kLease);
  if (planning::lease_taint(node).empty() && !label && !annotation) return {};
  kube::JsonPatch patch;
  patch.only_if_version(node.metadata.resource_version);
  patch_taint(patch, node.spec.taints, api::kLease, std::nullopt);
  if (label) patch.remove(kube::json_pointer({"metadata", "labels", api::kNodeLeaseLabel}));
  if (annotation) patch.remove(kube::json_pointer({"metadata", "annotations", api::kLease}));
  return patch.text();
}

// A patch whose paths no longer fit is refused as invalid before its version is looked at.
bool is_stale(const base::Error& error) {
  return error.code == base::ErrorCode::kConflict || error.code == base::ErrorCode::kInvalid;
}

bool is_of(const std::string& value, const std::string& job_uid) {
  const auto parsed = api::parse_lease_value(value);
  return parsed && parsed->job_uid == job_uid;
}

}  // namespace

base::Result<std::shared_ptr<const api::Node>> NodeLeases::read(const std::string& name,
                                                                std::stop_token stop) {
  auto node = kube::get<api::Node>(client_, {"", name}, stop);
  if (!node && node.error().code == base::ErrorCode::kNotFound) {
    if (const auto cached = caches_.newest_nodes.get({"", name}))
      caches_.newest_nodes.forget({"", name}, cached->metadata.uid);
  }
  if (!node) return tl::unexpected<base::Error>(node.error());
  return caches_.newest_nodes.remember(*std::move(node));
}

base::Result<void> NodeLeases::write(const api::Node& node, const std::string& patch, std::stop_token stop) {
  auto written = kube::decode<api::Node>(
      client_.patch(api::Node::kType, node.metadata.key(), kube::PatchType::kJson, patch, "", stop));
  if (!written) return tl::unexpected<base::Error>(written.error());
  caches_.newest_nodes.remember(*std::move(written));
  return {};
}

base::Result<NodeLeases::Taken> NodeLeases::take(const api::NodeRef& ref, const api::LeaseValue& value,
                                                 const api::ObjectKey& job, std::stop_token stop) {
  auto node = caches_.newest_nodes.get({"", ref.name});
  bool live = false;
  base::Error conflict;
  for (int tries = 0; tries < kTries; ++tries) {
    if (node == nullptr || node->metadata.uid != ref.uid) return refused("node " + ref.name + " is gone");
    if (planning::carries_lease(*node, value.to_string())) return Taken{};
    const auto holder = planning::lease_taint(*node);
    const bool free = holder.empty() || is_of(holder, value.job_uid);
    if (!free && live) return refused("node " + ref.name + " is held by the lease " + holder);
    if (free) {
      const auto done = write(*node, take_patch(*node, value.to_string(), job.to_string()), stop);
      if (done) return Taken{true};
      if (done.error().code == base::ErrorCode::kNotFound) {
        caches_.newest_nodes.forget({"", ref.name}, ref.uid);
        return refused("node " + ref.name + " is gone");
      }
      if (!is_stale(done.error())) return tl::unexpected<base::Error>(done.error());
      conflict = done.error();
    }
    auto fresh = read(ref.name, stop);
    if (!fresh && fresh.error().code == base::ErrorCode::kNotFound)
      return refused("node " + ref.name + " is gone");
    if (!fresh) return tl::unexpected<base::Error>(fresh.error());
    node = *fresh;
    live = true;
  }
  return tl::unexpected<base::Error>(conflict);
}

base::Result<void> NodeLeases::free(const api::NodeRef& ref, const std::string& job_uid,
                                    std::stop_token stop) {
  auto node = caches_.newest_nodes.get({"", ref.name});
  base::Error conflict;
  bool live = false;
  for (int tries = 0; tries < kTries; ++tries) {
    if (node == nullptr || node->metadata.uid != ref.uid) return {};
    const bool ours = is_of(planning::lease_taint(*node), job_uid) ||
                      is_of(node->metadata.label(api::kNodeLeaseLabel), job_uid);
    if (!ours && live) return {};
    if (ours) {
      auto done = write(*node, strip_patch(*node), stop);
      if (done || done.error().code == base::ErrorCode::kNotFound) return {};
      if (!is_stale(done.error())) return done;
      conflict = done.error();
    }
    auto fresh =
        read(ref.name, stop);  // also where the cache shows nothing of ours: it may be behind a crash
    if (!fresh && fresh.error().code == base::ErrorCode::kNotFound) return {};
    if (!fresh) return tl::unexpected<base::Error>(fresh.error());
    node = *fresh;
    live = true;
  }
  return tl::unexpected<base::Error>(conflict);
}

base::Result<void> NodeLeases::strip(const api::Node& node, std::stop_token stop) {
  const auto patch = strip_patch(node);
  return patch.empty() ? base::Result<void>() : write(node, patch, stop);
}

}  // namespace gpupool::controllers
