// SPDX-License-Identifier: Apache-2.0
// carry-git-tool: fetches one commit as a line of JSON on its standard input says, and prints what came of it
// as another one.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/heap.h"
#include "files/directories.h"
#include "git/fetch_commit.h"
#include "net/curl_transport.h"

namespace gpupool::carry {
namespace {

const char* name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kDenied:
      return "denied";
    case FailureKind::kNotFound:
      return "not found";
    case FailureKind::kMismatch:
      return "mismatch";
    case FailureKind::kTooLarge:
      return "too large";
    case FailureKind::kInvalid:
      return "invalid";
    case FailureKind::kUnavailable:
      return "unavailable";
    case FailureKind::kStopped:
      return "stopped";
    case FailureKind::kLocal:
      return "local";
  }
  return "";
}

// In KiB. Not that of getrusage(2), which counts the parent's memory before the program began.
long most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr char kPeak[] = "VmHWM:";
    if (line.starts_with(kPeak)) return std::stol(line.substr(sizeof kPeak));
  }
  return -1;
}

int run_tool() {
  base::keep_heap_small();
  const net::CurlGlobal curl;
  const auto in = nlohmann::json::parse(std::cin);
  const auto text = [&](const char* key) { return in.value(key, std::string()); };
  GitRequest request;
  request.location = {text("url"), text("commit"), text("subdirectory")};
  request.path = text("path");
  request.secret_directory = text("secret");
  request.scratch = text("scratch");
  request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(in.value("deadlineMs", 0));
  request.idle = std::chrono::milliseconds(in.value("idleMs", 60'000));
  request.first_wait = std::chrono::milliseconds(in.value("waitMs", 1000));
  const auto root = open_directory(text("root"));
  if (!root) return 2;
  SizeBudget budget(in.value("budget", std::int64_t{1} << 30U));
  const auto tree = fetch_commit(request, root->get(), budget, {});
  nlohmann::json out;
  if (tree) {
    out["digest"] = tree->digest;
    out["files"] = tree->files;
    out["bytes"] = tree->bytes;
  } else {
    out["failure"] = name_of(tree.error().kind);
  }
  out["message"] = tree ? tree->message : tree.error().message;
  out["left"] = budget.left();
  out["maxRssKiB"] = most_memory();
  std::cout << out.dump() << "\n";
  return 0;
}

}  // namespace
}  // namespace gpupool::carry

int main() { return gpupool::carry::run_tool(); }
