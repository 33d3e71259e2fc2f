// SPDX-License-Identifier: Apache-2.0
#include "git/git_credentials.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/read_file.h"

namespace gpupool::carry {
namespace {

Outcome<std::string> read_key(const std::string& directory, const char* key) {
  const auto path = directory + "/" + key;
  if (::access(path.c_str(), F_OK) != 0) return std::string();
  auto text = base::read_file(path, base::kMiB);
  if (!text) return failed(FailureKind::kLocal, "cannot read the key " + std::string(key) + " of the Secret");
  return base::trimmed(*text);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto three = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8U | (j < three.size() ? static_cast<unsigned char>(three[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= three.size() ? kDigits[bits >> (18U - 6U * j) & 63U] : '=';
  }
  return text;
}

}  // namespace

Outcome<GitCredentials> read_git_credentials(const std::string& directory) {
  GitCredentials credentials;
  if (directory.empty()) return credentials;
  const auto bad = [](const std::string& why) { return failed(FailureKind::kInvalid, "the Secret " + why); };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  for (const auto& [key, value] :
       {std::pair{"username", &GitCredentials::username}, std::pair{"password", &GitCredentials::password},
        std::pair{"token", &GitCredentials::token}, std::pair{"ca.crt", &GitCredentials::ca_pem}}) {
    auto text = read_key(directory, key);
    if (!text) return tl::unexpected(text.error());
    if (value != &GitCredentials::ca_pem && std::any_of(text->begin(), text->end(), is_control))
      return bad("has a line break or another control character within its key " + std::string(key));
    credentials.*value = std::move(*text);
  }
  const bool user = !credentials.username.empty();
  if (user && credentials.password.empty() && credentials.token.empty())
    return bad("has the key username, but neither password nor token");
  if (!user && credentials.token.empty() && !credentials.password.empty())
    return bad("has the key password, but not username");
  if (credentials.username.find(':') != std::string::npos) return bad("has a colon within its key username");
  if (!user && credentials.token.empty() && credentials.ca_pem.empty())
    return bad("has none of the keys username and password, token, and ca.crt");
  return credentials;
}

std::string basic_authorization(const std::string& username, const std::string& password) {
  return "Basic " + base64(username + ":" + password);
}

std::string bearer_authorization(const std::string& token) { return "Bearer " + token; }

}  // namespace gpupool::carry
