// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "transfer/http_connection.h"
#include "transfer/pace.h"
#include "transfer/protocol.h"

namespace gpupool::carry {

// A request whose answer is small. It may be made several times, so it must do no harm twice.
struct Call {
  std::string method = "GET";
  std::string target;  // what `protocol` makes a URL of
  std::vector<Header> headers = {};
  std::string body = {};
  BodySource* source = nullptr;  // in place of `body`
  base::SteadyTime deadline = {};
  std::chrono::milliseconds idle{60'000};
};

// Makes the call until there is a 2xx answer, an answer that another try would not change, or the deadline.
// No redirect is followed.
Outcome<HttpAnswer> call(HttpConnection& connection, Protocol& protocol, const Call& call,
                         const Waiting& waiting, const std::stop_token& stop);

}  // namespace gpupool::carry
