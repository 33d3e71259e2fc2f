// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/watch_line.h"

#include <nlohmann/json.hpp>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "runtime/cache/watch_event.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
using Json = nlohmann::json;
namespace api = gpupool::api;
namespace runtime = gpupool::runtime;

namespace {

template <class K>
void check_object(std::string_view line, const Json& document, const std::string& version) {
  const auto event = gpupool::base::json::read<runtime::WatchEvent<K>>(line);
  if (!event) return gpupool::fuzz::require_explained(event.error());
  require(document.is_object(), "an event is an object");
  require(event->object.metadata.resource_version == version, "all readers see one version");
}

}  // namespace

void fuzz_watch_line(std::string_view input) {
  std::string storage;
  const auto type = runtime::event_type(input, storage);
  const auto version = runtime::event_version(input);
  gpupool::fuzz::require_explained(runtime::event_error(input).message.empty()
                                       ? gpupool::base::Error{.message = "a Status may have no message"}
                                       : runtime::event_error(input));
  const auto document = Json::parse(input.begin(), input.end(), nullptr, false);
  if (!type) gpupool::fuzz::require_explained(type.error());
  if (document.is_discarded()) return require(!version, "what is no JSON has no version");
  if (!version) return;
  if (type) require(!type->empty() || input.starts_with(R"({"type":"")"), "an event has a type");
  check_object<api::Node>(input, document, *version);
  check_object<api::Pod>(input, document, *version);
  check_object<api::GpuJob>(input, document, *version);
  check_object<runtime::Named>(input, document, *version);
}
