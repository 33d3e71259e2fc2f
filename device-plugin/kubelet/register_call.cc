// SPDX-License-Identifier: Apache-2.0
#include "kubelet/register_call.h"

#include <chrono>

#include "device_plugin_v1beta1.grpc.pb.h"
#include "kubelet/channel.h"
#include "kubelet/names.h"

namespace gpupool::kubelet {

base::Result<void> register_plugin(const std::string& kubelet_socket, const std::string& endpoint,
                                   const std::string& resource, std::stop_token stop) {
  const auto stub = v1beta1::Registration::NewStub(local_channel(kubelet_socket));
  v1beta1::RegisterRequest request;
  request.set_version(kProtocolVersion);
  request.set_endpoint(endpoint);
  request.set_resource_name(resource);
  // Old kubelets read the options here, newer ones ask with GetDevicePluginOptions.
  request.mutable_options()->set_get_preferred_allocation_available(true);

  v1beta1::Empty response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const std::stop_callback on_stop(stop, [&] { context.TryCancel(); });
  const auto status = stub->Register(&context, request, &response);
  if (status.ok()) return {};
  return tl::unexpected<base::Error>(error_of(status, "Register"));
}

}  // namespace gpupool::kubelet
