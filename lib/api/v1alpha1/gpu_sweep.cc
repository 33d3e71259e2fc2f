// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/gpu_sweep.h"

#include "base/fnv_hash.h"

namespace gpupool::api {
namespace {

void add_range(base::FnvHash& hash, const char* kind, const base::Boxed<SweepRange>& range) {
  if (!range) return;
  hash.add(kind);
  hash.add(range->min);
  hash.add(range->max);
}

}  // namespace

std::string spec_hash(const GpuSweepSpec& spec) {
  base::FnvHash hash;
  if (spec.search.random) {
    hash.add("random");
    hash.add(std::to_string(spec.search.random->trials));
    hash.add(std::to_string(spec.search.random->seed));
  } else {
    hash.add(spec.search.list.empty() ? "grid" : "list");
  }
  for (const auto& parameter : spec.parameters) {
    hash.add("parameter");
    hash.add(parameter.name);
    for (const auto& value : parameter.values) hash.add(value);
    if (parameter.integers) {
      hash.add("integers");
      hash.add(std::to_string(parameter.integers->min));
      hash.add(std::to_string(parameter.integers->max));
    }
    add_range(hash, "uniform", parameter.uniform);
    add_range(hash, "logUniform", parameter.log_uniform);
  }
  if (spec.objective) {
    hash.add("objective");
    hash.add(spec.objective->metric);
    hash.add(spec.objective->goal);
    hash.add(spec.objective->take);
    hash.add(spec.objective->missing);
  }
  if (spec.stopping && spec.stopping->asha) {
    hash.add("asha");
    for (const auto number : {spec.stopping->asha->min, spec.stopping->asha->max, spec.stopping->asha->eta})
      hash.add(std::to_string(number));
  }
  hash.add(spec.keep_jobs);
  hash.add(spec.job.text);
  return hash.text();
}

}  // namespace gpupool::api
