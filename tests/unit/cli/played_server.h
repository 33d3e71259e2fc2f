// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "command/registry.h"
#include "net/transport.h"
#include "screen/terminal.h"

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

// Where a line is typed.
struct Place {
  screen::Terminal terminal = {};  // a file
  bool asks = false;               // a person answers questions
  std::string input = {};          // what the person types
};

// Runs the words of the line, split at spaces, in namespace "lab". server: null where the command must ask
// nothing.
Ran run_line(const command::Registry& registry, const std::string& line, PlayedServer* server = nullptr,
             const Place& place = {});

// The same for one command.
Ran run_command(std::unique_ptr<command::Command> command, const std::string& line,
                PlayedServer* server = nullptr, const Place& place = {});

// A terminal of this width.
inline screen::Terminal terminal_with(std::size_t columns, bool colour) {
  return {.live = true, .colour = colour, .columns = columns, .rows = 24};
}

// Compares what is shown with the file screens/NAME.txt. With WRITE_SCREENS=1 in the environment, writes the
// file.
void expect_screen(const std::string& name, const std::string& shown);

inline net::HttpResponse answer(int status, std::string body) {
  return {.status = status, .headers = {}, .body = std::move(body)};
}
// A Status, as the server refuses with.
net::HttpResponse refusal(int status, const std::string& reason, const std::string& message);

}  // namespace gpupool::test
