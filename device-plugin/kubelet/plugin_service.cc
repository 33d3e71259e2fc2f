// SPDX-License-Identifier: Apache-2.0
#include "kubelet/plugin_service.h"

#include <grpcpp/grpcpp.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "device_plugin_v1beta1.grpc.pb.h"

namespace gpupool::kubelet {

namespace {

constexpr auto kShutdownGrace = std::chrono::seconds(1);

grpc::Status status_of(const base::Result<void>& result) {
  if (result) return grpc::Status::OK;
  const auto code = result.error().code == base::ErrorCode::kInvalidArgument
                        ? grpc::StatusCode::INVALID_ARGUMENT
                    : result.error().code == base::ErrorCode::kInvalid ? grpc::StatusCode::FAILED_PRECONDITION
                                                                       : grpc::StatusCode::INTERNAL;
  return {code, result.error().message};
}

// gRPC calls the On...() from its own threads, OnDone() last.
class Reactor final : public grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>, public ListWriter {
 public:
  explicit Reactor(ListStreams& streams) : streams_(streams), stream_(streams.open(*this)) {}

  void write(const v1beta1::ListAndWatchResponse& list) override { StartWrite(&list); }
  void finish() override { Finish({grpc::StatusCode::UNAVAILABLE, "the plugin stops"}); }

  void OnWriteDone(bool ok) override { stream_->written(ok); }
  void OnCancel() override { stream_->cancelled(); }
  void OnDone() override {
    streams_.ended(*stream_);
    delete this;
  }

 private:
  ListStreams& streams_;
  const std::shared_ptr<ListStream> stream_;
};

// All calls are answered on gRPC's own threads: none of them waits for anything.
class Service final : public v1beta1::DevicePlugin::CallbackService {
 public:
  Service(const AllocationHandler& handler, ListStreams& streams) : handler_(handler), streams_(streams) {}

  grpc::ServerUnaryReactor* GetDevicePluginOptions(grpc::CallbackServerContext* context,
                                                   const v1beta1::Empty*,
                                                   v1beta1::DevicePluginOptions* response) override {
    response->set_get_preferred_allocation_available(true);  // as in Register
    return finish(context, {});
  }
  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListAndWatch(grpc::CallbackServerContext*,
                                                                        const v1beta1::Empty*) override {
    return new Reactor(streams_);  // deletes itself
  }
  grpc::ServerUnaryReactor* GetPreferredAllocation(grpc::CallbackServerContext* context,
                                                   const v1beta1::PreferredAllocationRequest* request,
                                                   v1beta1::PreferredAllocationResponse* response) override {
    return finish(context, handler_.prefer(*request, *response));
  }
  grpc::ServerUnaryReactor* Allocate(grpc::CallbackServerContext* context,
                                     const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* response) override {
    return finish(context, handler_.allocate(*request, *response));
  }
  grpc::ServerUnaryReactor* PreStartContainer(grpc::CallbackServerContext* context,
                                              const v1beta1::PreStartContainerRequest*,
                                              v1beta1::PreStartContainerResponse*) override {
    return finish(context, {});  // nothing to prepare: it is not asked for in the options
  }

 private:
  static grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context,
                                          const base::Result<void>& result) {
    auto* const reactor = context->DefaultReactor();
    reactor->Finish(status_of(result));
    return reactor;
  }

  const AllocationHandler& handler_;
  ListStreams& streams_;
};

}  // namespace

struct PluginService::Impl {
  Impl(const AllocationHandler& handler, ListStreams& streams) : service(handler, streams) {}
  Service service;
  std::unique_ptr<grpc::Server> server;
};

PluginService::PluginService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

base::Result<std::unique_ptr<PluginService>> PluginService::start(const AllocationHandler& handler,
                                                                  ListStreams& streams,
                                                                  const std::string& socket) {
  auto impl = std::make_unique<Impl>(handler, streams);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (impl->server) return std::unique_ptr<PluginService>(new PluginService(std::move(impl)));
  return base::fail(base::ErrorCode::kIo,
                    "cannot listen on " + socket + ": " + std::generic_category().message(errno));
}

PluginService::~PluginService() {
  impl_->server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  impl_->server->Wait();
}

}  // namespace gpupool::kubelet
