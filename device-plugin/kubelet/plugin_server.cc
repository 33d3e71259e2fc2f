// SPDX-License-Identifier: Apache-2.0
#include "kubelet/plugin_server.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/file_identity.h"
#include "kubelet/allocation_handler.h"
#include "kubelet/list_streams.h"
#include "kubelet/plugin_service.h"

namespace gpupool::kubelet {

namespace {

constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;

tl::unexpected<base::Error> failed(const std::string& what, int error) {
  return base::fail(base::ErrorCode::kIo, what + ": " + std::generic_category().message(error));
}

}  // namespace

struct PluginServer::Impl {
  Impl(const PluginContext& context, const std::string& resource, std::string path,
       std::function<void()> on_stream)
      : socket(std::move(path)),
        handler(context, resource),
        streams(context, resource, std::move(on_stream)) {}

  const std::string socket;
  base::FileIdentity identity;  // of the socket
  const AllocationHandler handler;
  ListStreams streams;
  std::unique_ptr<PluginService> service;
};

PluginServer::PluginServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

base::Result<std::unique_ptr<PluginServer>> PluginServer::start(const PluginContext& context,
                                                                const std::string& resource,
                                                                const std::string& socket,
                                                                std::function<void()> on_stream) {
  // gRPC removes the path that it was told to listen on when it ends, even if the file there is another
  // server's by then. So it listens on a path of its own, and the socket is renamed once it serves.
  const auto unfinished = socket + ".new";
  if (unfinished.size() > kMaxPath) return failed(unfinished, ENAMETOOLONG);
  if (base::identify(socket).exists() && !base::is_socket(socket))
    return failed(socket + " is no socket", EEXIST);

  auto impl = std::make_unique<Impl>(context, resource, socket, std::move(on_stream));
  auto service = PluginService::start(impl->handler, impl->streams, unfinished);
  if (!service) return tl::unexpected<base::Error>(service.error());
  impl->service = std::move(*service);
  // Read before the rename: afterwards somebody may have removed the socket already, and that must be
  // noticed.
  impl->identity = base::identify(unfinished);
  if (::chmod(unfinished.c_str(), 0600) != 0 || ::rename(unfinished.c_str(), socket.c_str()) != 0) {
    return failed("cannot put in place " + socket, errno);
  }
  return std::unique_ptr<PluginServer>(new PluginServer(std::move(impl)));
}

PluginServer::~PluginServer() {
  // Nobody replaces the socket between the check and the removal: for that one must hold the resource's lock.
  if (in_place()) ::unlink(impl_->socket.c_str());
  impl_->streams.close();
  impl_->service.reset();
}

bool PluginServer::in_place() const { return base::identify(impl_->socket) == impl_->identity; }

PluginServer::Streams PluginServer::streams() const {
  const auto count = impl_->streams.count();
  return {count.opened, count.open};
}

}  // namespace gpupool::kubelet
