// SPDX-License-Identifier: Apache-2.0
#include "net/listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace gpupool::net {
namespace {

constexpr int kBacklog = 1024;  // the kernel takes less where net.core.somaxconn says so

struct HostAndPort {
  std::string host;  // empty: all addresses
  std::string port;
};

base::Result<HostAndPort> host_and_port(const std::string& bind) {
  const auto bad = [&](const char* why) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "'" + bind + "' is not HOST:PORT or :PORT: " + std::string(why));
  };
  const std::size_t colon = bind.rfind(':');
  if (colon == std::string::npos) return bad("no ':'");
  std::string host = bind.substr(0, colon);
  const std::string port = bind.substr(colon + 1);
  const bool number =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || std::stoi(port) > 65535) return bad("the port is not a number from 0 to 65535");
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (host.find(':') != std::string::npos && !in_brackets) return bad("an IPv6 address needs brackets");
  if (host.find_first_of(", +") != std::string::npos) return bad("the host holds a comma, a space or a plus");
  if (in_brackets) host = host.substr(1, host.size() - 2);
  return HostAndPort{std::move(host), port};
}

// A socket that listens at one address, or errno.
tl::expected<base::UniqueFd, int> listen_at(const addrinfo& address) {
  base::UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return tl::unexpected(errno);
  const int yes = 1;
  const int no = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  // The address :: is for IPv4, too.
  if (address.ai_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0)
    return tl::unexpected(errno);
  return fd;
}

}  // namespace

base::Result<base::UniqueFd> listen_on(const std::string& bind) {
  const auto where = host_and_port(bind);
  if (!where) return tl::unexpected<base::Error>(where.error());
  const auto cannot = [&](const std::string& why) {
    return base::fail(base::ErrorCode::kIo, "cannot listen on '" + bind + "': " + why);
  };
  // A kernel may lack IPv6.
  const std::vector<std::string> hosts =
      where->host.empty() ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{where->host};
  std::string why;
  for (const std::string& host : hosts) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), where->port.c_str(), &hints, &found); error != 0) {
      why = ::gai_strerror(error);
      continue;
    }
    auto fd = listen_at(*found);
    ::freeaddrinfo(found);
    if (fd) return std::move(*fd);
    why = std::generic_category().message(fd.error());
  }
  return cannot(why);
}

int port_of(const base::UniqueFd& socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

}  // namespace gpupool::net
