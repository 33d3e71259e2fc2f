#include "kubelet/plugin_server.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "device_plugin_v1beta1.grpc.pb.h"
#include "kubelet/answers.h"
#include "kubelet/file_identity.h"
#include "kubelet/list_streams.h"

namespace gpupool::kubelet {

namespace {

constexpr auto kShutdownGrace = std::chrono::seconds(1);
constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;

grpc::Status status_of(const base::Result<void>& result) {
  if (result) return grpc::Status::OK;
  const auto code = result.error().code == base::ErrorCode::kInvalidArgument
                        ? grpc::StatusCode::INVALID_ARGUMENT
                    : result.error().code == base::ErrorCode::kInvalid ? grpc::StatusCode::FAILED_PRECONDITION
                                                                       : grpc::StatusCode::INTERNAL;
  return {code, result.error().message};
}

// All calls are answered on gRPC's own threads: none of them waits for anything.
class Service final : public v1beta1::DevicePlugin::CallbackService {
 public:
  Service(const Offering& offering, const std::string& resource, std::function<void()> on_stream)
      : answers_(offering, resource), streams_(offering, resource, std::move(on_stream)) {}

  grpc::ServerUnaryReactor* GetDevicePluginOptions(grpc::CallbackServerContext* context,
                                                   const v1beta1::Empty*,
                                                   v1beta1::DevicePluginOptions* response) override {
    response->set_get_preferred_allocation_available(true);  // as in Register
    return finish(context, {});
  }
  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListAndWatch(grpc::CallbackServerContext*,
                                                                        const v1beta1::Empty*) override {
    return streams_.open();
  }
  grpc::ServerUnaryReactor* GetPreferredAllocation(grpc::CallbackServerContext* context,
                                                   const v1beta1::PreferredAllocationRequest* request,
                                                   v1beta1::PreferredAllocationResponse* response) override {
    return finish(context, answers_.prefer(*request, *response));
  }
  grpc::ServerUnaryReactor* Allocate(grpc::CallbackServerContext* context,
                                     const v1beta1::AllocateRequest* request,
                                     v1beta1::AllocateResponse* response) override {
    return finish(context, answers_.allocate(*request, *response));
  }
  grpc::ServerUnaryReactor* PreStartContainer(grpc::CallbackServerContext* context,
                                              const v1beta1::PreStartContainerRequest*,
                                              v1beta1::PreStartContainerResponse*) override {
    return finish(context, {});  // nothing to prepare: it is not asked for in the options
  }

  ListStreams& streams() { return streams_; }

 private:
  static grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context,
                                          const base::Result<void>& result) {
    auto* const reactor = context->DefaultReactor();
    reactor->Finish(status_of(result));
    return reactor;
  }

  const Answers answers_;
  ListStreams streams_;
};

tl::unexpected<base::Error> failed(const std::string& what, int error) {
  return base::fail(base::ErrorCode::kIo, what + ": " + std::generic_category().message(error));
}

}  // namespace

struct PluginServer::Impl {
  Impl(const Offering& offering, const std::string& resource, std::string path,
       std::function<void()> on_stream)
      : socket(std::move(path)), service(offering, resource, std::move(on_stream)) {}

  const std::string socket;
  FileIdentity identity;  // of the socket when it was put in place
  Service service;
  std::unique_ptr<grpc::Server> server;
};

PluginServer::PluginServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

base::Result<std::unique_ptr<PluginServer>> PluginServer::start(const Offering& offering,
                                                                const std::string& resource,
                                                                const std::string& socket,
                                                                std::function<void()> on_stream) {
  // gRPC unlinks what it was told to listen on whenever it ends, whoever owns it by then. So it gets another
  // name, which becomes the right one only when it serves.
  const auto unfinished = socket + ".new";
  if (unfinished.size() > kMaxPath) return failed(unfinished, ENAMETOOLONG);
  if (identify(socket).exists() && !is_socket(socket)) return failed(socket + " is no socket", EEXIST);

  auto impl = std::make_unique<Impl>(offering, resource, socket, std::move(on_stream));
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + unfinished, grpc::InsecureServerCredentials());
  builder.RegisterService(&impl->service);
  impl->server = builder.BuildAndStart();
  if (!impl->server) return failed("cannot listen on " + unfinished, errno);
  if (::chmod(unfinished.c_str(), 0600) != 0 || ::rename(unfinished.c_str(), socket.c_str()) != 0) {
    return failed("cannot put in place " + socket, errno);
  }
  impl->identity = identify(socket);
  return std::unique_ptr<PluginServer>(new PluginServer(std::move(impl)));
}

PluginServer::~PluginServer() {
  // Between this look and the removal only a process that breaks the lock could come.
  if (in_place()) ::unlink(impl_->socket.c_str());
  impl_->service.streams().close();
  impl_->server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  impl_->server->Wait();
}

bool PluginServer::in_place() const {
  const auto now = identify(impl_->socket);
  return now.device == impl_->identity.device && now.inode == impl_->identity.inode;
}

PluginServer::Streams PluginServer::streams() const {
  const auto count = impl_->service.streams().count();
  return {count.opened, count.open};
}

}  // namespace gpupool::kubelet
