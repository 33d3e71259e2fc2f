// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command/registry.h"
#include "net/transport.h"

namespace gpupool::test {

// An API server that a test plays: answers from a function, and notes what was asked. Not thread-safe.
class PlayedServer final : public net::Transport {
 public:
  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;

  explicit PlayedServer(Answer answer) : answer_(std::move(answer)) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

  const std::vector<net::HttpRequest>& asked() const { return asked_; }
  // "GET /api/v1/nodes", one a request.
  std::vector<std::string> calls() const;

 private:
  Answer answer_;
  std::vector<net::HttpRequest> asked_;
};

// What one run of the program did.
struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

// Runs the words of the line, split at spaces, in namespace "lab". server: null where the command must ask
// nothing.
Ran run_line(const command::Registry& registry, const std::string& line, PlayedServer* server = nullptr,
             const std::string& input = "");

}  // namespace gpupool::test
