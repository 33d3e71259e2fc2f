// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/job_watch.h"

#include <utility>

#include "api/v1alpha1/names.h"

namespace gpupool::logs {
namespace {

std::string of_job(const std::string& name) { return std::string(api::kJobNameLabel) + "=" + name; }

}  // namespace

base::Result<Picture> take_picture(kube::Client& client, const api::ObjectKey& job,
                                   const std::stop_token& stop) {
  auto found = kube::get<api::GpuJob>(client, job, stop);
  if (!found) return tl::unexpected<base::Error>(found.error());
  auto pods = kube::list<WorkerPod>(client, job.ns, {.label_selector = of_job(job.name)}, stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  Picture picture{.job = std::move(*found)};
  for (auto& pod : *pods) picture.pods.push_back(std::make_shared<const WorkerPod>(std::move(pod)));
  return picture;
}

JobWatch::JobWatch(kube::Client& client, base::Clock& clock, api::GpuJob job,
                   std::function<void(Picture)> on_change)
    : picture_{.job = std::move(job)},
      on_change_(std::move(on_change)),
      jobs_(client,
            {.ns = picture_.job.metadata.ns, .field_selector = "metadata.name=" + picture_.job.metadata.name},
            clock, metrics_, log_),
      pods_(client, {.ns = picture_.job.metadata.ns, .label_selector = of_job(picture_.job.metadata.name)},
            clock, metrics_, log_) {
  jobs_.on_list([this] { look_at_job(); });
  jobs_.on_change([this](const auto&) { look_at_job(); });
  pods_.on_list([this] { look_at_pods(); });
  pods_.on_change([this](const auto&) { look_at_pods(); });
  job_thread_ = std::jthread([this](const std::stop_token& stop) { jobs_.reflector().run(stop); });
  pod_thread_ = std::jthread([this](const std::stop_token& stop) { pods_.reflector().run(stop); });
}

void JobWatch::look_at_job() {
  const base::MutexLock lock(mutex_);
  const auto job = jobs_.store().get(picture_.job.metadata.key());
  // Another job of that name is another job.
  picture_.job_gone = !job || job->metadata.uid != picture_.job.metadata.uid;
  if (!picture_.job_gone) picture_.job = *job;
  on_change_(picture_);
}

void JobWatch::look_at_pods() {
  const base::MutexLock lock(mutex_);
  picture_.pods = pods_.store().list();
  on_change_(picture_);
}

}  // namespace gpupool::logs
