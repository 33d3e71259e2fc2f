// SPDX-License-Identifier: Apache-2.0
#include "launcher/stand_in.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "launcher/log.h"

namespace gpupool::launcher {
namespace {

constexpr int kBacklog = 128;

// IPv4 and IPv6; IPv4 alone where the kernel has no other.
base::UniqueFd listen_on(int port) {
  const int on = 1;
  const int off = 0;
  base::UniqueFd six(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (six.valid()) {
    ::setsockopt(six.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(six.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(port));
    if (::bind(six.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
        ::listen(six.get(), kBacklog) == 0)
      return six;
  }
  base::UniqueFd four(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ::setsockopt(four.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(four.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
      ::listen(four.get(), kBacklog) == 0)
    return four;
  return base::UniqueFd();
}

}  // namespace

void stand_in_for_master(SignalInbox& inbox, int port, Clock::time_point deadline) {
  const base::UniqueFd server = listen_on(port);
  if (!server.valid()) {
    log_line("cannot listen on port " + std::to_string(port) + " in place of the command");
    inbox.wait_for_stop(deadline);
    return;
  }
  while (Clock::now() < deadline) {
    pollfd events[] = {{inbox.fd(), POLLIN, 0}, {server.get(), POLLIN, 0}};
    ::poll(events, 2, milliseconds_until(deadline));
    while (const std::optional<ReceivedSignal> signal = inbox.next()) {
      if (is_stop_signal(signal->number)) return;
    }
    for (;;) {
      const base::UniqueFd caller(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!caller.valid()) break;
    }
  }
}

}  // namespace gpupool::launcher
