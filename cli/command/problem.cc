// SPDX-License-Identifier: Apache-2.0
#include "command/problem.h"

#include <algorithm>
#include <array>

#include "screen/plain_text.h"

namespace gpupool::command {
namespace {

// kube::Client begins its messages with the call ("get GpuJob lab/resnet: "), which a person has just typed.
std::string without_call(const std::string& message) {
  static constexpr std::array<std::string_view, 7> kVerbs{"get ",    "list ",   "watch ", "create ",
                                                          "delete ", "update ", "patch "};
  const auto colon = message.find(": ");
  const bool named = std::any_of(kVerbs.begin(), kVerbs.end(),
                                 [&](std::string_view verb) { return message.starts_with(verb); });
  return named && colon != std::string::npos ? message.substr(colon + 2) : message;
}

std::string words_for(const base::Error& error) {
  using base::ErrorCode;
  if (error.code == ErrorCode::kUnauthorized && error.http_status == 401) {
    return "error: You must be logged in to the server (" + without_call(error.message) + ")";
  }
  if (error.http_status > 0 && !error.reason.empty()) {
    return "Error from server (" + error.reason + "): " + without_call(error.message);
  }
  if (error.http_status == 0 && (error.code == ErrorCode::kTransport || error.code == ErrorCode::kTimeout)) {
    return "Unable to connect to the server: " + without_call(error.message);
  }
  return "error: " + (error.http_status > 0 ? without_call(error.message) : error.message);
}

}  // namespace

std::string problem_text(const base::Error& error) { return screen::plain_lines(words_for(error)) + "\n"; }

std::string usage_problem(std::string_view message, std::string_view command) {
  std::string text = "error: " + screen::plain_lines(message) + "\nSee 'kubectl gpupool";
  if (!command.empty()) text += " " + std::string(command);
  return text + " --help' for usage.\n";
}

}  // namespace gpupool::command
