// SPDX-License-Identifier: Apache-2.0
#include "probes/http_probe.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "kube/config/spawn.h"

namespace gpupool::probes {
namespace {

constexpr int kPatienceSeconds = 2;
constexpr std::string_view kRequest = "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n";

// A server that listens on any address is reached at the loopback address.
bool connect_to(int client, const Listener& listener) {
  const bool any = std::ranges::all_of(listener.address, [](std::uint8_t byte) { return byte == 0; });
  if (listener.v6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(listener.port);
    std::memcpy(&address.sin6_addr, any ? in6addr_loopback.s6_addr : listener.address.data(),
                sizeof address.sin6_addr);
    return ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listener.port);
  std::memcpy(&address.sin_addr, listener.address.data(), sizeof address.sin_addr);
  if (any) address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

int probe_http(const Listener& listener) {
  const base::UniqueFd client(::socket(listener.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (client.get() < 0) return 0;
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // of connect() too
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (!connect_to(client.get(), listener)) return 0;
  if (::send(client.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) return 0;
  std::string head;
  constexpr std::size_t kEnough = 12;  // "HTTP/1.0 200"
  while (head.size() < kEnough) {
    char buffer[kEnough];
    const auto got = ::recv(client.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return 0;
    head.append(buffer, static_cast<std::size_t>(got));
  }
  int status = 0;
  if (head.starts_with("HTTP/1.")) std::from_chars(head.data() + 9, head.data() + kEnough, status);
  return status;
}

}  // namespace gpupool::probes
