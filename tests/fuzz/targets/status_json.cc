// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/status_json.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;

namespace {

// What is read of an object, written as an update and read again, is what it was.
template <class K>
void check(std::string_view input) {
  const auto object = gpupool::base::json::read<K>(input);
  if (!object) return;
  const auto body = api::status_update(object->metadata, object->status);
  const auto again = gpupool::base::json::read<K>(body);
  require(again.has_value(), "what is written can be read");
  require(again->metadata.resource_version == object->metadata.resource_version, "a write names its version");
  require(api::status_update(object->metadata, again->status) == body, "parse(print(x)) == x");
}

}  // namespace

void fuzz_status_json(std::string_view input) {
  check<api::GpuJob>(input);
  check<api::GpuPool>(input);
}
