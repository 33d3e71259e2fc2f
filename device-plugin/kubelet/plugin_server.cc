#include "kubelet/plugin_server.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "kubelet/answers.h"
#include "kubelet/file_identity.h"
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
  Impl(const Offering& offering, const std::string& resource, std::string path,
       std::function<void()> on_stream)
      : socket(std::move(path)),
        answers(offering, resource),
        streams(offering, resource, std::move(on_stream)) {}

  const std::string socket;
  FileIdentity identity;  // of the socket
  const Answers answers;
  ListStreams streams;
  std::unique_ptr<PluginService> service;
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
  auto service = PluginService::start(impl->answers, impl->streams, unfinished);
  if (!service) return tl::unexpected<base::Error>(service.error());
  impl->service = std::move(*service);
  // Looked at before it can be removed by others: afterwards nothing might be there, and stay there.
  impl->identity = identify(unfinished);
  if (::chmod(unfinished.c_str(), 0600) != 0 || ::rename(unfinished.c_str(), socket.c_str()) != 0) {
    return failed("cannot put in place " + socket, errno);
  }
  return std::unique_ptr<PluginServer>(new PluginServer(std::move(impl)));
}

PluginServer::~PluginServer() {
  // Between this look and the removal only a process that breaks the lock could come.
  if (in_place()) ::unlink(impl_->socket.c_str());
  impl_->streams.close();
  impl_->service.reset();
}

bool PluginServer::in_place() const { return identify(impl_->socket) == impl_->identity; }

PluginServer::Streams PluginServer::streams() const {
  const auto count = impl_->streams.count();
  return {count.opened, count.open};
}

}  // namespace gpupool::kubelet
