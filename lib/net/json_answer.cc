// SPDX-License-Identifier: Apache-2.0
#include "net/json_answer.h"

#include <nlohmann/json.hpp>

namespace gpupool::net {
namespace {

constexpr char kJson[] = "application/json";

}  // namespace

ServerResponse json_answer(std::string json) { return {.content_type = kJson, .body = std::move(json)}; }

ServerResponse error_answer(int status, const std::string& message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .content_type = kJson,
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

ServerResponse error_answer(const base::Error& error) {
  int status = error.http_status;
  if (status < 400) status = error.code == base::ErrorCode::kInvalidArgument ? 400 : 502;
  return error_answer(status, error.message);
}

}  // namespace gpupool::net
