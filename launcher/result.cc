// SPDX-License-Identifier: Apache-2.0
#include "launcher/result.h"

#include <algorithm>
#include <charconv>

#include "launcher/clean_text.h"

namespace gpupool::launcher {
namespace {

namespace format = api::worker_result;

constexpr std::string_view kExitCodeKey = "\"exitCode\":";
static_assert(kExitCodeKey.substr(1, kExitCodeKey.size() - 3) == format::kExitCodeField);

std::string escaped(std::string_view character) {
  switch (character.front()) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(character.front());
  if (byte >= 0x20) return std::string(character);
  constexpr std::string_view kHex = "0123456789abcdef";
  return std::string("\\u00") + kHex[byte >> 4U] + kHex[byte & 0xfU];
}

// Characters of `text`, escaped, as many as fit from the front.
std::string escaped_front(std::string_view text, std::size_t limit) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return out;
    const std::string next = escaped(text.substr(0, length));
    if (out.size() + next.size() > limit) return out;
    out += next;
    text.remove_prefix(length);
  }
  return out;
}

std::size_t escaped_size(std::string_view text) { return escaped_front(text, std::string::npos).size(); }

// The longest end of `text` that fits, escaped: whole lines, or the end of the last line if that alone is too
// long.
std::string escaped_end(std::string_view text, std::size_t limit) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::size_t size = escaped_size(text);
  while (size > limit) {
    const std::size_t newline = text.find('\n');
    const std::size_t length = newline == std::string_view::npos ? utf8_length(text) : newline + 1;
    size -= escaped_size(text.substr(0, length));
    text.remove_prefix(length);
  }
  return escaped_front(text, limit);
}

// The fields that are always there, each as long as it can be.
constexpr std::string_view kLongestNumbers =
    R"({"version":1,"outcome":"interrupted","exitCode":255,"signal":64,"stopSignal":64,"attempt":2147483647,)"
    R"("rank":2147483647})";
static_assert(kLongestNumbers.size() <= kMinResultBytes);

void add_text(std::string& json, std::string_view key, std::string_view escaped_value) {
  json += ",\"";
  json += key;
  json += "\":\"";
  json += escaped_value;
  json += '"';
}

std::string numbers(const Result& result) {
  std::string json;
  const auto add = [&json](std::string_view key, int number) {
    json += json.empty() ? "{\"" : ",\"";
    json += key;
    json += "\":";
    json += std::to_string(number);
  };
  add(format::kVersionField, format::kVersion);
  add_text(json, format::kOutcomeField, name_of(result.outcome));
  add(format::kExitCodeField, result.exit_code);
  if (result.signal) add(format::kSignalField, *result.signal);
  if (result.stop_signal) add(format::kStopSignalField, *result.stop_signal);
  add(format::kAttemptField, result.attempt);
  add(format::kRankField, result.rank);
  return json;
}

// The bytes that the text of a field may take; nothing where not even an empty one fits.
std::optional<std::size_t> room_for(std::string_view key, const std::string& json, std::size_t limit) {
  constexpr std::string_view kAround = R"(,"":""})";
  const std::size_t size = json.size() + key.size() + kAround.size();
  if (size > limit) return std::nullopt;
  return limit - size;
}

// False when there was no room for all of it, and nothing was added.
bool add_time(std::string& json, std::string_view key, const std::string& time, std::size_t limit) {
  if (room_for(key, json, limit).value_or(0) < time.size()) return false;
  add_text(json, key, time);
  return true;
}

void add_times(std::string& json, const Result& result, std::size_t limit) {
  if (!add_time(json, format::kFinishedAtField, result.finished_at, limit)) return;
  if (!result.started_at.empty()) add_time(json, format::kStartedAtField, result.started_at, limit);
}

// The report as a whole or not at all: a part of it means something else.
void add_report(std::string& json, const Report& report, std::size_t limit) {
  if (report.text) {
    const std::string text = escaped_front(*report.text, std::string::npos);
    if (room_for(format::kReportField, json, limit).value_or(0) < text.size()) return;
    add_text(json, format::kReportField, text);
    if (!report.written_at.empty()) add_time(json, format::kReportedAtField, report.written_at, limit);
  } else if (!report.error.empty()) {
    const std::string text = escaped_front(report.error, format::kMaxReportErrorBytes);
    if (room_for(format::kReportErrorField, json, limit).value_or(0) < text.size()) return;
    add_text(json, format::kReportErrorField, text);
  }
}

// As many texts as fit; nothing if there are none.
void add_list(std::string& json, std::string_view key, const std::vector<std::string>& texts,
              std::size_t limit) {
  constexpr std::size_t kEnd = 2;  // "]}"
  std::string list;
  for (const std::string& text : texts) {
    std::string next = list.empty() ? ",\"" + std::string(key) + "\":[\"" : ",\"";
    next += escaped_front(text, std::string::npos);
    next += '"';
    if (json.size() + list.size() + next.size() + kEnd > limit) break;
    list += next;
  }
  if (!list.empty()) json += list + ']';
}

void add_texts(std::string& json, const Result& result, std::size_t limit) {
  const std::optional<std::size_t> reason_room = room_for(format::kReasonField, json, limit);
  if (!reason_room) return;
  add_text(json, format::kReasonField,
           escaped_front(result.reason, std::min<std::size_t>(*reason_room, format::kMaxReasonBytes)));
  const std::optional<std::size_t> message_room = room_for(format::kMessageField, json, limit);
  if (!message_room) return;
  add_text(json, format::kMessageField,
           escaped_front(result.message, std::min<std::size_t>(*message_room, format::kMaxMessageBytes)));
  add_list(json, format::kMetricsField, result.metrics, limit);
  add_list(json, format::kOtherMetricsField, result.other_metrics, limit);
  const std::optional<std::size_t> tail_room = room_for(format::kTailField, json, limit);
  if (!tail_room) return;
  add_text(json, format::kTailField, escaped_end(result.tail, std::min(*tail_room, kMaxTailBytes)));
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kExited:
      return format::kExited;
    case Outcome::kSignaled:
      return format::kSignaled;
    case Outcome::kNotStarted:
      return format::kNotStarted;
    case Outcome::kInterrupted:
      return format::kInterrupted;
  }
  return "";
}

std::string to_json(const Result& result, std::size_t limit) {
  std::string json = numbers(result);
  add_times(json, result, limit);
  add_report(json, result.report, limit);
  add_texts(json, result, limit);
  json += '}';
  return json;
}

std::optional<int> exit_code_in(std::string_view json) {
  // Quotes inside our texts are escaped, so the key with its quotes occurs once.
  const std::size_t at = json.find(kExitCodeKey);
  if (at == std::string_view::npos || json.front() != '{' || json.back() != '}') return std::nullopt;
  // Control characters are escaped too: these are blocks that never reached the disk.
  if (json.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string_view number = json.substr(at + kExitCodeKey.size());
  int code = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), code);
  if (error != std::errc() || code < 0 || code > 255) return std::nullopt;
  return code;
}

std::string_view outcome_in(std::string_view json) {
  constexpr std::string_view kOutcomeKey = "\"outcome\":\"";
  const std::size_t at = json.find(kOutcomeKey);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = json.substr(at + kOutcomeKey.size());
  for (const Outcome outcome :
       {Outcome::kExited, Outcome::kSignaled, Outcome::kNotStarted, Outcome::kInterrupted}) {
    if (rest.starts_with(name_of(outcome))) return name_of(outcome);
  }
  return "";
}

}  // namespace gpupool::launcher
