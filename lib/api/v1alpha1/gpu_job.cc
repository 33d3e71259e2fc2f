// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/gpu_job.h"

#include <algorithm>

#include "base/fnv_hash.h"

namespace gpupool::api {

std::int64_t worker_count(const GpuJobSpec& spec) {
  return std::max<std::int64_t>(1, spec.gpus / std::max<std::int64_t>(1, spec.gpus_per_worker));
}

std::int64_t gpus_of_each_worker(const GpuJobSpec& spec) {
  return std::min(spec.gpus, std::max<std::int64_t>(1, spec.gpus_per_worker));
}

bool waits_for_rank_0(const GpuJobSpec& spec) {
  return worker_count(spec) > 1 && spec.rendezvous != rendezvous::kNone;
}

std::string spec_hash(const GpuJobSpec& spec) {
  base::FnvHash hash;
  const auto mix = [&](std::string_view text) { hash.add(text); };
  mix(spec.pool);
  mix(std::to_string(spec.gpus));
  mix(std::to_string(spec.gpus_per_worker));
  for (const auto& node : spec.nodes) mix(node);
  mix("");
  mix(spec.pod_template.text);
  if (spec.slice) {
    mix(spec.slice->memory);
    mix(std::to_string(spec.slice->cores.value_or(0)));
    mix(std::to_string(spec.slice->count.value_or(0)));
  }
  if (spec.rendezvous == rendezvous::kNone) mix(rendezvous::kNone);
  // Names keep the two apart: each may be there alone.
  if (spec.source) {
    mix("source");
    mix(spec.source->text);
  }
  if (spec.results) {
    mix("results");
    mix(spec.results->text);
  }
  if (spec.checkpoint) {
    mix("checkpoint");
    mix(spec.checkpoint->directory());
    mix(spec.checkpoint->claim_name);
    mix(spec.checkpoint->notice == checkpoint_notice::kFile ? checkpoint_notice::kFile
                                                            : checkpoint_notice::kSignal);
    mix(std::to_string(spec.checkpoint->grace_seconds.value_or(0)));
  }
  return hash.text();
}

}  // namespace gpupool::api
