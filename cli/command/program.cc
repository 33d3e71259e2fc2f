// SPDX-License-Identifier: Apache-2.0
#include "command/program.h"

#include <algorithm>
#include <utility>

#include "command/help.h"
#include "command/problem.h"
#include "screen/plain_text.h"

namespace gpupool::command {
namespace {

using Words = std::vector<std::string>;

bool asks_help(const std::string& word) { return word == "-h" || word == "--help"; }

// The words before --, those after it, and whether help was asked for.
struct Line {
  Words words;
  Words trailing;
  bool has_trailing = false;
  bool help = false;
};

Line split(const Words& all) {
  Line line;
  const auto dashes = std::find(all.begin(), all.end(), "--");
  line.has_trailing = dashes != all.end();
  if (line.has_trailing) line.trailing.assign(std::next(dashes), all.end());
  for (auto word = all.begin(); word != dashes; ++word) {
    if (asks_help(*word)) {
      line.help = true;
    } else {
      line.words.push_back(*word);
    }
  }
  return line;
}

int usage_error(const Streams& streams, const std::string& message, const std::string& command) {
  streams.err << usage_problem(message, command);
  return exit_code::kUsage;
}

int unknown_command(const Registry& registry, const Streams& streams, const std::string& name) {
  std::string message = "unknown command \"" + screen::plain_text(name) + "\" for \"kubectl gpupool\"";
  if (const std::string near = registry.suggestion(name); !near.empty()) {
    message += "\n\nDid you mean this?\n  " + near + "\n";
  }
  return usage_error(streams, message, "");
}

int report(const base::Result<int>& result, const Streams& streams, const std::string& command) {
  if (result) return *result;
  if (result.error().code == base::ErrorCode::kCancelled) return exit_code::kInterrupted;
  if (result.error().code == base::ErrorCode::kInvalidArgument && result.error().http_status == 0) {
    return usage_error(streams, result.error().message, command);
  }
  streams.err << problem_text(result.error());
  return exit_code::kError;
}

int run_command(const Registry& registry, Command& command, const Words& words, const Line& line,
                const Streams& streams, base::Clock& clock, const std::stop_token& stop,
                GeneralFlags& general, std::unique_ptr<Session> session) {
  const auto manual = command.manual();
  Flags flags("kubectl gpupool " + manual.name);
  command.add_flags(flags);
  add_general_flags(flags, general);
  if (line.help) {
    streams.out << command_help(manual, flags);
    return exit_code::kGood;
  }
  if (line.has_trailing && manual.trailing.empty()) {
    return usage_error(streams, manual.name + " takes nothing after --", manual.name);
  }
  if (auto parsed = flags.parse(words); !parsed)
    return usage_error(streams, parsed.error().message, manual.name);
  Context context{.registry = registry,
                  .general = general,
                  .clock = clock,
                  .stop = stop,
                  .in = streams.in,
                  .out = streams.out,
                  .err = streams.err,
                  .terminal = streams.terminal,
                  .asks = streams.asks,
                  .trailing = line.trailing,
                  .opened = std::move(session)};
  return report(command.run(context), streams, manual.name);
}

}  // namespace

base::Result<Session*> Context::session() {
  if (!opened) {
    auto session = Session::open(general, clock);
    if (!session) {
      // A kubeconfig that cannot be used is no mistake on the command line.
      base::Error error = session.error();
      if (error.code == base::ErrorCode::kInvalidArgument) error.code = base::ErrorCode::kIo;
      return tl::unexpected<base::Error>(std::move(error));
    }
    opened = std::move(*session);
  }
  return opened.get();
}

int run_program(const Registry& registry, const Words& words, const Streams& streams, base::Clock& clock,
                const std::stop_token& stop, std::unique_ptr<Session> session) {
  const Line line = split(words);
  GeneralFlags general;
  Flags leading("kubectl gpupool");
  add_general_flags(leading, general);
  auto rest = leading.parse_leading(line.words);
  if (!rest) return usage_error(streams, rest.error().message, "");
  if (rest->empty()) {
    streams.out << overview(registry);
    return exit_code::kGood;
  }
  if (rest->front() == "help") {
    rest->erase(rest->begin());
    if (rest->empty()) {
      streams.out << overview(registry);
      return exit_code::kGood;
    }
  }
  Command* command = registry.find(rest->front());
  if (command == nullptr) return unknown_command(registry, streams, rest->front());
  Line own = line;
  own.help = line.help || (!line.words.empty() && line.words.front() == "help");
  return run_command(registry, *command, Words(std::next(rest->begin()), rest->end()), own, streams, clock,
                     stop, general, std::move(session));
}

}  // namespace gpupool::command
