// SPDX-License-Identifier: Apache-2.0
#include "transfer/http_credentials.h"

#include <openssl/evp.h>

#include "transfer/secret_directory.h"

namespace gpupool::carry {
namespace {

std::string base64(const std::string& text) {
  std::string encoded(4 * ((text.size() + 2) / 3) + 1, '\0');  // and a zero byte
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  encoded.resize(static_cast<std::size_t>(size));
  return encoded;
}

}  // namespace

Outcome<HttpCredentials> http_credentials(const std::string& directory) {
  HttpCredentials credentials;
  if (directory.empty()) return credentials;
  auto token = secret_line(directory, "token");
  if (!token) return tl::unexpected(token.error());
  auto user = secret_line(directory, "username");
  if (!user) return tl::unexpected(user.error());
  auto password = secret_line(directory, "password");
  if (!password) return tl::unexpected(password.error());
  auto authorities = secret_value(directory, "ca.crt");
  if (!authorities) return tl::unexpected(authorities.error());
  if (*authorities) credentials.ca_pem = std::move(**authorities);
  if (*token && (*user || *password))
    return failed(FailureKind::kInvalid,
                  "the Secret has the key token and also username or password: only one is used");
  if (*token) {
    credentials.headers.push_back({"Authorization", "Bearer " + **token});
  } else if (*user && *password) {
    if ((*user)->find(':') != std::string::npos)
      return failed(FailureKind::kInvalid, "the key username of the Secret has a colon");
    credentials.headers.push_back({"Authorization", "Basic " + base64(**user + ":" + **password)});
  } else if (*user || *password) {
    return failed(FailureKind::kInvalid,
                  std::string("the Secret lacks the key ") + (*user ? "password" : "username"));
  } else if (!*authorities) {
    return failed(FailureKind::kInvalid, "the Secret lacks the key token, or username and password");
  }
  return credentials;
}

}  // namespace gpupool::carry
