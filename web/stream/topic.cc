// SPDX-License-Identifier: Apache-2.0
#include "stream/topic.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "api/core/pod_event.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/gpu_sweep.h"

namespace gpupool::web {
namespace {

using nlohmann::json;

constexpr std::array<const api::ResourceType*, 5> kTypes = {&api::GpuJob::kType, &api::GpuPool::kType,
                                                            &api::GpuNode::kType, &api::GpuSweep::kType,
                                                            &api::PodEvent::kType};
constexpr std::int64_t kMostTail = 10000;

tl::unexpected<base::Error> bad(const std::string& why) {
  return base::fail(base::ErrorCode::kInvalidArgument, why);
}

bool is_id(const std::string& text) {
  return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// A member that must be a string if it is there.
base::Result<std::string> text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  if (!found->is_string()) return bad(std::string(name) + " is not a string");
  return found->get<std::string>();
}

base::Result<std::optional<std::int64_t>> number_of(const json& object, const char* name, std::int64_t most) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return bad(std::string(name) + " is not a number from 0 to " + std::to_string(most));
  return found->get<std::int64_t>();
}

base::Result<void> read_list(const json& object, const std::string& plural, Topic& topic) {
  const auto type =
      std::ranges::find_if(kTypes, [&](const api::ResourceType* known) { return known->plural == plural; });
  if (type == kTypes.end()) return bad("'" + plural + "' cannot be watched here");
  topic.type = *type;
  const auto involved = text_of(object, "involved");
  if (!involved) return tl::unexpected<base::Error>(involved.error());
  topic.involved = *involved;
  if (!topic.involved.empty() && !is_name(topic.involved)) return bad("involved is not a UID");
  if (*type == &api::PodEvent::kType && topic.involved.empty())
    return bad("events need the UID of an object");
  return {};
}

base::Result<void> read_log(const json& object, Topic& topic) {
  auto ranks = text_of(object, "ranks");
  if (!ranks) return tl::unexpected<base::Error>(ranks.error());
  topic.ranks = std::move(*ranks);
  if (topic.ranks.size() > 1000) return bad("ranks is too long");
  const auto attempt = number_of(object, "attempt", 1'000'000'000);
  if (!attempt) return tl::unexpected<base::Error>(attempt.error());
  topic.attempt = *attempt;
  const auto tail = number_of(object, "tail", kMostTail);
  if (!tail) return tl::unexpected<base::Error>(tail.error());
  topic.tail = tail->value_or(kMostTail);
  if (topic.ns.empty() || topic.name.empty()) return bad("a log needs the namespace and name of a job");
  return {};
}

base::Result<Topic> read_topic(const json& object) {
  if (!object.is_object()) return bad("a topic is not an object");
  Topic topic;
  for (const auto& [name, member] :
       {std::pair{"id", &Topic::id}, std::pair{"namespace", &Topic::ns}, std::pair{"name", &Topic::name}}) {
    auto text = text_of(object, name);
    if (!text) return tl::unexpected<base::Error>(text.error());
    topic.*member = std::move(*text);
  }
  if (!is_id(topic.id)) return bad("a topic needs an id of letters and digits");
  if (!topic.ns.empty() && !is_name(topic.ns)) return bad("namespace is not a name");
  if (!topic.name.empty() && !is_name(topic.name)) return bad("name is not a name");
  base::Result<void> read = bad("topic " + topic.id + " names none of table, objects and log");
  if (object.contains("log")) {
    topic.kind = Topic::Kind::kLog;
    read = read_log(object, topic);
  } else {
    for (const auto& [word, kind] :
         {std::pair{"table", Topic::Kind::kTable}, std::pair{"objects", Topic::Kind::kObjects}}) {
      const auto plural = text_of(object, word);
      if (!plural) return tl::unexpected<base::Error>(plural.error());
      if (plural->empty()) continue;
      topic.kind = kind;
      read = read_list(object, *plural, topic);
    }
  }
  if (!read) return tl::unexpected<base::Error>(read.error());
  return topic;
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

base::Result<std::vector<Topic>> read_topics(std::string_view text) {
  const json body = json::parse(text, nullptr, false);
  if (body.is_discarded() || !body.is_object() || !body.contains("topics") || !body["topics"].is_array())
    return bad("the body is not {\"topics\":[...]}");
  if (body["topics"].size() > kMostTopics) return bad("more than " + std::to_string(kMostTopics) + " topics");
  std::vector<Topic> topics;
  std::set<std::string> ids;
  for (const json& object : body["topics"]) {
    auto topic = read_topic(object);
    if (!topic) return tl::unexpected<base::Error>(topic.error());
    if (!ids.insert(topic->id).second) return bad("two topics have the id " + topic->id);
    topics.push_back(std::move(*topic));
  }
  return topics;
}

}  // namespace gpupool::web
