// SPDX-License-Identifier: Apache-2.0
#include "net/curl_options.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gpupool::net {

namespace {

// Two options that libcurl 7.88 does not have. With KEEPIDLE 30 s and KEEPINTVL 10 s, a silent peer is given
// up after 60 s, and one that does not acknowledge data after 45 s (client-go's HTTP/2 health check: 30 + 15
// s).
int set_dead_peer_limits(void* /*unused*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const int probes = 3;
  const unsigned unacknowledged_ms = 45'000;
  // If this fails, the kernel's defaults remain; they only take longer.
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
  return CURL_SOCKOPT_OK;
}

// The blob points into `pem`. REQUIRES: `pem` outlives the handle.
curl_blob blob(const std::string& pem) {
  return {.data = const_cast<char*>(pem.data()), .len = pem.size(), .flags = CURL_BLOB_NOCOPY};
}

}  // namespace

template <class T>
void CurlOptions::set(int option, T value) {
  const CURLcode code = curl_easy_setopt(easy_, static_cast<CURLoption>(option), value);
  if (code != CURLE_OK && failed_ == 0) failed_ = static_cast<int>(code);
}

void CurlOptions::set_connection() {
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, 10'000L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 30L);
  set(CURLOPT_TCP_KEEPINTVL, 10L);
  set(CURLOPT_SOCKOPTFUNCTION, &set_dead_peer_limits);
  set(CURLOPT_MAXAGE_CONN, 60L);  // kube-apiserver closes idle connections after 90 s
  // Bounds how long a connection is used after the system's CAs have changed.
  set(CURLOPT_MAXLIFETIME_CONN, 600L);
  set(CURLOPT_CA_CACHE_TIMEOUT, 300L);
  // Without this option, cancelling a request waits for its name lookup.
  set(CURLOPT_QUICK_EXIT, 1L);
}

void CurlOptions::set_tls(const TlsMaterial& tls) {
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(CURLOPT_SSL_VERIFYPEER, tls.insecure_skip_verify ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, tls.insecure_skip_verify ? 0L : 2L);
  if (!tls.ca_pem.empty()) {
    const curl_blob ca = blob(tls.ca_pem);
    set(CURLOPT_CAINFO_BLOB, &ca);
    // The blob replaces only the CA file; the system's CA directory must be turned off separately.
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!tls.client_cert_pem.empty()) {
    const curl_blob cert = blob(tls.client_cert_pem);
    const curl_blob key = blob(tls.client_key_pem);
    set(CURLOPT_SSLCERTTYPE, "PEM");
    set(CURLOPT_SSLCERT_BLOB, &cert);
    set(CURLOPT_SSLKEYTYPE, "PEM");
    set(CURLOPT_SSLKEY_BLOB, &key);
  }
}

void CurlOptions::set_proxy(const std::string& proxy_url) {
  // If unset, libcurl reads https_proxy, HTTPS_PROXY, no_proxy and NO_PROXY from the environment, like
  // client-go.
  if (proxy_url.empty()) return;
  // With socks5, client-go lets the proxy resolve the name; libcurl calls that socks5h.
  const std::string socks = "socks5://";
  const bool is_socks = proxy_url.starts_with(socks);
  set_text(CURLOPT_PROXY, is_socks ? "socks5h://" + proxy_url.substr(socks.size()) : proxy_url);
  set(CURLOPT_NOPROXY, "");
}

void CurlOptions::set_exchange(CurlExchange& exchange) {
  const HttpRequest& request = exchange.request();
  set(CURLOPT_HEADERFUNCTION, &CurlExchange::on_header);
  set(CURLOPT_HEADERDATA, &exchange);
  set(CURLOPT_WRITEFUNCTION, &CurlExchange::on_body);
  set(CURLOPT_WRITEDATA, &exchange);
  if (request.timeout) set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout->count()));

  const bool bodiless = request.method == "GET" || request.method == "HEAD" || request.method == "DELETE";
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (!bodiless || !request.body.empty()) {
    // When a reused connection ends before the first byte of an answer, libcurl sends the request again on a
    // new one, although the server may have acted on it. This is harmless for requests without a body (GET,
    // HEAD, DELETE by name). A body must not be sent twice: it comes from a callback without a seek function,
    // so libcurl cannot rewind it and fails instead.
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &CurlExchange::on_send);
    set(CURLOPT_READDATA, &exchange);
    // An empty body could be sent again, so this request gets a new connection.
    if (request.body.empty()) set(CURLOPT_FRESH_CONNECT, 1L);
  }
  set_text(CURLOPT_CUSTOMREQUEST, request.method);
}

void CurlOptions::set_text(int option, const std::string& value) { set(option, value.c_str()); }

void CurlOptions::set_list(int option, curl_slist* list) { set(option, list); }

void CurlOptions::set_error_buffer(char* buffer) { set(CURLOPT_ERRORBUFFER, buffer); }

const char* CurlOptions::error() const {
  return failed_ == 0 ? nullptr : curl_easy_strerror(static_cast<CURLcode>(failed_));
}

}  // namespace gpupool::net
