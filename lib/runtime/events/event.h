// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/meta/resource_type.h"
#include "base/clock.h"

namespace gpupool::runtime {

// The object that an event is about.
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

// The program that reports an event.
struct EventSource {
  std::string controller;  // a qualified name: "example.com/operator"
  std::string instance;
};

// Returns `<object>.<nanoseconds in hex>`, as client-go does: a valid object name of at most 253 bytes.
std::string event_name(const Event& event, std::int64_t stamp_ns);
// Returns an events.k8s.io/v1 Event as JSON.
std::string event_body(const Event& event, const EventSource& source, const api::ObjectKey& name);
// Returns the merge patch for an event that was seen `count` times, last at `last`.
std::string series_patch(std::int64_t count, base::WallTime last);
// Cuts the note to 1 KiB, the limit of the API, at the end of a character.
std::string cut_note(const std::string& note);

}  // namespace gpupool::runtime
