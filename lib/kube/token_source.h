// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"

namespace gpupool::kube {

// A source of bearer tokens: fixed, a file that is read again, or an exec plugin. Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // Returns the current token; empty: send none. Refreshes it when it is due. If that fails, the old token is
  // used while it is valid.
  virtual base::Result<std::string> token(std::stop_token stop) = 0;
  // Tells the source that the server answered 401 to `rejected`. The source returns another token if it can
  // get one.
  virtual void invalidate(const std::string& rejected) = 0;
};

}  // namespace gpupool::kube
