// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod_resources.h"

#include <chrono>
#include <utility>

#include "kubelet/channel.h"
#include "pod_resources_v1.grpc.pb.h"

namespace gpupool::kubelet {

namespace {

constexpr auto kLimit = std::chrono::seconds(5);

// Calls `method` within the limit, cancelled by `stop`.
template <class Request, class Response, class Method>
grpc::Status call(const Request& request, Response& response, const std::stop_token& stop,
                  const Method& method) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLimit);
  const std::stop_callback on_stop(stop, [&] { context.TryCancel(); });
  return method(context, request, response);
}

// Newer kubelets list the devices of a container one by one, for their topology.
void add(std::vector<Holding>& holdings, Holding holding) {
  if (!holdings.empty()) {
    auto& last = holdings.back();
    if (last.ns == holding.ns && last.pod == holding.pod && last.container == holding.container &&
        last.resource == holding.resource) {
      last.ids.insert(last.ids.end(), holding.ids.begin(), holding.ids.end());
      return;
    }
  }
  holdings.push_back(std::move(holding));
}

}  // namespace

struct PodResources::Connection {
  explicit Connection(const std::string& socket)
      : stub(v1::PodResourcesLister::NewStub(local_channel(socket))) {}
  std::unique_ptr<v1::PodResourcesLister::Stub> stub;
};

PodResources::PodResources(std::string socket)
    : socket_(std::move(socket)), connection_(std::make_unique<Connection>(socket_)) {}
PodResources::~PodResources() = default;

base::Result<std::vector<Holding>> PodResources::list(std::stop_token stop) {
  v1::ListPodResourcesResponse response;
  const auto status =
      call(v1::ListPodResourcesRequest(), response, stop,
           [&](auto& context, auto& in, auto& out) { return connection_->stub->List(&context, in, &out); });
  if (!status.ok()) return tl::unexpected<base::Error>(error_of(status, "podresources List on " + socket_));
  std::vector<Holding> holdings;
  for (const auto& pod : response.pod_resources()) {
    for (const auto& container : pod.containers()) {
      for (const auto& devices : container.devices()) {
        add(holdings, {pod.namespace_(),
                       pod.name(),
                       container.name(),
                       devices.resource_name(),
                       {devices.device_ids().begin(), devices.device_ids().end()}});
      }
    }
  }
  return holdings;
}

base::Result<std::vector<std::string>> PodResources::allocatable(const std::string& resource,
                                                                 std::stop_token stop) {
  v1::AllocatableResourcesResponse response;
  const auto status =
      call(v1::AllocatableResourcesRequest(), response, stop, [&](auto& context, auto& in, auto& out) {
        return connection_->stub->GetAllocatableResources(&context, in, &out);
      });
  if (!status.ok()) {
    return tl::unexpected<base::Error>(
        error_of(status, "podresources GetAllocatableResources on " + socket_));
  }
  std::vector<std::string> ids;
  for (const auto& devices : response.devices()) {
    if (devices.resource_name() != resource) continue;
    ids.insert(ids.end(), devices.device_ids().begin(), devices.device_ids().end());
  }
  return ids;
}

}  // namespace gpupool::kubelet
