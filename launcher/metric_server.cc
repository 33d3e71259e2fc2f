// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "api/live_metrics_format.h"

namespace gpupool::launcher {
namespace {

namespace live = api::live_metrics;

constexpr int kBacklog = 16;

sockaddr* generic(sockaddr_in6& address) { return reinterpret_cast<sockaddr*>(&address); }
sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

bool listen_at(int socket, sockaddr* address, socklen_t size) {
  constexpr int kOn = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  return ::bind(socket, address, size) == 0 && ::listen(socket, kBacklog) == 0;
}

// For both families; IPv4 alone where the kernel has no IPv6. Invalid, with errno, if the port cannot be had.
base::UniqueFd listening_socket(std::uint16_t port) {
  constexpr int kFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  base::UniqueFd both(::socket(AF_INET6, kFlags, 0));
  if (both.valid()) {
    constexpr int kOff = 0;
    ::setsockopt(both.get(), IPPROTO_IPV6, IPV6_V6ONLY, &kOff, sizeof kOff);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    if (listen_at(both.get(), generic(any), sizeof any)) return both;
    if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) return {};
  }
  base::UniqueFd only(::socket(AF_INET, kFlags, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  if (only.valid() && listen_at(only.get(), generic(any), sizeof any)) return only;
  return {};
}

}  // namespace

Expected<void> MetricServer::open(std::uint16_t port, std::string id) {
  id_ = std::move(id);
  listener_ = listening_socket(port);
  if (listener_.valid()) return {};
  return failure(with_errno("cannot listen on port " + std::to_string(port), errno));
}

void MetricServer::add_to(std::vector<pollfd>& events) const {
  if (listener_.valid()) events.push_back({listener_.get(), POLLIN, 0});
  for (const Peer& peer : peers_) events.push_back({peer.socket.get(), POLLIN, 0});
}

void MetricServer::pump() {
  if (!listener_.valid()) return;
  accept_peers();
  std::erase_if(peers_, [this](Peer& peer) { return serve(peer); });
}

void MetricServer::accept_peers() {
  for (std::size_t i = 0; i < kMaxPeers; ++i) {
    base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) return;
    if (peers_.size() == kMaxPeers) peers_.erase(peers_.begin());
    peers_.push_back({std::move(socket), {}});
  }
}

bool MetricServer::serve(Peer& peer) {
  std::array<char, live::kMaxRequestBytes> block;
  const ssize_t got = ::recv(peer.socket.get(), block.data(), block.size(), 0);
  if (got < 0) return errno != EAGAIN && errno != EINTR;
  if (got == 0) return true;
  peer.request.append(block.data(), static_cast<std::size_t>(got));
  if (!peer.request.ends_with('\n')) return peer.request.size() >= live::kMaxRequestBytes;
  peer.request.pop_back();
  if (peer.request == id_) {
    const std::string text = answer();  // fits into the socket's buffer
    ::send(peer.socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  return true;
}

std::string MetricServer::answer() const {
  std::string text(live::kGreeting);
  for (const std::string& line : metrics_.live_texts()) {
    if (text.size() + line.size() + 1 > live::kMaxAnswerBytes) break;
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace gpupool::launcher
