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

// What stands between "://" and the path.
std::string authority(const std::string& url) {
  const auto begin = url.find("://") + 3;
  return url.substr(begin, url.find('/', begin) - begin);
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
  const std::string host = authority(url);
  if (host.empty() || host.front() == ':') return bad(where, "is '" + url + "': it has no host");
  std::string trimmed = url;
  while (trimmed.back() == '/') trimmed.pop_back();
  return trimmed;
}

base::Result<void> check_proxy_url(const std::string& url, const std::string& where) {
  if (url.empty()) return {};
  const bool known =
      url.starts_with("http://") || url.starts_with("https://") || url.starts_with("socks5://");
  // The URL is not shown: it may hold a password.
  if (!known) return bad(where, "must begin with http://, https:// or socks5://");
  if (has_odd_characters(url) || authority(url).empty()) return bad(where, "is not a URL");
  return {};
}

}  // namespace gpupool::kube
