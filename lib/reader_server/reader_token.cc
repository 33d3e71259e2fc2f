// SPDX-License-Identifier: Apache-2.0
#include "reader_server/reader_token.h"

#include "net/bearer_token.h"
#include "net/json_answer.h"

namespace gpupool::readers {

std::optional<std::string> reader_token(const net::ServerRequest& request) {
  const std::string given(request.header("X-Gpupool-Token"));
  return net::is_token(given) ? std::optional(given) : net::bearer_token(request.header("Authorization"));
}

net::ServerResponse no_token_answer() {
  return net::error_answer(401, "a token of the cluster is needed, in X-Gpupool-Token or Authorization");
}

}  // namespace gpupool::readers
