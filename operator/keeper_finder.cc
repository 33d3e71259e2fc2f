// SPDX-License-Identifier: Apache-2.0
#include "keeper_finder.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "base/key_folder.h"
#include "base/result.h"

namespace gpupool {
namespace {

constexpr std::chrono::seconds kBetweenLooks{10};

// HOST:PORT as IP:PORT.
base::Result<std::string> look_up(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    return base::fail(base::ErrorCode::kInvalidArgument, address + ": is not HOST:PORT");
  const std::string port = address.substr(colon + 1);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(address.substr(0, colon).c_str(), port.c_str(), &wanted, &found);
      error != 0)
    return base::fail(base::ErrorCode::kIo, address + ": " + ::gai_strerror(error));
  std::array<char, NI_MAXHOST> host{};
  const int error =
      ::getnameinfo(found->ai_addr, found->ai_addrlen, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  const bool v6 = found->ai_family == AF_INET6;
  ::freeaddrinfo(found);
  if (error != 0) return base::fail(base::ErrorCode::kIo, address + ": " + ::gai_strerror(error));
  const std::string ip(host.data());
  return (v6 ? "[" + ip + "]" : ip) + ":" + port;
}

base::Result<planning::KeeperAccess> find(const std::string& address, const std::string& keys) {
  auto ip = look_up(address);
  if (!ip) return tl::unexpected<base::Error>(ip.error());
  const auto known = base::read_keys(keys);
  if (!known) return tl::unexpected<base::Error>(known.error());
  const auto& [id, key] = *known->rbegin();
  return planning::KeeperAccess{std::move(*ip), id, key};
}

}  // namespace

KeeperFinder::KeeperFinder(std::string address, std::string keys, base::Clock& clock, base::Metrics& metrics,
                           const base::Log& log)
    : address_(std::move(address)),
      keys_(std::move(keys)),
      clock_(clock),
      log_(log),
      known_(metrics.gauge("gpupool_keeper_known",
                           "1 if new workers send what they print to the keeper, 0 if its address or key is "
                           "not known.")) {
  look();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

// What was found stays until something else is found.
void KeeperFinder::look() {
  auto found = find(address_, keys_);
  if (found) {
    if (const auto old = found_.get(); *old != *found) found_.set(std::move(*found));
  } else {
    log_.warning("the keeper cannot be found; its last address and key are used, if there were any",
                 {{"error", found.error().message}});
  }
  known_.set(access() ? 1 : 0);
}

void KeeperFinder::run(const std::stop_token& stop) {
  while (clock_.sleep_for(kBetweenLooks, stop)) look();
}

}  // namespace gpupool
