// SPDX-License-Identifier: Apache-2.0
#include "s3/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "digest/sha256.h"
#include "s3/xml.h"
#include "transfer/url.h"

namespace gpupool::carry::s3 {
namespace {

constexpr char kUnsigned[] = "UNSIGNED-PAYLOAD";

std::string error_code(const HttpAnswer& answer) { return xml_text(answer.body, "Error/Code"); }

template <std::size_t N>
bool is_one_of(const std::string& code, const std::array<std::string_view, N>& codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

constexpr std::array<std::string_view, 3> kExpired{"ExpiredToken", "ExpiredTokenException",
                                                   "TokenRefreshRequired"};
constexpr std::array<std::string_view, 5> kDeniedCodes{
    "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed", "AccessDenied"};
constexpr std::array<std::string_view, 4> kBusyCodes{"RequestTimeout", "SlowDown", "InternalError",
                                                     "ServiceUnavailable"};

}  // namespace

Outcome<std::unique_ptr<Session>> Session::open(const api::S3Location& location, std::string secret_directory,
                                                const base::Clock& clock) {
  auto credentials = read_credentials(secret_directory);
  if (!credentials) return tl::unexpected(credentials.error());
  return make(location, std::move(secret_directory), std::move(*credentials), clock);
}

Outcome<std::unique_ptr<Session>> Session::open(const api::S3Location& location, Credentials credentials,
                                                const base::Clock& clock) {
  return make(location, std::string(), std::move(credentials), clock);
}

Outcome<std::unique_ptr<Session>> Session::make(const api::S3Location& location, std::string secret_directory,
                                                Credentials credentials, const base::Clock& clock) {
  auto address = address_of(location);
  if (!address) return tl::unexpected(address.error());
  const std::string region = location.region.empty() ? kDefaultRegion : location.region;
  return std::unique_ptr<Session>(
      new Session(std::move(*address), region, std::move(secret_directory), std::move(credentials), clock));
}

Session::Session(Address address, std::string region, std::string secret_directory, Credentials credentials,
                 const base::Clock& clock)
    : address_(std::move(address)),
      secret_directory_(std::move(secret_directory)),
      clock_(clock),
      trust_(std::make_shared<TrustStore>(credentials.ca_pem)),
      region_(std::move(region)),
      credentials_(std::move(credentials)) {}

std::string Session::url(const std::string& target) const {
  const base::MutexLock lock(mutex_);
  return url_of(address_, region_, target);
}

Outcome<std::vector<Header>> Session::sign(const HttpRequest& request) {
  std::string region;
  Credentials credentials;
  {
    const base::MutexLock lock(mutex_);
    region = region_;
    credentials = credentials_;
  }
  if (credentials.anonymous()) return std::vector<Header>{};
  const bool unsigned_body = request.source != nullptr && request.source->size() > 0;
  const std::string date = amz_date(clock_.wall());
  std::vector<Header> headers{
      {"x-amz-content-sha256", unsigned_body ? kUnsigned : digest::sha256_hex(request.body)},
      {"x-amz-date", date}};
  if (!credentials.token.empty()) headers.push_back({"x-amz-security-token", credentials.token});

  // The URL is one of parse_url(), so it has a path.
  const std::size_t host = request.url.find("://") + 3;
  const std::size_t path = std::min(request.url.find('/', host), request.url.size());
  const std::size_t query = std::min(request.url.find('?', path), request.url.size());
  SignedRequest to_sign{.method = request.method,
                        .path = request.url.substr(path, query - path),
                        .query = query == request.url.size() ? "" : request.url.substr(query + 1),
                        .headers = headers,
                        .payload_hash = headers.front().value};
  to_sign.headers.push_back({"host", request.url.substr(host, path - host)});
  headers.push_back({"Authorization", authorization(to_sign, credentials.key, {.region = region}, date)});
  return headers;
}

Outcome<bool> Session::amend(const HttpAnswer& answer, Amends& made) {
  if (amend_region(answer, made)) return true;
  if (made.credentials || secret_directory_.empty() || !is_one_of(error_code(answer), kExpired)) return false;
  made.credentials = true;
  auto credentials = read_credentials(secret_directory_);
  if (!credentials) return tl::unexpected(credentials.error());
  const base::MutexLock lock(mutex_);
  credentials_ = std::move(*credentials);
  return true;
}

bool Session::amend_region(const HttpAnswer& answer, Amends& made) {
  const int status = answer.status;
  if (made.server || (status != 301 && status != 307 && status != 400 && status != 403)) return false;
  std::string region = answer.header("x-amz-bucket-region");
  if (region.empty()) region = xml_text(answer.body, "Error/Region");
  if (!is_region(region)) return false;
  const base::MutexLock lock(mutex_);
  // If it is the one in use, then maybe another thread has learned it while this request was under way.
  if (region == region_ && !region_learned_) return false;
  made.server = true;
  region_ = std::move(region);
  region_learned_ = true;
  return true;
}

std::optional<FailureKind> Session::kind(const HttpAnswer& answer) const {
  const std::string code = error_code(answer);
  if (is_one_of(code, kExpired) || is_one_of(code, kDeniedCodes)) return FailureKind::kDenied;
  if (is_one_of(code, kBusyCodes)) return FailureKind::kUnavailable;
  return std::nullopt;
}

std::string Session::explain(const HttpAnswer& answer) const {
  const std::string code = error_code(answer);
  if (code.empty()) return Protocol::explain(answer);
  const std::string message = xml_text(answer.body, "Error/Message");
  return message.empty() ? code : code + ": " + message;
}

std::string object_target(std::string_view key, const std::string& query) {
  return "/" + percent_encoded(key, true) + (query.empty() ? "" : "?" + query);
}

std::string bucket_target(const std::string& query) { return "/?" + query; }

}  // namespace gpupool::carry::s3
