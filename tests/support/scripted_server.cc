// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scripted_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace gpupool::test {

namespace {

std::size_t body_length(const std::string& head) {
  const std::size_t found = head.find("Content-Length: ");
  return found == std::string::npos ? 0 : std::strtoul(head.c_str() + found + 16, nullptr, 10);
}

}  // namespace

std::string Peer::read_request() {
  while (true) {
    const std::size_t head_end = buffer_.find("\r\n\r\n");
    if (head_end != std::string::npos) {
      const std::size_t length = head_end + 4 + body_length(buffer_.substr(0, head_end));
      if (buffer_.size() >= length) {
        std::string request = buffer_.substr(0, length);
        buffer_.erase(0, length);
        return request;
      }
    }
    if (!receive()) return {};
  }
}

std::string Peer::read_exactly(std::size_t count) {
  while (buffer_.size() < count && receive()) {
  }
  std::string bytes = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return bytes;
}

bool Peer::receive() {
  std::array<char, 65536> piece{};
  const auto count = ::recv(fd_, piece.data(), piece.size(), 0);
  if (count > 0) buffer_.append(piece.data(), static_cast<std::size_t>(count));
  return count > 0;
}

bool Peer::write(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Peer::wait_until_client_closes() {
  std::array<char, 256> piece{};
  while (::recv(fd_, piece.data(), piece.size(), 0) > 0) {
  }
}

ScriptedServer::ScriptedServer(std::function<void(Peer&)> script)
    : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, generic, length) != 0 || ::listen(listener_, SOMAXCONN) != 0 ||
      ::getsockname(listener_, generic, &length) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_loop(); });
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  acceptor_.join();
  peers_.clear();
  ::close(listener_);
}

void ScriptedServer::accept_loop() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      ::close(fd);
      return;
    }
    const auto self = open_.insert(open_.end(), fd);
    peers_.emplace_back([this, fd, self, number = ++connections_] {
      Peer peer(fd, number);
      script_(peer);
      const std::lock_guard removing(mutex_);
      open_.erase(self);
      ::close(fd);
    });
  }
}

std::string ok(std::string_view body, std::string_view more_headers) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more_headers) + "\r\n" + std::string(body);
}

}  // namespace gpupool::test
