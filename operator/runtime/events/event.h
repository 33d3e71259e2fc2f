#pragma once

#include <cstdint>
#include <string>

#include "api/meta/resource_type.h"
#include "base/clock.h"

namespace gpupool::runtime {

// The object an event is about.
struct ObjectReference {
  std::string api_version = {};
  std::string kind = {};
  api::ObjectKey key = {};
  std::string uid = {};
  std::string resource_version = {};
};

enum class EventType { kNormal, kWarning };

struct Event {
  ObjectReference regarding;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string action;
  std::string note;
  base::WallTime time;
};

// Who reports.
struct EventSource {
  std::string controller;  // a qualified name: "gpupool.dev/operator"
  std::string instance;
};

// `<object>.<hex ns>` as client-go's; a valid object name of at most 253 bytes.
std::string event_name(const Event& event, std::int64_t stamp_ns);
// An events.k8s.io/v1 Event as JSON.
std::string event_body(const Event& event, const EventSource& source, const api::ObjectKey& name);
// The merge patch that says an event was seen `count` times, most recently at `last`.
std::string series_patch(std::int64_t count, base::WallTime last);
// At most 1 KiB, the API's limit, without half a character at the end.
std::string cut_note(const std::string& note);

}  // namespace gpupool::runtime
