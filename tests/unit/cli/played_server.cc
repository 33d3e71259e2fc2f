// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cli/played_server.h"

#include <sstream>

#include "command/program.h"
#include "tests/support/manual_clock.h"

namespace gpupool::test {

base::Result<net::HttpResponse> PlayedServer::send(const net::HttpRequest& request, std::stop_token) {
  asked_.push_back(request);
  return answer_(request);
}

base::Result<net::HttpResponse> PlayedServer::stream(const net::HttpRequest& request,
                                                     const net::BodySink& sink, std::stop_token) {
  asked_.push_back(request);
  auto response = answer_(request);
  if (response.status >= 200 && response.status <= 299) {
    // In two pieces, as a network may cut it.
    const std::size_t half = response.body.size() / 2;
    if (!sink(response.body.substr(0, half)) || !sink(response.body.substr(half))) {
      return base::fail(base::ErrorCode::kCancelled, "ended by the sink");
    }
    response.body.clear();
  }
  return response;
}

std::vector<std::string> PlayedServer::calls() const {
  std::vector<std::string> calls;
  for (const auto& request : asked_) calls.push_back(request.method + " " + request.target);
  return calls;
}

Ran run_line(const command::Registry& registry, const std::string& line, PlayedServer* server,
             const std::string& input) {
  std::istringstream split(line);
  std::vector<std::string> words;
  for (std::string word; split >> word;) words.push_back(word);
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  ManualClock clock;
  std::unique_ptr<command::Session> session;
  if (server != nullptr) session = std::make_unique<command::Session>(*server, clock, "lab");
  Ran ran;
  ran.code = command::run_program(registry, words, {in, out, err}, clock, {}, std::move(session));
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

}  // namespace gpupool::test
