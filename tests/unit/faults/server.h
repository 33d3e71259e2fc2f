// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "net/transport.h"

namespace gpupool::test {

// Answers everything with 200 and counts the requests it carried out.
class Server final : public net::Transport {
 public:
  base::Result<net::HttpResponse> send(const net::HttpRequest& /*request*/,
                                       std::stop_token /*stop*/) override {
    ++served;
    return net::HttpResponse{.status = 200, .body = body};
  }
  base::Result<net::HttpResponse> stream(const net::HttpRequest& /*request*/, const net::BodySink& sink,
                                         std::stop_token /*stop*/) override {
    ++served;
    for (const auto& piece : pieces) {
      if (!sink(piece)) return base::fail(base::ErrorCode::kCancelled, "ended by the reader");
    }
    return net::HttpResponse{.status = 200};
  }

  int served = 0;
  std::string body = R"({"kind":"Node","metadata":{"name":"a"}})";
  std::vector<std::string> pieces = {"{\"type\":\"ADD", "ED\"}\n{\"type\":\"MODIFIED\"}\n",
                                     "{\"type\":\"DELETED\"}\n"};
};

}  // namespace gpupool::test
