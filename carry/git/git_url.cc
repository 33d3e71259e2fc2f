// SPDX-License-Identifier: Apache-2.0
#include "git/git_url.h"

#include <algorithm>
#include <string_view>

namespace gpupool::carry {
namespace {

constexpr std::string_view kRefs = "/info/refs";
constexpr std::string_view kService = "?service=git-upload-pack";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_printable(char c) { return c > 0x20 && c < 0x7f; }

}  // namespace

Outcome<GitUrl> parse_git_url(const std::string& url) {
  const auto bad = [](const char* why) {
    return failed(FailureKind::kInvalid, std::string("the URL of a git repository ") + why);
  };
  if (!std::all_of(url.begin(), url.end(), is_printable))
    return bad("has a space or another character than ASCII");
  GitUrl parsed;
  std::string_view rest(url);
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!rest.starts_with(scheme)) continue;
    parsed.origin = scheme;
    rest.remove_prefix(scheme.size());
    break;
  }
  if (parsed.origin.empty()) return bad("does not begin with https:// or http://");
  parsed.secure = parsed.origin == "https://";
  const auto authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos)
    return bad("has a user or a password; put them into a Secret, and name that in the item");
  rest.remove_prefix(authority.size());
  if (rest.find_first_of("?#") != std::string_view::npos) return bad("has a query or a fragment");
  std::string_view host = authority;
  const std::string_view own_port = parsed.secure ? ":443" : ":80";
  if (host.ends_with(own_port)) host.remove_suffix(own_port.size());
  if (host.empty() || host.front() == ':') return bad("has no host");
  std::transform(host.begin(), host.end(), std::back_inserter(parsed.origin), lower);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  parsed.path = rest;
  return parsed;
}

Outcome<GitUrl> redirected_git_url(const GitUrl& from, const std::string& location) {
  std::string_view target = std::string_view(location).substr(0, location.find('#'));
  if (target.ends_with(kService)) target.remove_suffix(kService.size());
  if (!target.ends_with(kRefs))
    return failed(FailureKind::kInvalid, from.text() + " redirects to what is no git repository");
  target.remove_suffix(kRefs.size());
  std::string whole(target);
  if (target.starts_with("//")) {
    whole = (from.secure ? "https:" : "http:") + whole;
  } else if (target.empty() || target.starts_with('/')) {
    whole = from.origin + whole;
  }
  auto to = parse_git_url(whole);
  if (!to) return failed(to.error().kind, from.text() + " redirects: " + to.error().message);
  if (from.secure && !to->secure)
    return failed(FailureKind::kInvalid, from.text() + " redirects from https to http, to " + to->text());
  return to;
}

}  // namespace gpupool::carry
