#include "controllers/cluster/worker_pods.h"

#include <algorithm>
#include <optional>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "kube/patch.h"

namespace gpupool::controllers {
namespace {

constexpr auto kDoneRemembered = std::chrono::seconds(3);

// Empty if the finalizer is not there.
std::string patch_without_finalizer(const api::Pod& pod) {
  const auto& finalizers = pod.metadata.finalizers;
  const auto found = std::find(finalizers.begin(), finalizers.end(), api::kWorkerFinalizer);
  if (found == finalizers.end()) return {};
  // A pod's version moves with every status of the kubelet; the tests guard just as well against a shifted
  // list, and against a pod that a StatefulSet has made anew under this name.
  const auto pointer =
      kube::json_pointer({"metadata", "finalizers", std::to_string(found - finalizers.begin())});
  return kube::JsonPatch()
      .test("/metadata/uid", base::json::quote(pod.metadata.uid))
      .test(pointer, base::json::quote(api::kWorkerFinalizer))
      .remove(pointer)
      .text();
}

}  // namespace

bool WorkerPods::done_lately(const std::string& what) {
  const std::lock_guard lock(mutex_);
  const auto now = clock_.now();
  std::erase_if(done_, [&](const auto& entry) { return entry.second + kDoneRemembered < now; });
  return done_.contains(what);
}

void WorkerPods::note(const std::string& what) {
  const std::lock_guard lock(mutex_);
  done_[what] = clock_.now();
}

base::Result<void> WorkerPods::remove(const api::Pod& pod, bool quickly, std::stop_token stop) {
  const auto what = "delete/" + pod.metadata.uid;
  if (done_lately(what)) return {};
  kube::DeleteOptions options;
  options.uid = pod.metadata.uid;
  if (quickly) options.grace_period_seconds = 1;
  auto done = client_.remove(api::Pod::kType, pod.metadata.key(), options, stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound &&
      done.error().code != base::ErrorCode::kConflict) {
    return done;
  }
  note(what);
  return {};
}

base::Result<void> WorkerPods::take_finalizer_off(const api::Pod& pod, std::stop_token stop) {
  const auto what = "finalizer/" + pod.metadata.uid;
  if (done_lately(what)) return {};
  auto patch = patch_without_finalizer(pod);
  if (patch.empty()) return {};
  auto done = client_.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kJson, patch, "", stop);
  if (!done && done.error().code == base::ErrorCode::kInvalid) {  // the list has changed since, or the pod
    const auto fresh = kube::get<api::Pod>(client_, pod.metadata.key(), stop);
    if (fresh) patch = fresh->metadata.uid == pod.metadata.uid ? patch_without_finalizer(*fresh) : "";
    if (patch.empty()) return {};
    done = client_.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kJson, patch, "", stop);
  }
  if (!done && done.error().code != base::ErrorCode::kNotFound)
    return tl::unexpected<base::Error>(done.error());
  note(what);
  return {};
}

base::Result<void> WorkerPods::nudge(const api::Pod& pod, std::stop_token stop) {
  const auto what = "nudge/" + pod.metadata.uid;
  if (done_lately(what)) return {};
  const auto patch = "{\"metadata\":{\"uid\":" + base::json::quote(pod.metadata.uid) + ",\"annotations\":{" +
                     base::json::quote(api::kNudged) + ":" +
                     base::json::quote(base::to_rfc3339(clock_.wall())) + "}}}";
  const auto done =
      client_.patch(api::Pod::kType, pod.metadata.key(), kube::PatchType::kMerge, patch, "", stop);
  if (!done && done.error().code != base::ErrorCode::kNotFound &&
      done.error().code != base::ErrorCode::kConflict) {
    return tl::unexpected<base::Error>(done.error());
  }
  note(what);
  return {};
}

}  // namespace gpupool::controllers
