// SPDX-License-Identifier: Apache-2.0
#include "transfer/http_connection.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "transfer/http_exchange.h"

namespace gpupool::carry {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestPoll{60'000};
constexpr long kBufferBytes = 256L << 10U;
constexpr std::int64_t kExpectAbove = std::int64_t{1} << 20U;

struct EasyCleanup {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListCleanup {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListCleanup>;

// A peer that does not acknowledge data is given up after 45 s. If this fails, the kernel's limit remains.
int limit_unacknowledged(void* /*unused*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const unsigned limit_ms = 45'000;
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
  return CURL_SOCKOPT_OK;
}

// The store is shared: the authorities of 8 connections would take some 30 MB.
CURLcode use_store(CURL* /*unused*/, void* context, void* store) {
  SSL_CTX_set1_cert_store(static_cast<SSL_CTX*>(context), static_cast<X509_STORE*>(store));
  return CURLE_OK;
}

CURLcode result_of(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left))
    if (message->msg == CURLMSG_DONE) return message->data.result;
  return CURLE_RECV_ERROR;
}

FailureKind kind_of(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return FailureKind::kInvalid;
    default:
      return FailureKind::kUnavailable;
  }
}

}  // namespace

struct HttpConnection::Impl {
  enum class End { kDone, kStopped, kIdle };

  Outcome<void> configure(HttpExchange& exchange);
  Outcome<void> set_headers(const HttpExchange& exchange);
  Outcome<void> set_tls(const std::string& url);
  void set_body(HttpExchange& exchange);
  End run(const HttpExchange& exchange, const std::stop_token& stop);
  Outcome<HttpAnswer> finish(HttpExchange& exchange, End end);
  template <class T>
  void set(CURLoption option, T value) {
    const CURLcode code = curl_easy_setopt(easy.get(), option, value);
    if (code != CURLE_OK && option_error == CURLE_OK) option_error = code;
  }

  std::shared_ptr<const TrustStore> trust;
  CURLcode option_error = CURLE_OK;
  std::array<char, CURL_ERROR_SIZE> error{};
  List headers;
  std::unique_ptr<CURLM, MultiCleanup> multi{curl_multi_init()};
  std::unique_ptr<CURL, EasyCleanup> easy{curl_easy_init()};
};

HttpConnection::HttpConnection(std::shared_ptr<const TrustStore> trust) : impl_(std::make_unique<Impl>()) {
  if (!impl_->multi || !impl_->easy) throw std::bad_alloc();
  impl_->trust = std::move(trust);
  curl_multi_setopt(impl_->multi.get(), CURLMOPT_MAXCONNECTS, 2L);  // a redirecting server, and the other
}

HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;

Outcome<HttpAnswer> HttpConnection::perform(const HttpRequest& request, BodySink* sink,
                                            const std::stop_token& stop) {
  if (stop.stop_requested()) return failed(FailureKind::kStopped, "stopped");
  if (request.time_left <= milliseconds::zero()) return failed(FailureKind::kUnavailable, "the time is over");
  HttpExchange exchange(request, sink);
  if (auto done = impl_->configure(exchange); !done) return tl::unexpected(done.error());
  curl_multi_add_handle(impl_->multi.get(), impl_->easy.get());
  const Impl::End end = impl_->run(exchange, stop);
  auto answer = impl_->finish(exchange, end);
  curl_multi_remove_handle(impl_->multi.get(), impl_->easy.get());
  exchange.rethrow();
  return answer;
}

Outcome<void> HttpConnection::Impl::configure(HttpExchange& exchange) {
  const HttpRequest& request = exchange.request();
  curl_easy_reset(easy.get());  // keeps the connections
  option_error = CURLE_OK;
  error.front() = 0;
  set(CURLOPT_ERRORBUFFER, error.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, 10'000L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_SOCKOPTFUNCTION, &limit_unacknowledged);
  set(CURLOPT_QUICK_EXIT, 1L);  // a stop request does not wait for a name lookup
  // After a failed connection the handle still has its buffer, and libcurl refuses to set the size again.
  curl_easy_setopt(easy.get(), CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_UPLOAD_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_USERAGENT, "gpupool-carry");
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.time_left.count()));
  set(CURLOPT_HEADERFUNCTION, &HttpExchange::on_header);
  set(CURLOPT_HEADERDATA, &exchange);
  set(CURLOPT_WRITEFUNCTION, &HttpExchange::on_body);
  set(CURLOPT_WRITEDATA, &exchange);
  set_body(exchange);
  if (auto done = set_headers(exchange); !done) return done;
  if (auto done = set_tls(request.url); !done) return done;
  if (option_error != CURLE_OK)
    return failed(FailureKind::kInvalid,
                  std::string("the request cannot be made: ") + curl_easy_strerror(option_error));
  return {};
}

void HttpConnection::Impl::set_body(HttpExchange& exchange) {
  const std::string& method = exchange.request().method;
  if (method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (exchange.has_body() || method == "PUT" || method == "POST") {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(exchange.body_size()));
    set(CURLOPT_READFUNCTION, &HttpExchange::on_send);
    set(CURLOPT_READDATA, &exchange);
    set(CURLOPT_SEEKFUNCTION, &HttpExchange::on_seek);
    set(CURLOPT_SEEKDATA, &exchange);
  }
  set(CURLOPT_CUSTOMREQUEST, method.c_str());
}

Outcome<void> HttpConnection::Impl::set_headers(const HttpExchange& exchange) {
  headers.reset();
  const auto append = [this](const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    if (!headers) headers.reset(longer);  // later appends keep the first element
  };
  // For small bodies 100-continue costs a round trip. For large ones libcurl asks for it, so that an error
  // comes before the body is sent.
  if (exchange.body_size() <= kExpectAbove) append("Expect:");
  for (const Header& header : exchange.request().headers) {
    if ((header.name + header.value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
      return failed(FailureKind::kInvalid, "the header " + header.name + " would have a line break");
    append(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  set(CURLOPT_HTTPHEADER, headers.get());
  return {};
}

Outcome<void> HttpConnection::Impl::set_tls(const std::string& url) {
  if (!url.starts_with("https:")) return {};
  auto store = trust->get();
  if (!store) return tl::unexpected(store.error());
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(CURLOPT_CAINFO, static_cast<const char*>(nullptr));
  set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  set(CURLOPT_SSL_CTX_FUNCTION, &use_store);
  set(CURLOPT_SSL_CTX_DATA, *store);
  return {};
}

HttpConnection::Impl::End HttpConnection::Impl::run(const HttpExchange& exchange,
                                                    const std::stop_token& stop) {
  const milliseconds limit = exchange.request().idle;
  CURLM* const handle = multi.get();
  const std::stop_callback wake(stop, [handle] { curl_multi_wakeup(handle); });
  while (true) {
    int running = 0;
    curl_multi_perform(handle, &running);
    if (running == 0) return End::kDone;
    if (stop.stop_requested()) return End::kStopped;
    const auto idle = std::chrono::steady_clock::now() - exchange.last_activity();
    if (idle >= limit) return End::kIdle;
    const auto wait = std::min(kLongestPoll, std::chrono::ceil<milliseconds>(limit - idle));
    curl_multi_poll(handle, nullptr, 0, static_cast<int>(wait.count()), nullptr);
  }
}

Outcome<HttpAnswer> HttpConnection::Impl::finish(HttpExchange& exchange, End end) {
  if (end == End::kStopped) return failed(FailureKind::kStopped, "stopped");
  if (end == End::kIdle) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(exchange.request().idle).count();
    return failed(FailureKind::kUnavailable, "no byte came for " + std::to_string(seconds) + " s");
  }
  const CURLcode code = result_of(multi.get());
  if (exchange.failure()) return tl::unexpected(*exchange.failure());
  if (code == CURLE_OK && !exchange.headers_complete())
    return failed(FailureKind::kUnavailable, "the connection ended within the headers");
  const bool success = exchange.answer().status >= 200 && exchange.answer().status < 300;
  if (exchange.has_enough() && success)
    return failed(FailureKind::kInvalid, "the answer has more than 16 MiB");
  if (code == CURLE_OK || exchange.has_enough()) return std::move(exchange.answer());
  return failed(kind_of(code), error.front() != 0 ? error.data() : curl_easy_strerror(code));
}

}  // namespace gpupool::carry
