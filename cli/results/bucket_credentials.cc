// SPDX-License-Identifier: Apache-2.0
#include "results/bucket_credentials.h"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/read_file.h"
#include "kube/config/base64.h"
#include "kube/config/environment.h"
#include "screen/plain_text.h"

namespace gpupool::results {
namespace {

constexpr api::ResourceType kSecret{"", "v1", "secrets", "Secret", true};

using Keys = std::map<std::string, std::string>;

struct ReadSecret {
  std::map<std::string, std::string> data;  // in base64
};

}  // namespace
}  // namespace gpupool::results

template <>
struct gpupool::base::json::Schema<gpupool::results::ReadSecret> {
  static constexpr auto fields = std::array{field<&results::ReadSecret::data>("data")};
};

namespace gpupool::results {
namespace {

base::Result<Keys> keys_of_secret(command::Session& session, const std::string& secret,
                                  const std::stop_token& stop) {
  auto read = kube::decode<ReadSecret>(session.client().get(kSecret, {session.ns(), secret}, stop));
  if (!read) return tl::unexpected<base::Error>(read.error());
  Keys keys;
  for (const auto& [key, value] : read->data) {
    auto decoded = kube::base64_decode(value);
    if (!decoded)
      return base::fail(base::ErrorCode::kParse,
                        "the key " + key + " of the Secret " + secret + " is no base64");
    keys[key] = *std::move(decoded);
  }
  return keys;
}

bool has_environment() { return !kube::environment("AWS_ACCESS_KEY_ID").empty(); }

base::Result<Keys> keys_of_environment() {
  Keys keys;
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
    auto value = kube::environment(name);
    if (!value.empty()) keys[name] = std::move(value);
  }
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
    if (!keys.contains(name))
      return base::fail(base::ErrorCode::kIo, std::string("the variable ") + name + " is not set");
  }
  if (const auto bundle = kube::environment("AWS_CA_BUNDLE"); !bundle.empty()) {
    auto certificates = base::read_file(bundle, base::kMiB);
    if (!certificates) return base::in_context(certificates.error(), "AWS_CA_BUNDLE");
    keys["ca.crt"] = *std::move(certificates);
  }
  return keys;
}

}  // namespace

base::Result<carry::s3::Credentials> bucket_credentials(command::Session& session, const std::string& secret,
                                                        bool from_environment, std::ostream& notes,
                                                        const std::stop_token& stop) {
  if (secret.empty() && !from_environment) return carry::s3::Credentials();
  auto keys = from_environment ? keys_of_environment() : keys_of_secret(session, secret, stop);
  if (!keys && keys.error().code == base::ErrorCode::kForbidden) {
    if (!has_environment()) {
      base::Error error = keys.error();
      error.message +=
          "; without that right, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to credentials of your own";
      return tl::unexpected<base::Error>(std::move(error));
    }
    notes << "You may not read the Secret " << screen::plain_text(secret)
          << ": taking AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY from the environment\n";
    keys = keys_of_environment();
  }
  if (!keys) return tl::unexpected<base::Error>(keys.error());
  auto credentials = carry::s3::credentials_of(*keys);
  if (!credentials)
    return base::fail(base::ErrorCode::kIo,
                      (from_environment ? "the environment" : secret) + ": " + credentials.error().message);
  return *std::move(credentials);
}

}  // namespace gpupool::results
