// SPDX-License-Identifier: Apache-2.0
#include "server/api_answer.h"

#include <nlohmann/json.hpp>

namespace gpupool::web {
namespace {

constexpr char kJson[] = "application/json";

}  // namespace

net::ServerResponse json_answer(std::string json) { return {.content_type = kJson, .body = std::move(json)}; }

net::ServerResponse error_answer(int status, const std::string& message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .content_type = kJson,
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

net::ServerResponse error_answer(const base::Error& error) {
  int status = error.http_status;
  if (status < 400) status = error.code == base::ErrorCode::kInvalidArgument ? 400 : 502;
  return error_answer(status, error.message);
}

}  // namespace gpupool::web
