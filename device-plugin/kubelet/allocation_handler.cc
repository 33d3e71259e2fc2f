// SPDX-License-Identifier: Apache-2.0
#include "kubelet/allocation_handler.h"

#include <chrono>
#include <utility>

#include "allocation/allocate.h"
#include "allocation/prefer.h"
#include "kubelet/messages.h"

namespace gpupool::kubelet {

namespace {

base::Result<const slices::Resource*> offered(const slices::Table& table, const std::string& name) {
  const auto* const resource = find_resource(table, name);
  if (resource) return resource;
  return base::fail(base::ErrorCode::kInvalid, "this node does not offer " + name + " at present");
}

template <class Ids>
std::vector<std::string> strings(const Ids& ids) {
  return {ids.begin(), ids.end()};
}

}  // namespace

AllocationHandler::AllocationHandler(const PluginContext& context, std::string resource)
    : context_(context),
      resource_(std::move(resource)),
      seconds_(context.metrics.histogram(
          "gpupool_plugin_allocate_seconds", "Time that the plugin took to answer Allocate.",
          {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}, {{"resource", resource_}})),
      refused_(context.metrics.counter("gpupool_plugin_allocate_refused_total",
                                       "Allocate calls that the plugin refused.",
                                       {{"resource", resource_}})) {}

base::Result<void> AllocationHandler::allocate(const v1beta1::AllocateRequest& request,
                                               v1beta1::AllocateResponse& response) const {
  const auto began = std::chrono::steady_clock::now();
  auto result = [&] {
    const auto pass = context_.gate.enter();
    return grant(request, response);
  }();
  seconds_.observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  if (!result) {
    refused_.increment();
    context_.log.warning("Allocate refused", {{"resource", resource_}, {"error", result.error().message}});
  }
  context_.on_allocated();
  return result;
}

base::Result<void> AllocationHandler::grant(const v1beta1::AllocateRequest& request,
                                            v1beta1::AllocateResponse& response) const {
  const auto table = context_.latest_table.current().table;
  const auto rules = context_.rules.get();
  const auto resource = offered(*table, resource_);
  if (!resource) return tl::unexpected<base::Error>(resource.error());
  for (const auto& container : request.container_requests()) {
    const auto grant = allocation::allocate(**resource, strings(container.devices_ids()), rules->settings,
                                            rules->paths, context_.access);
    if (!grant) return tl::unexpected<base::Error>(grant.error());
    for (const auto& file : grant->files) {
      if (auto written = context_.limits.put(file); !written) return written;
    }
    if (auto done = renew_region(*grant, strings(container.devices_ids())); !done) return done;
    fill(*grant, *response.add_container_responses());
  }
  return {};
}

// A container must not see what another used before it. Without enforcement no file may say that there is
// some.
base::Result<void> AllocationHandler::renew_region(const allocation::Grant& grant,
                                                   const std::vector<std::string>& ids) const {
  if (grant.region) return context_.regions.renew(*grant.region);
  if (!grant.files.empty()) context_.limits.remove(allocation::enforced_limits_name(resource_, ids));
  return {};
}

base::Result<void> AllocationHandler::prefer(const v1beta1::PreferredAllocationRequest& request,
                                             v1beta1::PreferredAllocationResponse& response) const {
  const auto table = context_.latest_table.current().table;
  const auto rules = context_.rules.get();
  const auto resource = offered(*table, resource_);
  if (!resource) return tl::unexpected<base::Error>(resource.error());
  for (const auto& container : request.container_requests()) {
    if (container.allocation_size() < 0) {
      return base::fail(base::ErrorCode::kInvalidArgument, "allocation_size is negative");
    }
    const auto chosen = allocation::prefer(
        **resource, strings(container.available_deviceids()), strings(container.must_include_deviceids()),
        static_cast<std::size_t>(container.allocation_size()), rules->gpus);
    auto& added = *response.add_container_responses();
    for (const auto& id : chosen) added.add_deviceids(id);
  }
  return {};
}

}  // namespace gpupool::kubelet
