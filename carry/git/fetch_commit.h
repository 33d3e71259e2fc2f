// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include "api/v1alpha1/job_data.h"
#include "base/clock.h"
#include "failure/failure.h"
#include "files/size_budget.h"

namespace gpupool::carry {

struct GitRequest {
  api::GitLocation location;
  std::string path;              // of the directory that gets the tree, below `root`
  std::string secret_directory;  // with the keys username, password, token, ca.crt; empty: none
  std::string scratch;           // an existing directory for the pack, which is removed at the end
  base::SteadyTime deadline;
  std::chrono::milliseconds idle = std::chrono::seconds(60);  // without a byte, a request is tried again
  std::chrono::milliseconds first_wait =
      std::chrono::seconds(1);  // before the second try; then longer, to 30 s
};

struct GitTree {
  std::string digest;  // "git:COMMIT"
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string message;  // for people: what was left out; often empty
};

// Fetches one commit of a repository over http or https, without its history, and writes its tree, or a
// subdirectory of it. The directory is there whole or not at all; one that was there is replaced. The tree's
// bytes count against the budget; the pack may have twice the bytes that are left. Submodules are left out.
// What may pass is tried again until the deadline. Blocks; a stop request ends it (kStopped).
//
// kDenied: the credentials; kNotFound: no such repository, commit or subdirectory; kInvalid: a wrong request,
// a server that does not speak git protocol 2, an untrusted certificate, or a tree with a path or link that
// is refused; kTooLarge; kUnavailable: not until the deadline. Memory: about 25 MiB, and the largest
// file as a whole, more if the server sends it as a difference to another; a file may have at most 2 GiB.
// Thread-safe for different paths.
//
// REQUIRES: a net::CurlGlobal.
Outcome<GitTree> fetch_commit(const GitRequest& request, int root, SizeBudget& budget, std::stop_token stop);

}  // namespace gpupool::carry
