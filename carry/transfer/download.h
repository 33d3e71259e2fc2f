// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "files/output_file.h"
#include "files/size_budget.h"
#include "transfer/http_connection.h"
#include "transfer/pace.h"
#include "transfer/protocol.h"

namespace gpupool::carry {

// A file to fetch.
struct Download {
  std::string url;                   // with a protocol: the target
  std::vector<Header> headers = {};  // credentials: not sent to other servers that this one redirects to
  std::string path;                  // of the file, below the root
  std::string sha256 = {};           // empty: not checked
  // What the bytes must be, from a listing. Empty: whatever the server has at the first answer.
  std::optional<std::int64_t> size = std::nullopt;
  std::string etag = {};
  bool use_if_match = false;  // the server knows If-Match and may not know If-Range
  base::SteadyTime deadline = {};
  std::chrono::milliseconds idle{60'000};  // a connection without a byte for so long is given up
  int mode = kFileMode;
};

// Streams the file into place, with tries and from where an earlier one stopped, also one of an earlier
// process, as long as the server can say that the object is the same. Redirects are followed, at most 10, but
// not from https to http. Failures are of every kind; messages name the URL without user, password and query.
// Blocks. Thread-safe if each thread has its own connection.
Outcome<WrittenFile> download(HttpConnection& connection, Protocol& protocol, const Download& download,
                              int root, SizeBudget& budget, const Waiting& waiting,
                              const std::stop_token& stop);

// The same over plain HTTP and a connection of its own. trust: null for the system's authorities.
Outcome<WrittenFile> download(const Download& download, int root, SizeBudget& budget, std::stop_token stop,
                              std::shared_ptr<const TrustStore> trust = nullptr);

}  // namespace gpupool::carry
