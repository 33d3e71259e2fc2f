// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "failure/failure.h"

namespace gpupool::carry {

// Where a repository is.
struct GitUrl {
  std::string origin;   // "https://host:port": in lower case, and without the scheme's own port
  std::string path;     // "/group/name.git": without a slash at the end; may be empty
  bool secure = false;  // https

  std::string text() const { return origin + path; }
};

// kInvalid: no http or https URL, or one with a user, a password, a query or a fragment, which no message
// contains. Pure.
Outcome<GitUrl> parse_git_url(const std::string& url);

// The repository that a redirect of `from`/info/refs names. kInvalid: a bad URL, one that is not of
// info/refs, or http after https. Pure.
Outcome<GitUrl> redirected_git_url(const GitUrl& from, const std::string& location);

}  // namespace gpupool::carry
