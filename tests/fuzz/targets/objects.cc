// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/pod_template.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "runtime/cache/watch_event.h"
#include "runtime/leader/election_lease.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;
namespace runtime = gpupool::runtime;

namespace {

template <class T>
void check(std::string_view text, bool valid) {
  const auto object = gpupool::base::json::read<T>(text);
  if (!object) return gpupool::fuzz::require_explained(object.error());
  require(valid, "what is read is JSON");
  // Other white space and another order of the keys are the same object.
  const auto again = gpupool::base::json::read<T>(nlohmann::json::parse(text).dump(1, '\t'));
  require(again.has_value(), "how it is written does not matter");
}

}  // namespace

// Every kind that the operator reads.
void fuzz_objects(std::string_view input) {
  const bool valid = gpupool::fuzz::is_json(input);
  check<api::Node>(input, valid);
  check<api::Pod>(input, valid);
  check<api::PodTemplate>(input, valid);
  check<api::StatefulSet>(input, valid);
  check<api::GpuJob>(input, valid);
  check<api::GpuPool>(input, valid);
  check<api::GpuNode>(input, valid);
  check<runtime::ElectionLease>(input, valid);
  check<api::List<api::Pod>>(input, valid);
  check<api::List<api::GpuNode>>(input, valid);
}
