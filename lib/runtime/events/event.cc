// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/event.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/rfc3339.h"

namespace gpupool::runtime {

namespace {

constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxName = 253;

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string event_name(const Event& event, std::int64_t stamp_ns) {
  std::array<char, 17> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::uint64_t>(stamp_ns), 16)
          .ptr;
  const std::string suffix(digits.data(), end);
  auto object = event.regarding.key.name.substr(0, kMaxName - 1 - suffix.size());
  // A label of a DNS name must not end with '.' or '-'.
  while (!object.empty() && (object.back() == '.' || object.back() == '-')) object.pop_back();
  return object + "." + suffix;
}

std::string event_body(const Event& event, const EventSource& source, const api::ObjectKey& name) {
  const auto& object = event.regarding;
  nlohmann::json regarding{
      {"apiVersion", object.api_version}, {"kind", object.kind}, {"name", object.key.name}};
  if (!object.key.ns.empty()) regarding["namespace"] = object.key.ns;
  if (!object.uid.empty()) regarding["uid"] = object.uid;
  if (!object.resource_version.empty()) regarding["resourceVersion"] = object.resource_version;
  return dump({{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"name", name.name}, {"namespace", name.ns}}},
               {"eventTime", base::to_rfc3339_micro(event.time)},
               {"reportingController", source.controller},
               {"reportingInstance", source.instance},
               {"action", event.action},
               {"reason", event.reason},
               {"regarding", std::move(regarding)},
               {"note", event.note},
               {"type", event.type == EventType::kNormal ? "Normal" : "Warning"}});
}

std::string series_patch(std::int64_t count, base::WallTime last) {
  return dump({{"series", {{"count", count}, {"lastObservedTime", base::to_rfc3339_micro(last)}}}});
}

std::string cut_note(const std::string& note) {
  if (note.size() <= kMaxNote) return note;
  auto end = kMaxNote;
  // Does not cut in the middle of a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xC0U) == 0x80U) --end;
  return note.substr(0, end);
}

}  // namespace gpupool::runtime
