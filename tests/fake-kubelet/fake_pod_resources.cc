// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-kubelet/fake_pod_resources.h"

#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pod_resources_v1.grpc.pb.h"

namespace gpupool::test {

class FakePodResources::Service final : public v1::PodResourcesLister::Service {
 public:
  grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                    v1::ListPodResourcesResponse* response) override {
    const std::lock_guard lock(mutex);
    for (const auto& one : held) {
      auto& pod = *response->add_pod_resources();
      pod.set_name(one.pod);
      pod.set_namespace_(one.ns);
      auto& container = *pod.add_containers();
      container.set_name(one.container);
      v1::ContainerDevices* devices = nullptr;
      for (const auto& id : one.ids) {
        if (devices == nullptr || split) {
          devices = container.add_devices();
          devices->set_resource_name(one.resource);
        }
        devices->add_device_ids(id);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status GetAllocatableResources(grpc::ServerContext*, const v1::AllocatableResourcesRequest*,
                                       v1::AllocatableResourcesResponse* response) override {
    const std::lock_guard lock(mutex);
    if (!allocatable) return {grpc::StatusCode::UNIMPLEMENTED, "unknown method GetAllocatableResources"};
    for (const auto& [resource, ids] : *allocatable) {
      auto& devices = *response->add_devices();
      devices.set_resource_name(resource);
      for (const auto& id : ids) devices.add_device_ids(id);
    }
    return grpc::Status::OK;
  }

  std::mutex mutex;
  std::vector<Held> held;
  std::optional<std::map<std::string, std::vector<std::string>>> allocatable;
  bool split = false;
};

struct FakePodResources::Impl {
  Service service;
  std::unique_ptr<grpc::Server> server;
};

FakePodResources::FakePodResources(const std::string& socket) : impl_(std::make_unique<Impl>()) {
  std::filesystem::create_directories(std::filesystem::path(socket).parent_path());
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&impl_->service);
  impl_->server = builder.BuildAndStart();
  if (!impl_->server) throw std::runtime_error("fake pod-resources: cannot listen on " + socket);
}

FakePodResources::~FakePodResources() { impl_->server->Shutdown(std::chrono::system_clock::now()); }

void FakePodResources::hold(std::vector<Held> held) {
  const std::lock_guard lock(impl_->service.mutex);
  impl_->service.held = std::move(held);
}

void FakePodResources::allocatable(std::map<std::string, std::vector<std::string>> ids) {
  const std::lock_guard lock(impl_->service.mutex);
  impl_->service.allocatable = std::move(ids);
}

void FakePodResources::split_entries(bool split) {
  const std::lock_guard lock(impl_->service.mutex);
  impl_->service.split = split;
}

}  // namespace gpupool::test
