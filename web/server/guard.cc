// SPDX-License-Identifier: Apache-2.0
#include "server/guard.h"

#include <algorithm>

#include "net/json_answer.h"

namespace gpupool::web {
namespace {

std::string lower(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return lowered;
}

// "[::1]:80" -> "[::1]", "name:80" -> "name"
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool in_brackets = colon != std::string_view::npos && host.find(']', colon) != std::string_view::npos;
  return in_brackets ? host : host.substr(0, colon);
}

}  // namespace

std::optional<net::ServerResponse> refused(const net::ServerRequest& request,
                                           const std::vector<std::string>& hosts) {
  if (std::ranges::find(hosts, lower(without_port(request.header("Host")))) == hosts.end())
    return net::error_answer(421, "this name is not served here");
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "none" && site != "same-origin" && request.path.starts_with("/api/"))
    return net::error_answer(403, "another site may not ask this server");
  return std::nullopt;
}

std::vector<net::Header> protecting_headers() {
  return {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Frame-Options", "DENY"},
      {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"}};
}

}  // namespace gpupool::web
