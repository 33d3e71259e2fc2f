// SPDX-License-Identifier: Apache-2.0
#include "launcher/resolve.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>

#include <array>
#include <cstring>
#include <optional>

namespace gpupool::launcher {
namespace {

// The caller retries, so one question waits for at most this long per server and search domain.
constexpr int kQuerySeconds = 2;

Address ipv4(const in_addr& ip, int port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  in.sin_addr = ip;
  Address address;
  std::memcpy(&address.bytes, &in, sizeof in);
  address.length = sizeof in;
  return address;
}

Address ipv6(const in6_addr& ip, int port) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(static_cast<std::uint16_t>(port));
  in.sin6_addr = ip;
  Address address;
  std::memcpy(&address.bytes, &in, sizeof in);
  address.length = sizeof in;
  return address;
}

// Addresses that need no server.
std::vector<Address> literal(const std::string& host, int port) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return {ipv4(v4, port)};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return {ipv6(v6, port)};
  if (host == "localhost" || host == "localhost.") {
    return {ipv4(in_addr{htonl(INADDR_LOOPBACK)}, port), ipv6(in6addr_loopback, port)};
  }
  return {};
}

// Keeps resolver state for one look-up, so that a changed resolv.conf is seen.
class Resolver {
 public:
  Resolver() : ready_(::res_ninit(&state_) == 0) {
    state_.retrans = kQuerySeconds;
    state_.retry = 1;
  }
  ~Resolver() {
    if (ready_) ::res_nclose(&state_);
  }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  std::vector<Address> query(const std::string& host, int port, ns_type type) {
    std::array<unsigned char, 8192> answer{};
    if (!ready_) return {};
    const int size = ::res_nsearch(&state_, host.c_str(), ns_c_in, type, answer.data(), answer.size());
    if (size < 0) return {};
    ns_msg message{};
    if (::ns_initparse(answer.data(), std::min(size, static_cast<int>(answer.size())), &message) != 0)
      return {};
    return records(message, port, type);
  }

  [[nodiscard]] std::string problem() const {
    switch (state_.res_h_errno) {
      case HOST_NOT_FOUND:
        return "no such name";
      case NO_DATA:
        return "the name has no address";
      case TRY_AGAIN:
        return "no usable answer from the name server";
      default:
        return "the name server refused or failed";
    }
  }

 private:
  static std::vector<Address> records(ns_msg& message, int port, ns_type type) {
    std::vector<Address> found;
    for (int i = 0; i < ns_msg_count(message, ns_s_an); ++i) {
      ns_rr record{};
      if (::ns_parserr(&message, ns_s_an, i, &record) != 0) break;
      if (ns_rr_type(record) != type) continue;  // CNAMEs on the way
      if (type == ns_t_a && ns_rr_rdlen(record) == sizeof(in_addr)) {
        in_addr ip{};
        std::memcpy(&ip, ns_rr_rdata(record), sizeof ip);
        found.push_back(ipv4(ip, port));
      } else if (type == ns_t_aaaa && ns_rr_rdlen(record) == sizeof(in6_addr)) {
        in6_addr ip{};
        std::memcpy(&ip, ns_rr_rdata(record), sizeof ip);
        found.push_back(ipv6(ip, port));
      }
    }
    return found;
  }

  struct __res_state state_{};
  bool ready_;
};

}  // namespace

Expected<std::vector<Address>> resolve(const std::string& host, int port) {
  std::vector<Address> addresses = literal(host, port);
  if (!addresses.empty()) return addresses;
  Resolver resolver;
  addresses = resolver.query(host, port, ns_t_a);
  if (addresses.empty()) addresses = resolver.query(host, port, ns_t_aaaa);
  if (addresses.empty()) return failure(host + ": " + resolver.problem());
  return addresses;
}

}  // namespace gpupool::launcher
