// SPDX-License-Identifier: Apache-2.0
#include "net/curl_connection.h"

#include <curl/curl.h>

#include <algorithm>
#include <new>

#include "net/curl_options.h"

namespace gpupool::net {

namespace {

constexpr std::chrono::milliseconds kLongestPoll{60'000};

// For messages. Without the query, which may be long.
std::string describe(const CurlTarget& target, const HttpRequest& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  return request.method + " " + target.url.scheme + "://" + target.url.authority + target.url.prefix + path;
}

CURLcode result_of(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) return message->data.result;
  }
  return CURLE_RECV_ERROR;
}

}  // namespace

void CurlConnection::EasyCleanup::operator()(void* easy) const { curl_easy_cleanup(easy); }
void CurlConnection::MultiCleanup::operator()(void* multi) const { curl_multi_cleanup(multi); }
void CurlConnection::ListCleanup::operator()(curl_slist* list) const { curl_slist_free_all(list); }

CurlConnection::CurlConnection(const CurlTarget& target, std::shared_ptr<const TlsMaterial> tls)
    : target_(target), tls_(std::move(tls)), multi_(curl_multi_init()), easy_(curl_easy_init()) {
  static_assert(CURL_ERROR_SIZE <= sizeof(error_));
  if (!multi_ || !easy_) throw std::bad_alloc();
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, 1L);
}

base::Result<HttpResponse> CurlConnection::perform(CurlExchange& exchange, const std::stop_token& stop) {
  const HttpRequest& request = exchange.request();
  const auto cancelled = [&] {
    return base::fail(base::ErrorCode::kCancelled, describe(target_, request) + ": stopped");
  };
  if (stop.stop_requested()) return cancelled();
  if (auto done = configure(exchange); !done) {
    return base::in_context(std::move(done.error()), describe(target_, request));
  }

  curl_multi_add_handle(multi_.get(), easy_.get());
  const Outcome outcome = run(exchange, stop);
  auto response = finish(exchange, outcome);
  curl_multi_remove_handle(multi_.get(), easy_.get());
  if (exchange.thrown()) std::rethrow_exception(exchange.thrown());
  return response;
}

bool CurlConnection::overrides_server_name() const {
  return target_.url.scheme == "https" && !tls_->server_name.empty();
}

std::string CurlConnection::full_url(const HttpRequest& request) const {
  const BaseUrl& url = target_.url;
  // libcurl takes the name for SNI and verification from the URL. So the URL contains that name, and
  // CURLOPT_CONNECT_TO the real address.
  const std::string authority = overrides_server_name() ? tls_->server_name + ":" + url.port : url.authority;
  return url.scheme + "://" + authority + url.prefix + request.target;
}

base::Result<void> CurlConnection::configure(CurlExchange& exchange) {
  const HttpRequest& request = exchange.request();
  curl_easy_reset(easy_.get());  // keeps the connection
  if (auto done = set_headers(request); !done) return done;

  CurlOptions options(easy_.get());
  error_.front() = 0;
  options.set_error_buffer(error_.data());
  options.set_connection();
  options.set_tls(*tls_);
  options.set_proxy(target_.proxy_url);
  options.set_text(CURLOPT_URL, full_url(request));
  options.set_text(CURLOPT_USERAGENT, target_.user_agent);
  options.set_list(CURLOPT_HTTPHEADER, headers_.get());
  if (overrides_server_name()) {
    connect_to_.reset(curl_slist_append(nullptr, ("::" + target_.url.host + ":" + target_.url.port).c_str()));
    options.set_list(CURLOPT_CONNECT_TO, connect_to_.get());
  }
  // Not for streams: the server's compressor would delay their events.
  if (target_.compression && !exchange.streaming()) options.set_text(CURLOPT_ACCEPT_ENCODING, "gzip");
  options.set_exchange(exchange);
  if (options.error()) return base::fail(base::ErrorCode::kTransport, options.error());
  return {};
}

base::Result<void> CurlConnection::set_headers(const HttpRequest& request) {
  headers_.reset();
  const auto append = [this](const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
    if (!longer) throw std::bad_alloc();
    if (!headers_) headers_.reset(longer);  // later appends keep the first element
  };
  append("Expect:");  // turns off 100-continue, which costs a round trip, or 1 s if the server ignores it
  if (overrides_server_name()) append("Host: " + target_.url.authority);
  for (const Header& header : request.headers) {
    if ((header.name + header.value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return base::fail(base::ErrorCode::kTransport, "header " + header.name + " holds a line break");
    }
    append(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  return {};
}

CurlConnection::Outcome CurlConnection::run(const CurlExchange& exchange, const std::stop_token& stop) {
  using std::chrono::milliseconds;
  const milliseconds idle_limit = exchange.idle_limit();
  CURLM* const multi = multi_.get();
  const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
  while (true) {
    int running = 0;
    curl_multi_perform(multi, &running);
    if (running == 0) return Outcome::kDone;
    if (stop.stop_requested()) return Outcome::kStopped;
    milliseconds wait = kLongestPoll;
    if (idle_limit > milliseconds::zero()) {
      const auto idle = std::chrono::steady_clock::now() - exchange.last_activity();
      if (idle >= idle_limit) return Outcome::kIdle;
      wait = std::min(wait, std::chrono::ceil<milliseconds>(idle_limit - idle));
    }
    curl_multi_poll(multi, nullptr, 0, static_cast<int>(wait.count()), nullptr);
  }
}

base::Result<HttpResponse> CurlConnection::finish(CurlExchange& exchange, Outcome outcome) {
  const auto failed = [&](base::ErrorCode code, const std::string& why) {
    return base::fail(code, describe(target_, exchange.request()) + ": " + why);
  };
  if (outcome == Outcome::kStopped) return failed(base::ErrorCode::kCancelled, "stopped");
  if (outcome == Outcome::kIdle) {
    const auto limit = std::to_string(exchange.idle_limit().count());
    return failed(base::ErrorCode::kTimeout, "no byte for " + limit + " ms");
  }
  const CURLcode code = result_of(multi_.get());
  if (code == CURLE_OK && !exchange.headers_complete()) {
    return failed(base::ErrorCode::kTransport, "the connection ended within the headers");
  }
  if (code == CURLE_OK || exchange.has_enough()) return std::move(exchange.response());
  if (exchange.ended_by_sink()) return failed(base::ErrorCode::kCancelled, "ended by the reader");
  const char* const why = error_.front() ? error_.data() : curl_easy_strerror(code);
  const bool timeout = code == CURLE_OPERATION_TIMEDOUT;
  return failed(timeout ? base::ErrorCode::kTimeout : base::ErrorCode::kTransport, why);
}

}  // namespace gpupool::net
