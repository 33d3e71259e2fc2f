// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "failure/failure.h"
#include "transfer/http_message.h"

namespace gpupool::carry {

// What has been mended for one request, so that each is mended once.
struct Amends {
  bool server = false;
  bool credentials = false;
};

// What is added to plain HTTP: here nothing, so a target is a URL. Thread-safe.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::string url(const std::string& target) const { return target; }
  // Headers to add, made anew for each try.
  virtual Outcome<std::vector<Header>> sign(const HttpRequest& /*request*/) { return std::vector<Header>{}; }
  // Whether the answer, which is no 2xx, says how to do better, and it was not tried yet.
  virtual Outcome<bool> amend(const HttpAnswer& /*answer*/, Amends& /*made*/) { return false; }
  // What an answer other than 2xx means, if it says more than its status.
  virtual std::optional<FailureKind> kind(const HttpAnswer& /*answer*/) const { return std::nullopt; }
  // What the server says, for people: its code and message. Any bytes; the caller cuts them.
  virtual std::string explain(const HttpAnswer& answer) const;
  // Signed requests are not for other servers.
  virtual bool follows_redirects() const { return true; }
};

}  // namespace gpupool::carry
