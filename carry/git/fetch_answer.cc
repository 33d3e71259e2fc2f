// SPDX-License-Identifier: Apache-2.0
#include "git/fetch_answer.h"

#include "git/git_advertisement.h"
#include "git/git_error.h"

namespace gpupool::carry {
namespace {

constexpr std::string_view kError = "ERR ";

bool says(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

}  // namespace

Outcome<void> FetchAnswer::feed(std::string_view bytes) {
  bool own = false;  // the failure is one of a packet, not of cutting the stream
  const auto fed = packets_.feed(bytes, [&](const PktLine& each) {
    auto done = packet(each);
    own = !done.has_value();
    return done;
  });
  if (fed || own) return fed;
  return speaks_no_git(url_);
}

Outcome<void> FetchAnswer::packet(const PktLine& packet) {
  using Kind = PktLine::Kind;
  if (state_ == State::kAfter) return {};
  if (packet.kind == Kind::kData && state_ != State::kPack && packet.data.starts_with(kError))
    return refused(packet.data.substr(kError.size()));
  switch (state_) {
    case State::kSection:
      if (packet.kind != Kind::kData) return speaks_no_git(url_);
      return section(packet.data);
    case State::kOtherSection:
      if (packet.kind == Kind::kDelimiter) state_ = State::kSection;
      if (packet.kind == Kind::kFlush || packet.kind == Kind::kEnd)
        return failed(FailureKind::kUnavailable, "the server of " + url_ + " has sent no pack");
      return {};
    case State::kPack:
      if (packet.kind == Kind::kData) return band(packet.data);
      state_ = State::kAfter;
      return {};
    case State::kAfter:
      break;
  }
  return {};
}

Outcome<void> FetchAnswer::section(std::string_view name) {
  if (name.ends_with('\n')) name.remove_suffix(1);
  if (name == "packfile") {
    state_ = State::kPack;
  } else if (name == "shallow-info" || name == "acknowledgments" || name == "wanted-refs") {
    state_ = State::kOtherSection;
  } else {
    return speaks_no_git(url_);
  }
  return {};
}

Outcome<void> FetchAnswer::band(std::string_view data) {
  if (data.empty()) return speaks_no_git(url_);
  const auto rest = data.substr(1);
  if (data.front() == 1) return rest.empty() ? Outcome<void>() : on_pack_(rest);
  if (data.front() == 2) return {};  // progress
  if (data.front() != 3) return speaks_no_git(url_);
  if (says(rest, "not our ref")) return refused(rest);
  return failed(FailureKind::kUnavailable, "the server of " + url_ + " broke off: " + shown_of_server(rest));
}

tl::unexpected<Failure> FetchAnswer::refused(std::string_view why) const {
  if (says(why, "not our ref") || says(why, "unknown commit") || says(why, "no such remote ref"))
    return failed(FailureKind::kNotFound,
                  "the repository " + url_ + " has no commit " + commit_ +
                      "; it may have been force-pushed away, or it is not in this repository");
  return failed(FailureKind::kInvalid,
                "the server of " + url_ + " refuses commit " + commit_ + ": " + shown_of_server(why));
}

}  // namespace gpupool::carry
