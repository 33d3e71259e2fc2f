#include "api/v1alpha1/status_json.h"

#include <nlohmann/json.hpp>

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
using Json = nlohmann::json;
namespace api = gpupool::api;

namespace {

// What is read of an object, written as a patch and read again, is what it was.
template <class K>
void check(std::string_view input) {
  const auto object = gpupool::base::json::read<K>(input);
  if (!object) return;
  const auto patch = api::status_patch(object->metadata.resource_version, object->status);
  const auto again = gpupool::base::json::read<K>(patch);
  require(again.has_value(), "what is written can be read");
  require(again->metadata.resource_version == object->metadata.resource_version, "a write names its version");
  require(api::status_patch(object->metadata.resource_version, again->status) == patch,
          "parse(print(x)) == x");
  // Of an object without a status, the merge patch makes exactly this status.
  Json merged = Json::object();
  merged.merge_patch(Json::parse(patch));
  const auto applied = gpupool::base::json::read<K>(merged.dump());
  require(applied && applied->status == again->status, "the patch makes exactly this status");
}

}  // namespace

void fuzz_status_json(std::string_view input) {
  check<api::GpuJob>(input);
  check<api::GpuPool>(input);
}
