#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"

namespace gpupool::kube {

// Where bearer tokens come from: fixed, a file that is re-read, or an exec plugin. Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // The current token; empty: send none. Refreshes by itself when it is due; a failed refresh keeps the old
  // token while it is valid.
  virtual base::Result<std::string> token(std::stop_token stop) = 0;
  // The server answered 401 to `rejected`: do not hand it out again if there is a newer one to be had.
  virtual void invalidate(const std::string& rejected) = 0;
};

}  // namespace gpupool::kube
