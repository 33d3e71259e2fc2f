// SPDX-License-Identifier: Apache-2.0
#include "s3/credentials.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "transfer/secret_directory.h"

namespace gpupool::carry::s3 {
namespace {

constexpr char kId[] = "AWS_ACCESS_KEY_ID";
constexpr char kSecret[] = "AWS_SECRET_ACCESS_KEY";
constexpr char kToken[] = "AWS_SESSION_TOKEN";

std::string_view bare(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The names and values of the section [default].
std::map<std::string, std::string> default_profile(std::string_view text) {
  std::map<std::string, std::string> values;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = bare(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      inside = line.back() == ']' && bare(line.substr(1, line.size() - 2)) == "default";
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    std::string name(bare(line.substr(0, equals)));
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    values[name] = bare(line.substr(equals + 1));
  }
  return values;
}

Outcome<Credentials> of_profile(const std::string& text) {
  auto values = default_profile(text);
  for (const char* name : {"aws_access_key_id", "aws_secret_access_key"})
    if (values[name].empty())
      return failed(FailureKind::kInvalid, std::string("the key credentials of the Secret has no ") + name +
                                               " in its section [default]");
  Credentials credentials;
  credentials.key = {values["aws_access_key_id"], values["aws_secret_access_key"]};
  credentials.token = values["aws_session_token"];
  return credentials;
}

// Where the keys of a Secret are.
struct Keys {
  std::function<Outcome<std::optional<std::string>>(const std::string& key)> value;
  std::function<Outcome<std::optional<std::string>>(const std::string& key)> line;  // for a header
};

Outcome<Credentials> credentials_from(const Keys& keys) {
  Credentials credentials;
  auto authorities = keys.value("ca.crt");
  if (!authorities) return tl::unexpected(authorities.error());
  auto id = keys.line(kId);
  if (!id) return tl::unexpected(id.error());
  auto secret = keys.line(kSecret);
  if (!secret) return tl::unexpected(secret.error());
  auto profile = keys.value("credentials");
  if (!profile) return tl::unexpected(profile.error());
  if (*id || *secret) {
    if (!*id || !*secret)
      return failed(FailureKind::kInvalid, std::string("the Secret lacks the key ") + (*id ? kSecret : kId));
    auto token = keys.line(kToken);
    if (!token) return tl::unexpected(token.error());
    credentials.key = {std::move(**id), std::move(**secret)};
    credentials.token = token->value_or("");
  } else if (*profile) {
    auto read = of_profile(**profile);
    if (!read) return read;
    credentials = std::move(*read);
  } else if (!*authorities) {
    return failed(FailureKind::kInvalid, std::string("the Secret lacks the keys ") + kId + " and " + kSecret);
  }
  credentials.ca_pem = authorities->value_or("");
  return credentials;
}

}  // namespace

Outcome<Credentials> read_credentials(const std::string& directory) {
  if (directory.empty()) return Credentials();
  return credentials_from({[&](const std::string& key) { return secret_value(directory, key); },
                           [&](const std::string& key) { return secret_line(directory, key); }});
}

Outcome<Credentials> credentials_of(const std::map<std::string, std::string>& keys) {
  const auto value = [&](const std::string& key) -> Outcome<std::optional<std::string>> {
    const auto at = keys.find(key);
    if (at == keys.end()) return std::optional<std::string>();
    return std::optional<std::string>(without_line_ends(at->second));
  };
  const auto line = [&](const std::string& key) -> Outcome<std::optional<std::string>> {
    auto found = value(key);
    if (!found || !*found) return found;
    if (auto good = check_secret_line(key, **found); !good) return tl::unexpected(good.error());
    return found;
  };
  return credentials_from({value, line});
}

}  // namespace gpupool::carry::s3
