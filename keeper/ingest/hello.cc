// SPDX-License-Identifier: Apache-2.0
#include "ingest/hello.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "api/log_push_format.h"

namespace gpupool::keeper {
namespace {

using nlohmann::json;

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> number_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

}  // namespace

base::Result<Hello> read_hello(std::string_view text) {
  const auto bad = [](const char* why) { return base::fail(base::ErrorCode::kInvalidArgument, why); };
  if (text.size() > api::log_push::kMaxHello) return bad("the hello is too long");
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return bad("the hello is no JSON object");
  if (number_in(object, "version") != api::log_push::kVersion)
    return bad("this keeper speaks another version of the protocol");
  Hello hello;
  hello.attempt.id.ns = text_in(object, "namespace");
  hello.attempt.id.uid = text_in(object, "uid");
  hello.attempt.id.lease = number_in(object, "lease").value_or(-1);
  hello.attempt.attempt = number_in(object, "attempt").value_or(0);
  hello.attempt.job = text_in(object, "job");
  hello.attempt.pool = text_in(object, "pool");
  hello.attempt.ranks = number_in(object, "ranks").value_or(1);
  hello.rank = number_in(object, "rank").value_or(0);
  hello.key = text_in(object, "key");
  const AttemptId& id = hello.attempt.id;
  if (!is_folder_name(id.ns) || !is_folder_name(id.uid) || id.lease < 0)
    return bad("the hello has no namespace, uid and lease");
  if (!is_folder_name(hello.attempt.job)) return bad("the hello has no name of a job");
  if (!hello.attempt.pool.empty() && !is_folder_name(hello.attempt.pool))
    return bad("the hello's pool is no name");
  if (hello.attempt.ranks < 1 || hello.attempt.ranks > kMaxRanks || hello.rank < 0 ||
      hello.rank >= hello.attempt.ranks)
    return bad("the hello's ranks are out of range");
  return hello;
}

}  // namespace gpupool::keeper
