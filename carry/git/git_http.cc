// SPDX-License-Identifier: Apache-2.0
#include "git/git_http.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "git/git_advertisement.h"
#include "net/curl_transport.h"

namespace gpupool::carry {
namespace {

constexpr int kMaxRedirects = 5;
constexpr std::size_t kMaxRefs = std::size_t{64} << 10U;  // an answer in protocol 2 has less than 1 KiB
constexpr char kTokenUser[] = "x-access-token";

std::unique_ptr<net::Transport> make_transport(const std::string& origin, const std::string& ca_pem) {
  net::Endpoint endpoint;
  endpoint.url = origin;
  endpoint.compression = false;
  endpoint.tls = [ca_pem]() -> base::Result<net::TlsMaterial> { return net::TlsMaterial{.ca_pem = ca_pem}; };
  // Some servers know a git client by the beginning of this name.
  return std::make_unique<net::CurlTransport>(std::move(endpoint), "git/2.0 gpupool-carry");
}

// libcurl's texts; its codes do not come through net::Transport.
bool is_untrusted(const std::string& message) {
  for (const char* words :
       {"SSL certificate problem", "certificate subject name", "trust anchors", "CA certificate"}) {
    if (message.find(words) != std::string::npos) return true;
  }
  return false;
}

std::string header(const net::HttpResponse& response, const char* name) {
  const auto at = response.headers.find(name);
  return at == response.headers.end() ? std::string() : at->second;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

GitHttp::GitHttp(GitUrl url, GitCredentials credentials, std::chrono::milliseconds idle)
    : url_(std::move(url)),
      credentials_(std::move(credentials)),
      idle_(idle),
      sign_(!credentials_.token.empty()      ? Sign::kBearer
            : !credentials_.username.empty() ? Sign::kBasic
                                             : Sign::kNothing),
      transport_(make_transport(url_.origin, credentials_.ca_pem)) {}

GitHttp::~GitHttp() = default;

Outcome<net::HttpResponse> GitHttp::send(net::HttpRequest request, const Sink& sink,
                                         base::SteadyTime deadline, const std::stop_token& stop) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left <= milliseconds::zero())
    return failed(FailureKind::kUnavailable, "the time for " + url_.text() + " is over");
  request.timeout = left;
  request.idle_timeout = idle_;
  request.headers.push_back({"Git-Protocol", "version=2"});
  std::optional<Failure> own;
  auto response = transport_->stream(
      request,
      [&](std::string_view piece) {
        auto taken = sink(piece);
        if (!taken) own = std::move(taken.error());
        return !own;
      },
      stop);
  if (own) return tl::unexpected(std::move(*own));
  if (response) {
    int seconds = 0;
    const auto text = header(*response, "retry-after");
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    retry_after_ = std::chrono::seconds(std::max(seconds, 0));
    return std::move(*response);
  }
  if (stop.stop_requested()) return failed(FailureKind::kStopped, "stopped while fetching " + url_.text());
  const bool untrusted = is_untrusted(response.error().message);
  return failed(untrusted ? FailureKind::kInvalid : FailureKind::kUnavailable, response.error().message);
}

Outcome<net::HttpResponse> GitHttp::send_signed(const net::HttpRequest& request, const Sink& sink,
                                                base::SteadyTime deadline, const std::stop_token& stop) {
  for (;;) {
    net::HttpRequest own = request;
    const std::string user = credentials_.username.empty() ? kTokenUser : credentials_.username;
    if (sign_ == Sign::kBearer) {
      own.headers.push_back({"Authorization", bearer_authorization(credentials_.token)});
    } else if (sign_ == Sign::kTokenAsPassword) {
      own.headers.push_back({"Authorization", basic_authorization(user, credentials_.token)});
    } else if (sign_ == Sign::kBasic) {
      own.headers.push_back(
          {"Authorization", basic_authorization(credentials_.username, credentials_.password)});
    }
    auto response = send(std::move(own), sink, deadline, stop);
    if (!response || response->status != 401 || sign_ != Sign::kBearer) return response;
    sign_ = Sign::kTokenAsPassword;
  }
}

void GitHttp::go_to(const GitUrl& url) {
  if (url.origin != url_.origin) {
    if (sign_ != Sign::kNothing) dropped_ = true;
    sign_ = Sign::kNothing;
    transport_ = make_transport(url.origin, credentials_.ca_pem);
  }
  url_ = url;
}

tl::unexpected<Failure> GitHttp::refused(const net::HttpResponse& response) {
  const auto status = std::to_string(response.status);
  if (response.status == 401 || response.status == 403) {
    const char* const why =
        dropped_ ? "; the credentials were not sent to it, because the URL of the item redirects "
                   "there: write this URL into the item"
        : sign_ == Sign::kNothing ? "; it wants credentials: name a Secret in the item"
                                  : "; it does not take the credentials of the Secret";
    return failed(FailureKind::kDenied,
                  "the server refuses access to " + url_.text() + " with status " + status + why);
  }
  if (response.status == 404 || response.status == 410)
    return failed(FailureKind::kNotFound, "there is no repository " + url_.text() +
                                              ", or these credentials do not show it (status " + status +
                                              ")");
  if (response.status == 408 || response.status == 429 || response.status >= 500)
    return failed(FailureKind::kUnavailable,
                  "the server of " + url_.text() + " answers with status " + status);
  return speaks_no_git(url_.text() + " (status " + status + ")");
}

Outcome<std::string> GitHttp::get_refs(base::SteadyTime deadline, const std::stop_token& stop) {
  for (int redirects = 0;; ++redirects) {
    net::HttpRequest request;
    request.target = url_.path + "/info/refs?service=git-upload-pack";
    request.headers = {{"Accept", "*/*"}};
    std::string body;
    auto response = send_signed(
        request,
        [&](std::string_view piece) -> Outcome<void> {
          body += piece;
          if (body.size() > kMaxRefs) return speaks_no_git(url_.text());
          return {};
        },
        deadline, stop);
    if (!response) return tl::unexpected(response.error());
    if (is_redirect(response->status)) {
      if (redirects == kMaxRedirects)
        return failed(FailureKind::kInvalid, url_.text() + " is one of more than 5 redirects");
      auto to = redirected_git_url(url_, header(*response, "location"));
      if (!to) return tl::unexpected(to.error());
      go_to(*to);
      continue;
    }
    if (response->status != 200) return refused(*response);
    if (header(*response, "content-type") != "application/x-git-upload-pack-advertisement")
      return speaks_no_git(url_.text());
    return body;
  }
}

Outcome<void> GitHttp::post_upload_pack(const std::string& body, const Sink& sink, base::SteadyTime deadline,
                                        const std::stop_token& stop) {
  net::HttpRequest request;
  request.method = "POST";
  request.target = url_.path + "/git-upload-pack";
  request.body = body;
  request.headers = {{"Content-Type", "application/x-git-upload-pack-request"},
                     {"Accept", "application/x-git-upload-pack-result"}};
  auto response = send_signed(request, sink, deadline, stop);
  if (!response) return tl::unexpected(response.error());
  if (response->status != 200) return refused(*response);
  return {};
}

}  // namespace gpupool::carry
