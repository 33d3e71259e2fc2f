// SPDX-License-Identifier: Apache-2.0
#include "ingest/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
constexpr std::size_t kKeptCapacity = 8192;

}  // namespace

bool Connection::read() {
  thread_local std::array<char, kReadBytes> block;
  in_.erase(0, used_);
  used_ = 0;
  if (in_.empty() && in_.capacity() > kKeptCapacity) std::string().swap(in_);
  const ssize_t got = ::recv(socket_.get(), block.data(), block.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (got == 0) return false;
  in_.append(block.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<Received> Connection::next(std::size_t longest) {
  const std::string_view rest = std::string_view(in_).substr(used_);
  if (rest.size() < push::kHeaderBytes) return std::nullopt;
  const auto length = push::get<std::uint32_t>(rest.substr(1));
  if (length > longest) {
    too_long_ = true;
    return std::nullopt;
  }
  if (rest.size() - push::kHeaderBytes < length) return std::nullopt;
  used_ += push::kHeaderBytes + length;
  return Received{static_cast<push::Message>(rest[0]), rest.substr(push::kHeaderBytes, length)};
}

void Connection::send(push::Message type, std::string_view payload) {
  push::put_message(out_, type, payload);
}

bool Connection::flush() {
  while (!out_.empty()) {
    const ssize_t done = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (done < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    out_.erase(0, static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace gpupool::keeper
