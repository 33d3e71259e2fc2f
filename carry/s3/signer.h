// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/http_message.h"

namespace gpupool::carry::s3 {

// AWS Signature Version 4.

struct Key {
  std::string id;
  std::string secret;
};

struct SignedRequest {
  std::string method;
  std::string path = {};   // as in the URL, percent-encoded
  std::string query = {};  // as in the URL, percent-encoded
  std::vector<Header> headers =
      {};                         // those to sign, `host` and `x-amz-date` among them; in any order and case
  std::string payload_hash = {};  // SHA-256 in hex, or UNSIGNED-PAYLOAD
};

struct Scope {
  std::string region;
  std::string service = "s3";
};

// "20150830T123600Z"
std::string amz_date(std::chrono::system_clock::time_point time);

// The value of the header Authorization. date: of amz_date(). Pure.
std::string authorization(const SignedRequest& request, const Key& key, const Scope& scope,
                          const std::string& date);

// The query of a URL, encoded, sorted, and with a '=' for each name.
std::string canonical_query(std::string_view query);

}  // namespace gpupool::carry::s3
