// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/json.h"
#include "kube/config/base64.h"
#include "kube/config/exec_plugin.h"
#include "kube/config/pem.h"

namespace gpupool::kube {
namespace {

struct CredentialStatus {
  std::string token;
  std::string cert;
  std::string key;
  std::optional<base::WallTime> expires;
};
struct CredentialAnswer {
  std::string api_version;
  std::string kind;
  std::optional<CredentialStatus> status;
};

}  // namespace
}  // namespace gpupool::kube

template <>
struct gpupool::base::json::Schema<gpupool::kube::CredentialStatus> {
  using T = kube::CredentialStatus;
  static constexpr auto fields =
      std::array{field<&T::token>("token"), field<&T::cert>("clientCertificateData"),
                 field<&T::key>("clientKeyData"), field<&T::expires>("expirationTimestamp")};
};
template <>
struct gpupool::base::json::Schema<gpupool::kube::CredentialAnswer> {
  using T = kube::CredentialAnswer;
  static constexpr auto fields =
      std::array{field<&T::api_version>("apiVersion"), field<&T::kind>("kind"), field<&T::status>("status")};
};

namespace gpupool::kube {

base::Result<ExecCredential> parse_exec_credential(std::string_view json, const std::string& api_version) {
  using base::ErrorCode;
  const auto answer = base::json::read<CredentialAnswer>(json);
  if (!answer)
    return base::fail(ErrorCode::kParse, "its output is no ExecCredential: " + answer.error().message);
  if (answer->kind != "ExecCredential" || answer->api_version != api_version) {
    return base::fail(ErrorCode::kParse, "its output is '" + answer->api_version + " " + answer->kind +
                                             "', asked for was '" + api_version + " ExecCredential'");
  }
  const std::optional<CredentialStatus>& given = answer->status;
  if (!given) return base::fail(ErrorCode::kParse, "its output has no status");
  const CredentialStatus& status = *given;
  if (status.cert.empty() != status.key.empty()) {
    return base::fail(ErrorCode::kParse,
                      "its output has only one of clientCertificateData and clientKeyData");
  }
  if (status.token.empty() && status.cert.empty()) {
    return base::fail(ErrorCode::kParse, "its output has neither a token nor a client certificate");
  }
  if (!status.cert.empty()) {
    if (auto ok = check_pem(status.cert, "CERTIFICATE", "clientCertificateData"); !ok) {
      return tl::unexpected<base::Error>(ok.error());
    }
    if (auto ok = check_pem(status.key, "PRIVATE KEY", "clientKeyData"); !ok) {
      return tl::unexpected<base::Error>(ok.error());
    }
  }
  return ExecCredential{status.token, status.cert, status.key, status.expires};
}

std::string exec_info_json(const std::string& api_version, const KubeCluster* cluster,
                           const std::string& ca_pem) {
  using base::json::quote;
  std::string json = R"({"apiVersion":)" + quote(api_version) + R"(,"kind":"ExecCredential","spec":{)";
  if (cluster != nullptr) {
    json += R"("cluster":{"server":)" + quote(cluster->server);
    if (!cluster->tls_server_name.empty()) json += R"(,"tls-server-name":)" + quote(cluster->tls_server_name);
    if (cluster->insecure_skip_tls_verify) json += R"(,"insecure-skip-tls-verify":true)";
    if (!ca_pem.empty()) json += R"(,"certificate-authority-data":)" + quote(base64_encode(ca_pem));
    if (!cluster->proxy_url.empty()) json += R"(,"proxy-url":)" + quote(cluster->proxy_url);
    json += "},";
  }
  return json + R"("interactive":false}})";
}

}  // namespace gpupool::kube
