// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/watch_line.h"

#include <array>

#include "base/json.h"
#include "kube/api_error.h"

namespace gpupool::runtime {

namespace {

struct TypeOnly {
  std::string type;
};

struct Version {
  std::string resource_version;
};

struct VersionedObject {
  Version metadata;
};

struct VersionOnly {
  VersionedObject object;
};

struct StatusOnly {
  base::json::RawJson object;
};

}  // namespace

}  // namespace gpupool::runtime

namespace gpupool::base::json {

template <>
struct Schema<runtime::TypeOnly> {
  static constexpr auto fields = std::array{field<&runtime::TypeOnly::type>("type")};
};

template <>
struct Schema<runtime::Version> {
  static constexpr auto fields = std::array{field<&runtime::Version::resource_version>("resourceVersion")};
};

template <>
struct Schema<runtime::VersionedObject> {
  static constexpr auto fields = std::array{field<&runtime::VersionedObject::metadata>("metadata")};
};

template <>
struct Schema<runtime::VersionOnly> {
  static constexpr auto fields = std::array{field<&runtime::VersionOnly::object>("object")};
};

template <>
struct Schema<runtime::StatusOnly> {
  static constexpr auto fields = std::array{field<&runtime::StatusOnly::object>("object")};
};

}  // namespace gpupool::base::json

namespace gpupool::runtime {

base::Result<std::string_view> event_type(std::string_view line, std::string& storage) {
  constexpr std::string_view kStart = R"({"type":")";
  if (line.starts_with(kStart)) {
    const auto rest = line.substr(kStart.size());
    const auto end = rest.find_first_of("\"\\");
    if (end != std::string_view::npos && rest[end] == '"') return rest.substr(0, end);
  }
  auto slow = base::json::read<TypeOnly>(line);
  if (!slow) return tl::unexpected<base::Error>(slow.error());
  if (slow->type.empty()) return base::fail(base::ErrorCode::kParse, "a watch event without a type");
  storage = std::move(slow->type);
  return std::string_view(storage);
}

base::Result<std::string> event_version(std::string_view line) {
  auto event = base::json::read<VersionOnly>(line);
  if (!event) return tl::unexpected<base::Error>(event.error());
  return std::move(event->object.metadata.resource_version);
}

base::Result<std::string> list_version(std::string_view body) {
  auto list = base::json::read<VersionedObject>(body);
  if (!list) return tl::unexpected<base::Error>(list.error());
  return std::move(list->metadata.resource_version);
}

base::Error event_error(std::string_view line) {
  const auto event = base::json::read<StatusOnly>(line);
  return event ? kube::status_error(event->object.text) : event.error();
}

}  // namespace gpupool::runtime
