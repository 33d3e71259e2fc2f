// SPDX-License-Identifier: Apache-2.0
#include "submit/git_reference.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "git/git_advertisement.h"
#include "git/git_http.h"
#include "git/git_url.h"
#include "git/pkt_line.h"
#include "kube/config/environment.h"

namespace gpupool::submit {
namespace {

using carry::FailureKind;
using carry::PktLine;

constexpr std::chrono::seconds kMostTime{30};
constexpr std::size_t kMostAnswer = std::size_t{1} << 20U;
constexpr std::string_view kBranches = "refs/heads/";
constexpr std::string_view kTags = "refs/tags/";

// Commits by the full names of branches and tags.
using References = std::map<std::string, std::string>;

std::vector<std::string> full_names(const std::string& reference) {
  if (reference == "HEAD" || reference.starts_with("refs/")) return {reference};
  return {std::string(kBranches) + reference, std::string(kTags) + reference};
}

std::string list_body(const std::vector<std::string>& names) {
  std::string body = carry::pkt_line("command=ls-refs\n") + carry::pkt_line("agent=gpupool\n") + "0001" +
                     carry::pkt_line("peel\n");
  for (const auto& name : names) body += carry::pkt_line("ref-prefix " + name + "\n");
  return body + "0000";
}

// "OID NAME[ peeled:OID]"
void add_line(std::string_view line, References& found) {
  static constexpr std::string_view kPeeled = " peeled:";
  if (line.ends_with('\n')) line.remove_suffix(1);
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return;
  const auto name = line.substr(space + 1, line.find(' ', space + 1) - space - 1);
  const auto peeled = line.find(kPeeled, space);
  const auto commit =
      peeled == std::string_view::npos ? line.substr(0, space) : line.substr(peeled + kPeeled.size());
  found[std::string(name)] = commit.substr(0, commit.find(' '));
}

carry::GitCredentials credentials() {
  carry::GitCredentials own;
  own.username = kube::environment("GIT_USERNAME");
  (own.username.empty() ? own.token : own.password) = kube::environment("GIT_PASSWORD");
  return own;
}

carry::Outcome<References> list_references(const api::GitLocation& location,
                                           const std::vector<std::string>& names,
                                           const std::stop_token& stop) {
  auto url = carry::parse_git_url(location.url);
  if (!url) return tl::unexpected(url.error());
  carry::GitHttp http(*std::move(url), credentials(), kMostTime);
  const auto deadline = std::chrono::steady_clock::now() + kMostTime;
  const auto advertised = http.get_refs(deadline, stop);
  if (!advertised) return tl::unexpected(advertised.error());
  if (auto good = carry::check_advertisement(*advertised, location.url); !good)
    return tl::unexpected(good.error());
  References found;
  carry::PktLines packets;
  std::size_t bytes = 0;
  auto done = http.post_upload_pack(
      list_body(names),
      [&](std::string_view piece) -> carry::Outcome<void> {
        bytes += piece.size();
        if (bytes > kMostAnswer) return carry::speaks_no_git(location.url);
        return packets.feed(piece, [&](const PktLine& packet) -> carry::Outcome<void> {
          if (packet.kind == PktLine::Kind::kData) add_line(packet.data, found);
          return {};
        });
      },
      deadline, stop);
  if (!done) return tl::unexpected(done.error());
  return found;
}

base::Error error_of(const carry::Failure& failure) {
  if (failure.kind == FailureKind::kStopped) return {base::ErrorCode::kCancelled, failure.message};
  std::string message = failure.message;
  if (failure.kind == FailureKind::kDenied || failure.kind == FailureKind::kNotFound)
    message +=
        ". To find the commit of a branch or tag, this machine asks the repository, without the Secret: set "
        "GIT_USERNAME and "
        "GIT_PASSWORD, or write the commit itself after the @";
  return {base::ErrorCode::kIo, std::move(message)};
}

}  // namespace

bool is_commit(std::string_view reference) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (reference.size() == 40 || reference.size() == 64) &&
         std::all_of(reference.begin(), reference.end(), is_digit);
}

base::Result<std::string> resolve_reference(const api::GitLocation& location, const std::stop_token& stop) {
  const auto names = full_names(location.commit);
  const auto found = list_references(location, names, stop);
  if (!found) return tl::unexpected<base::Error>(error_of(found.error()));
  std::optional<std::string> commit;
  for (const auto& name : names) {
    const auto at = found->find(name);
    if (at == found->end()) continue;
    if (!is_commit(at->second))
      return base::fail(base::ErrorCode::kIo, location.url + " does not say the commit of " + name);
    if (commit && *commit != at->second)
      return base::fail(base::ErrorCode::kIo, location.url + " has a branch and a tag " + location.commit +
                                                  ": write @" + names[0] + " or @" + names[1]);
    commit = at->second;
  }
  if (!commit)
    return base::fail(base::ErrorCode::kNotFound,
                      location.url + " has no branch or tag " + location.commit +
                          "; a commit must have all its 40 digits, in lower case");
  return *commit;
}

}  // namespace gpupool::submit
