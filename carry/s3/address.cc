// SPDX-License-Identifier: Apache-2.0
#include "s3/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "transfer/refusal.h"
#include "transfer/url.h"

namespace gpupool::carry::s3 {
namespace {

bool is_small(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_bucket(const std::string& name) {
  if (name.size() < 3 || name.size() > 63) return false;
  if (!is_small(name.front()) || !is_small(name.back()) || name.find("..") != std::string::npos) return false;
  in_addr address{};
  if (::inet_pton(AF_INET, name.c_str(), &address) == 1) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_small(c) || c == '.' || c == '-'; });
}

}  // namespace

bool is_region(const std::string& text) {
  return !text.empty() && text.size() <= 40 &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_small(c) || c == '-'; });
}

Outcome<Address> address_of(const api::S3Location& location) {
  if (!is_bucket(location.bucket))
    return failed(FailureKind::kInvalid,
                  "the bucket's name " + for_message(location.bucket) +
                      " is not of 3 to 63 lower-case letters, digits, dots and hyphens");
  // Other servers name their regions as they like, but it is a part of what is signed.
  const bool odd = location.region.find_first_of(" /,\r\n") != std::string::npos;
  if (odd || (location.endpoint.empty() && !location.region.empty() && !is_region(location.region)))
    return failed(FailureKind::kInvalid,
                  "the region " + for_message(location.region) + " is no name of a region");
  Address address{.endpoint = "", .bucket = location.bucket};
  if (location.endpoint.empty()) return address;
  auto url = parse_url(location.endpoint);
  if (!url) return failed(url.error().kind, "endpoint: " + url.error().message);
  if (url->text != url->shown) return failed(FailureKind::kInvalid, "endpoint: the URL has a query");
  address.endpoint = std::move(url->text);
  while (address.endpoint.ends_with('/')) address.endpoint.pop_back();
  return address;
}

std::string url_of(const Address& address, const std::string& region, const std::string& target) {
  if (!address.endpoint.empty()) return address.endpoint + "/" + address.bucket + target;
  const std::string host =
      "s3." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
  if (address.bucket.find('.') != std::string::npos) return "https://" + host + "/" + address.bucket + target;
  return "https://" + address.bucket + "." + host + target;
}

}  // namespace gpupool::carry::s3
