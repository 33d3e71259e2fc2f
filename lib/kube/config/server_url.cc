// SPDX-License-Identifier: Apache-2.0
#include "kube/config/server_url.h"

#include <algorithm>

namespace gpupool::kube {
namespace {

tl::unexpected<base::Error> bad(const std::string& where, const std::string& what) {
  return base::fail(base::ErrorCode::kInvalidArgument, where + " " + what);
}

bool has_odd_characters(const std::string& url) {
  return std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c == 0x7f; });
}

// The part between "://" and the path.
std::string authority(const std::string& url) {
  const auto begin = url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}

// Returns what is wrong with HOST:PORT, [ADDRESS]:PORT, or either without a port; empty if nothing is.
std::string authority_problem(const std::string& authority) {
  const bool bracket = authority.starts_with('[');
  const auto host_end = bracket ? authority.find(']') : authority.find(':');
  if (bracket && host_end == std::string::npos) return "has a host with an open bracket";
  if (authority.empty() || host_end == 0) return "has no host";
  if (host_end == std::string::npos) return {};
  const auto rest = authority.substr(bracket ? host_end + 1 : host_end);
  if (rest.empty()) return {};
  const auto port = rest.substr(1);
  const bool number =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  const bool good = rest.front() == ':' && number && std::stoi(port) >= 1 && std::stoi(port) <= 65535;
  return good ? std::string() : "has no port from 1 to 65535 behind its host";
}

}  // namespace

base::Result<std::string> check_server_url(const std::string& url, const std::string& where) {
  if (url.empty()) return bad(where, "is missing");
  if (!url.starts_with("https://") && !url.starts_with("http://")) {
    return bad(where, "is '" + url + "': it must begin with https:// or http://");
  }
  if (has_odd_characters(url) || url.find_first_of("?#@") != std::string::npos) {
    return bad(where, "is not the URL of an API server (no user, query, fragment or white space)");
  }
  if (const auto problem = authority_problem(authority(url)); !problem.empty()) {
    return bad(where, "is '" + url + "': it " + problem);
  }
  std::string trimmed = url;
  while (trimmed.back() == '/') trimmed.pop_back();
  return trimmed;
}

base::Result<void> check_proxy_url(const std::string& url, const std::string& where) {
  if (url.empty()) return {};
  const bool known =
      url.starts_with("http://") || url.starts_with("https://") || url.starts_with("socks5://");
  // The message does not contain the URL, because it may contain a password.
  if (!known) return bad(where, "must begin with http://, https:// or socks5://");
  if (has_odd_characters(url) || authority(url).empty()) return bad(where, "is not a URL");
  return {};
}

}  // namespace gpupool::kube
