// SPDX-License-Identifier: Apache-2.0
#include "s3/signer.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "digest/sha256.h"

namespace gpupool::carry::s3 {
namespace {

std::string hmac(const std::string& key, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(), &size);
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4U];
    text += kDigits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

// Values: no space at the ends, and one where several are.
std::string squeezed(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (const char c : value)
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::vector<Header> canonical_headers(const std::vector<Header>& headers) {
  std::vector<Header> canonical;
  canonical.reserve(headers.size());
  for (const Header& header : headers) {
    Header lower{header.name, squeezed(header.value)};
    for (char& c : lower.name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    canonical.push_back(std::move(lower));
  }
  std::stable_sort(canonical.begin(), canonical.end(),
                   [](const Header& one, const Header& other) { return one.name < other.name; });
  return canonical;
}

}  // namespace

std::string amz_date(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

std::string canonical_query(std::string_view query) {
  std::vector<std::string> pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    std::string pair(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    if (pair.find('=') == std::string::npos) pair += '=';
    pairs.push_back(std::move(pair));
  }
  // By name, then by value; '=' must not count, as it is greater than digits and '-'.
  std::sort(pairs.begin(), pairs.end(), [](const std::string& one, const std::string& other) {
    const std::size_t a = one.find('=');
    const std::size_t b = other.find('=');
    const int names = one.compare(0, a, other, 0, b);
    return names != 0 ? names < 0 : one.compare(a, std::string::npos, other, b, std::string::npos) < 0;
  });
  std::string text;
  for (const std::string& pair : pairs) text += (text.empty() ? "" : "&") + pair;
  return text;
}

std::string authorization(const SignedRequest& request, const Key& key, const Scope& scope,
                          const std::string& date) {
  std::string lines;
  std::string names;
  for (const Header& header : canonical_headers(request.headers)) {
    lines += header.name + ":" + header.value + "\n";
    names += (names.empty() ? "" : ";") + header.name;
  }
  const std::string path = request.path.empty() ? "/" : request.path;
  const std::string canonical = request.method + "\n" + path + "\n" + canonical_query(request.query) + "\n" +
                                lines + "\n" + names + "\n" + request.payload_hash;
  const std::string day = date.substr(0, 8);
  const std::string credential = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + date + "\n" + credential + "\n" + digest::sha256_hex(canonical);
  const std::string signing_key =
      hmac(hmac(hmac(hmac("AWS4" + key.secret, day), scope.region), scope.service), "aws4_request");
  return "AWS4-HMAC-SHA256 Credential=" + key.id + "/" + credential + ", SignedHeaders=" + names +
         ", Signature=" + hex(hmac(signing_key, to_sign));
}

}  // namespace gpupool::carry::s3
