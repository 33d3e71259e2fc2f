// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/worker_pods.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "kube/patch.h"

namespace gpupool::controllers {
namespace {

// Returns an empty text if the pod does not have the finalizer. A pod that nobody deletes stays for its logs,
// and without the label it leaves the cache, which would grow with what has ended.
std::string patch_without_finalizer(const api::Pod& pod) {
  const auto& finalizers = pod.metadata.finalizers;
  const auto found = std::find(finalizers.begin(), finalizers.end(), api::kWorkerFinalizer);
  if (found == finalizers.end()) return {};
  // A pod's version changes with every status of its kubelet. So the patch tests the finalizer at its index
  // and the UID: this also detects a changed list, and a new pod with this name.
  const auto pointer =
      kube::json_pointer({"metadata", "finalizers", std::to_string(found - finalizers.begin())});
  kube::JsonPatch patch;
  patch.test("/metadata/uid", base::json::quote(pod.metadata.uid))
      .test(pointer, base::json::quote(api::kWorkerFinalizer))
      .remove(pointer);
  if (!pod.metadata.deleting() && pod.metadata.labels.contains(api::kJobUidLabel))
    patch.remove(kube::json_pointer({"metadata", "labels", api::kJobUidLabel}));
  return patch.text();
}

// A failed precondition means that the pod with this name has another UID: no error.
base::Result<void> unless_another(base::Result<void> done) {
  if (!done && done.error().code == base::ErrorCode::kConflict) return {};
  return done;
}

}  // namespace

base::Result<void> WorkerPods::keep(const api::Pod& pod, const base::Result<std::string>& answer) {
  if (!answer) {
    // Only the watch may show that a worker is gone, because then its node is given back.
    if (answer.error().code == base::ErrorCode::kNotFound) return {};
    return tl::unexpected<base::Error>(answer.error());
  }
  // The answer may be a Status, which says nothing about the pod.
  auto now = base::json::read<api::Pod>(*answer);
  if (now && now->metadata.uid == pod.metadata.uid) caches_.newest_pods.answered(*std::move(now));
  return {};
}

base::Result<void> WorkerPods::remove(const api::Pod& pod, bool quickly, std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = pod.metadata.uid;
  if (quickly) options.grace_period_seconds = 1;
  return unless_another(keep(pod, client_.remove(api::Pod::kType, pod.metadata.key(), options, stop)));
}

base::Result<void> WorkerPods::take_finalizer_off(const api::Pod& pod, std::stop_token stop) {
  auto patch = patch_without_finalizer(pod);
  if (patch.empty()) return {};
  auto done = client_.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kJson, patch, "", stop);
  if (!done &&
      done.error().code == base::ErrorCode::kInvalid) {  // the list of finalizers or the pod has changed
    const auto fresh = kube::get<api::Pod>(client_, pod.metadata.key(), stop);
    if (fresh) patch = fresh->metadata.uid == pod.metadata.uid ? patch_without_finalizer(*fresh) : "";
    if (patch.empty()) return {};
    done = client_.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kJson, patch, "", stop);
  }
  return keep(pod, done);
}

base::Result<planning::MountTrouble> WorkerPods::read_mount_trouble(const api::Pod& pod,
                                                                    std::stop_token stop) {
  kube::ListOptions options;
  options.field_selector =
      "involvedObject.uid=" + pod.metadata.uid + ",reason=" + std::string(planning::kFailedMount);
  const auto events = kube::list<api::PodEvent>(client_, pod.metadata.ns, options, stop);
  if (!events) return tl::unexpected<base::Error>(events.error());
  return planning::mount_trouble(*events);
}

base::Result<void> WorkerPods::nudge(const api::Pod& pod, std::stop_token stop) {
  const auto patch = "{\"metadata\":{\"uid\":" + base::json::quote(pod.metadata.uid) + ",\"annotations\":{" +
                     base::json::quote(api::kNudged) + ":" +
                     base::json::quote(base::to_rfc3339(clock_.wall())) + "}}}";
  return unless_another(keep(
      pod, client_.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kMerge, patch, "", stop)));
}

}  // namespace gpupool::controllers
