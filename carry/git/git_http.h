// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "failure/failure.h"
#include "git/git_credentials.h"
#include "git/git_url.h"
#include "net/transport.h"

namespace gpupool::carry {

// HTTP of one git repository: its credentials, its redirects, and what its statuses mean. kUnavailable is
// what may pass if it is tried again; kDenied: 401 and 403; kNotFound: 404 and 410; kInvalid: a redirect that
// is not followed, a certificate that is not trusted, or a server that is none of git. Not thread-safe.
class GitHttp {
 public:
  // A failure ends the request and is returned.
  using Sink = std::function<Outcome<void>(std::string_view)>;

  // idle: a request whose answer delivers no byte for so long is given up.
  GitHttp(GitUrl url, GitCredentials credentials, std::chrono::milliseconds idle);
  ~GitHttp();

  // GET info/refs, in protocol 2. Follows at most 5 redirects. To another scheme, host or port the
  // credentials are not sent. Returns the body, at most 64 KiB of it.
  Outcome<std::string> get_refs(base::SteadyTime deadline, const std::stop_token& stop);
  // POST git-upload-pack, to where get_refs() has found the repository. Follows no redirect.
  Outcome<void> post_upload_pack(const std::string& body, const Sink& sink, base::SteadyTime deadline,
                                 const std::stop_token& stop);

  const GitUrl& url() const { return url_; }  // where the repository is, as far as known
  // How long the last answer asks to wait before the next try; zero: it does not say.
  std::chrono::seconds retry_after() const { return retry_after_; }

 private:
  enum class Sign { kNothing, kBasic, kBearer, kTokenAsPassword };
  Outcome<net::HttpResponse> send(net::HttpRequest request, const Sink& sink, base::SteadyTime deadline,
                                  const std::stop_token& stop);
  Outcome<net::HttpResponse> send_signed(const net::HttpRequest& request, const Sink& sink,
                                         base::SteadyTime deadline, const std::stop_token& stop);
  void go_to(const GitUrl& url);
  tl::unexpected<Failure> refused(const net::HttpResponse& response);

  GitUrl url_;
  GitCredentials credentials_;
  std::chrono::milliseconds idle_;
  Sign sign_;
  bool dropped_ = false;  // the credentials, after a redirect
  std::chrono::seconds retry_after_{};
  std::unique_ptr<net::Transport> transport_;
};

}  // namespace gpupool::carry
