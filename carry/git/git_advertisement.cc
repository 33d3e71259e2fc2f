// SPDX-License-Identifier: Apache-2.0
#include "git/git_advertisement.h"

#include "git/pkt_line.h"

namespace gpupool::carry {
namespace {

std::string_view chomped(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const auto end = words.find(' ');
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return false;
}

}  // namespace

tl::unexpected<Failure> speaks_no_git(const std::string& url) {
  return failed(FailureKind::kInvalid, "the server does not speak git protocol 2 at this URL, " + url);
}

Outcome<void> check_advertisement(std::string_view body, const std::string& url) {
  bool version = false;
  bool fetch = false;
  bool shallow = false;
  std::string format = "sha1";
  PktLines packets;
  const auto read = packets.feed(body, [&](const PktLine& packet) -> Outcome<void> {
    if (packet.kind != PktLine::Kind::kData) return {};
    const auto line = chomped(packet.data);
    constexpr std::string_view kFetch = "fetch";
    constexpr std::string_view kFormat = "object-format=";
    if (line == "version 2") version = true;
    if (line == kFetch || line.starts_with("fetch=")) {
      fetch = true;
      shallow = line != kFetch && has_word(line.substr(kFetch.size() + 1), "shallow");
    }
    if (line.starts_with(kFormat)) format = line.substr(kFormat.size());
    return {};
  });
  if (!read || !version || !fetch) return speaks_no_git(url);
  if (format != "sha1")
    return failed(FailureKind::kInvalid, "the repository " + url +
                                             " names its objects by another hash than SHA-1, "
                                             "and only those with SHA-1 can be fetched");
  if (!shallow)
    return failed(FailureKind::kInvalid,
                  "the server of " + url + " does not give one commit without its history");
  return {};
}

}  // namespace gpupool::carry
