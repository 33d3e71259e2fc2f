// SPDX-License-Identifier: Apache-2.0
#include "transfer/refusal.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

namespace gpupool::carry {
namespace {

constexpr std::chrono::milliseconds kLongestRetryAfter{60'000};

FailureKind kind_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return FailureKind::kDenied;
    case 404:
    case 410:
      return FailureKind::kNotFound;
    case 408:
    case 425:
    case 429:
      return FailureKind::kUnavailable;
    case 501:
    case 505:
      return FailureKind::kInvalid;
    default:
      return status >= 500 ? FailureKind::kUnavailable : FailureKind::kInvalid;
  }
}

}  // namespace

// Pages for browsers are of no use in a message.
std::string Protocol::explain(const HttpAnswer& answer) const {
  const std::string& type = answer.header("content-type");
  return type.starts_with("text/plain") || type.starts_with("application/json") ? answer.body : std::string();
}

Failure refusal(const HttpAnswer& answer, const std::string& shown, const Protocol& protocol) {
  std::string message = shown + ": the server answers " + std::to_string(answer.status);
  const std::string said = for_message(protocol.explain(answer));
  if (!said.empty()) message += ": " + said;
  return {protocol.kind(answer).value_or(kind_of_status(answer.status)), std::move(message)};
}

std::optional<std::chrono::milliseconds> retry_after(const HttpAnswer& answer,
                                                     std::chrono::system_clock::time_point wall) {
  using std::chrono::milliseconds;
  const std::string& text = answer.header("retry-after");
  if (text.empty()) return std::nullopt;
  std::int64_t seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec == std::errc::result_out_of_range) return kLongestRetryAfter;
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    const std::time_t date = curl_getdate(text.c_str(), nullptr);
    if (date < 0) return std::nullopt;
    seconds = date - std::chrono::system_clock::to_time_t(wall);
  }
  return milliseconds(std::clamp<std::int64_t>(seconds, 0, kLongestRetryAfter.count() / 1000) * 1000);
}

std::string for_message(std::string_view bytes) {
  constexpr std::size_t kMost = 200;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  std::string text;
  text.reserve(std::min(bytes.size(), kMost + 1));
  for (const char c : bytes) {
    if (text.size() > kMost) break;
    if (!is_control(c)) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  if (text.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && continues(text[end])) --end;
    text.resize(end);
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace gpupool::carry
