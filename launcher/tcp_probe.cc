// SPDX-License-Identifier: Apache-2.0
#include "launcher/tcp_probe.h"

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace gpupool::launcher {
namespace {

// A connect() to a free port of this machine's ephemeral range may meet itself (TCP simultaneous open).
bool connected_to_itself(int fd) {
  sockaddr_storage local{};
  sockaddr_storage peer{};
  socklen_t local_length = sizeof local;
  socklen_t peer_length = sizeof peer;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_length) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_length) == 0 &&
         local_length == peer_length && std::memcmp(&local, &peer, local_length) == 0;
}

int finish_connect(int fd, int timeout_ms) {
  pollfd writable{fd, POLLOUT, 0};
  const int ready = ::poll(&writable, 1, timeout_ms);
  if (ready == 0) return ETIMEDOUT;
  if (ready < 0) return errno;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

}  // namespace

Expected<void> probe_tcp(const Address& address, int timeout_ms) {
  const base::UniqueFd fd(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return failure(::strerrordesc_np(errno));
  int error = 0;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.length) != 0) {
    error = errno == EINPROGRESS ? finish_connect(fd.get(), timeout_ms) : errno;
  }
  if (error == 0 && connected_to_itself(fd.get())) error = ECONNREFUSED;
  if (error != 0) return failure(::strerrordesc_np(error));
  ::shutdown(fd.get(), SHUT_WR);
  return {};
}

}  // namespace gpupool::launcher
