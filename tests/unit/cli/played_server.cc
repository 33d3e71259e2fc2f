// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cli/played_server.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/json.h"
#include "command/program.h"
#include "kube/config/environment.h"
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
             const Place& place) {
  std::istringstream split(line);
  std::vector<std::string> words;
  for (std::string word; split >> word;) words.push_back(word);
  std::istringstream in(place.input);
  std::ostringstream out;
  std::ostringstream err;
  ManualClock clock;
  std::unique_ptr<command::Session> session;
  if (server != nullptr) session = std::make_unique<command::Session>(*server, clock, "lab");
  Ran ran;
  ran.code = command::run_program(registry, words, {in, out, err, place.terminal, place.asks}, clock, {},
                                  std::move(session));
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

Ran run_command(std::unique_ptr<command::Command> command, const std::string& line, PlayedServer* server,
                const Place& place) {
  command::Registry registry;
  registry.add("Commands", std::move(command));
  return run_line(registry, line, server, place);
}

net::HttpResponse refusal(int status, const std::string& reason, const std::string& message) {
  return answer(status, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":)" +
                            base::json::quote(reason) + R"(,"message":)" + base::json::quote(message) +
                            R"(,"code":)" + std::to_string(status) + "}");
}

void expect_screen(const std::string& name, const std::string& shown) {
  const std::string path = std::string(SCREENS_FOLDER) + "/" + name + ".txt";
  if (kube::environment("WRITE_SCREENS") == "1") std::ofstream(path) << shown;
  std::ifstream file(path);
  const std::string wanted{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(shown, wanted) << "differs from " << path;
}

}  // namespace gpupool::test
