// SPDX-License-Identifier: Apache-2.0
#include "net/base_url.h"

#include <algorithm>
#include <string_view>

namespace gpupool::net {

base::Result<BaseUrl> parse_base_url(const std::string& url) {
  const auto bad = [&](const char* why) {
    return base::fail(base::ErrorCode::kInvalidArgument, "server URL '" + url + "' " + why);
  };
  BaseUrl parts;
  std::string_view rest(url);
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!rest.starts_with(scheme)) continue;
    parts.scheme = scheme.substr(0, scheme.size() - 3);
    rest.remove_prefix(scheme.size());
    break;
  }
  if (parts.scheme.empty()) return bad("does not begin with https:// or http://");
  if (rest.find_first_of("?#@ ") != std::string_view::npos) return bad("holds more than host, port and path");

  const std::size_t path = std::min(rest.find('/'), rest.size());
  parts.authority = rest.substr(0, path);
  parts.prefix = rest.substr(path);
  while (parts.prefix.ends_with('/')) parts.prefix.pop_back();
  const std::size_t host_end = parts.authority.starts_with('[') ? parts.authority.find(']') : 0;
  if (host_end == std::string::npos) return bad("has a host with an open bracket");
  const std::size_t colon = parts.authority.find(':', host_end);
  parts.host = parts.authority.substr(0, colon);
  parts.port = parts.scheme == "https" ? "443" : "80";
  if (colon != std::string::npos) {
    parts.port = parts.authority.substr(colon + 1);
    if (parts.port.empty() || parts.port.find_first_not_of("0123456789") != std::string::npos) {
      return bad("has a port that is no number");
    }
  }
  if (parts.host.empty()) return bad("has no host");
  return parts;
}

}  // namespace gpupool::net
