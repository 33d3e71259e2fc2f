// SPDX-License-Identifier: Apache-2.0
// The S3 client as a program, for the tests against a real server. Prints results as lines of words, and
// failures as "KIND MESSAGE" with exit code 1.
//
// Usage: carry-s3-tool ENDPOINT BUCKET SECRET_DIRECTORY COMMAND ARGUMENTS
#include <fcntl.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "net/curl_transport.h"
#include "s3/fetch.h"
#include "s3/list.h"
#include "s3/upload.h"
#include "transfer/call.h"
#include "transfer/download.h"

namespace gpupool::carry::s3 {
namespace {

using Arguments = std::vector<std::string>;

struct Tool {
  api::S3Location location;
  std::string secret;
  Context context{.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20)};
  SizeBudget budget{std::numeric_limits<std::int64_t>::max()};

  Outcome<std::string> make_bucket(const Arguments& arguments);
  Outcome<std::string> put(const Arguments& arguments);
  Outcome<std::string> remove(const Arguments& arguments);
  Outcome<std::string> keys(const Arguments& arguments);
  Outcome<std::string> get(const Arguments& arguments);
  Outcome<std::string> get_prefix(const Arguments& arguments);
  Outcome<std::string> get_url(const Arguments& arguments);

 private:
  Outcome<std::unique_ptr<Session>> session() const {
    return Session::open(location, secret, *context.waiting.clock);
  }
};

Outcome<std::string> Tool::make_bucket(const Arguments& /*arguments*/) {
  auto opened = session();
  if (!opened) return tl::unexpected(opened.error());
  HttpConnection connection((*opened)->trust());
  const Call put{.method = "PUT", .target = "", .deadline = context.deadline};
  auto answer = call(connection, **opened, put, context.waiting, {});
  if (!answer) return tl::unexpected(answer.error());
  return std::string("made");
}

// FILE KEY [PART_BYTES]
Outcome<std::string> Tool::put(const Arguments& arguments) {
  auto opened = session();
  if (!opened) return tl::unexpected(opened.error());
  HttpConnection connection((*opened)->trust());
  const base::UniqueFd fd(::open(arguments.at(0).c_str(), O_RDONLY | O_CLOEXEC));
  auto done = put_object(**opened, connection, fd.get(), arguments.at(0), arguments.at(1), context);
  if (!done) return tl::unexpected(done.error());
  return std::to_string(done->bytes) + " " + done->sha256;
}

// KEY
Outcome<std::string> Tool::remove(const Arguments& arguments) {
  auto opened = session();
  if (!opened) return tl::unexpected(opened.error());
  HttpConnection connection((*opened)->trust());
  if (auto done = delete_object(**opened, connection, arguments.at(0), context); !done)
    return tl::unexpected(done.error());
  return std::string("removed");
}

// PREFIX
Outcome<std::string> Tool::keys(const Arguments& arguments) {
  auto opened = session();
  if (!opened) return tl::unexpected(opened.error());
  HttpConnection connection((*opened)->trust());
  auto listing = list(**opened, connection, arguments.at(0), context);
  if (!listing) return tl::unexpected(listing.error());
  std::string lines;
  for (std::size_t i = 0; i < listing->size(); ++i)
    lines += std::to_string(listing->at(i).size) + " " + std::string(listing->at(i).key) + "\n";
  return lines;
}

// KEY FOLDER PATH
Outcome<std::string> Tool::get(const Arguments& arguments) {
  auto root = open_directory(arguments.at(1));
  if (!root) return tl::unexpected(root.error());
  location.key = arguments.at(0);
  auto done = fetch_object(location, secret, arguments.at(2), "", {root->get(), budget}, context);
  if (!done) return tl::unexpected(done.error());
  return std::to_string(done->bytes) + " " + done->sha256;
}

// PREFIX FOLDER PATH STATE_FOLDER
Outcome<std::string> Tool::get_prefix(const Arguments& arguments) {
  auto root = open_directory(arguments.at(1));
  if (!root) return tl::unexpected(root.error());
  auto state = open_directory(arguments.at(3));
  if (!state) return tl::unexpected(state.error());
  location.prefix = arguments.at(0);
  auto done = fetch_prefix(location, secret, arguments.at(2), state->get(), {root->get(), budget}, context);
  if (!done) return tl::unexpected(done.error());
  return std::to_string(done->files) + " " + std::to_string(done->bytes) + " " + done->digest;
}

// URL FOLDER PATH: over plain HTTP
Outcome<std::string> Tool::get_url(const Arguments& arguments) {
  auto root = open_directory(arguments.at(1));
  if (!root) return tl::unexpected(root.error());
  const Download wanted{.url = arguments.at(0), .path = arguments.at(2), .deadline = context.deadline};
  auto done = download(wanted, root->get(), budget, {});
  if (!done) return tl::unexpected(done.error());
  return std::to_string(done->bytes) + " " + done->sha256;
}

const char* word(FailureKind kind) {
  switch (kind) {
    case FailureKind::kDenied:
      return "denied";
    case FailureKind::kNotFound:
      return "not-found";
    case FailureKind::kMismatch:
      return "mismatch";
    case FailureKind::kTooLarge:
      return "too-large";
    case FailureKind::kInvalid:
      return "invalid";
    case FailureKind::kUnavailable:
      return "unavailable";
    case FailureKind::kStopped:
      return "stopped";
    case FailureKind::kLocal:
      return "local";
  }
  return "unknown";
}

int run(const Arguments& words) {
  const std::map<std::string, Outcome<std::string> (Tool::*)(const Arguments&)> commands{
      {"make-bucket", &Tool::make_bucket},
      {"put", &Tool::put},
      {"delete", &Tool::remove},
      {"list", &Tool::keys},
      {"get", &Tool::get},
      {"get-prefix", &Tool::get_prefix},
      {"get-url", &Tool::get_url}};
  const net::CurlGlobal curl;
  Tool tool{.location = {}, .secret = words.at(2)};
  tool.location.endpoint = words.at(0);
  tool.location.bucket = words.at(1);
  const auto done = (tool.*commands.at(words.at(3)))(Arguments(words.begin() + 4, words.end()));
  if (done) {
    std::cout << *done << "\n";
    return 0;
  }
  std::cout << word(done.error().kind) << " " << done.error().message << "\n";
  return 1;
}

}  // namespace
}  // namespace gpupool::carry::s3

int main(int argc, char** argv) { return gpupool::carry::s3::run({argv + 1, argv + argc}); }
