// SPDX-License-Identifier: Apache-2.0
#include "kube/config/tls_files.h"

#include <sys/stat.h>

#include <utility>

#include "base/read_file.h"
#include "kube/config/pem.h"

namespace gpupool::kube {
namespace {

base::Result<std::string> read_pem(const KubeData& data, std::string_view kind) {
  if (data.empty()) return std::string();
  std::string text = data.text;
  if (text.empty()) {
    auto content = base::read_file(data.path);
    if (!content) return base::in_context(content.error(), data.where);
    text = std::move(*content);
  }
  const std::string where = data.path.empty() ? data.where : data.where + ": " + data.path;
  if (auto ok = check_pem(text, kind, where); !ok) return tl::unexpected<base::Error>(ok.error());
  return text;
}

}  // namespace

TlsFiles::TlsFiles(KubeData ca, KubeData client_cert, KubeData client_key, net::TlsMaterial settings)
    : ca_(std::move(ca)),
      cert_(std::move(client_cert)),
      key_(std::move(client_key)),
      settings_(std::move(settings)) {}

base::Result<net::TlsMaterial> TlsFiles::material() {
  const base::MutexLock lock(mutex_);
  auto now = stamps();
  if (material_ && now == seen_) return *material_;
  auto fresh = read();
  if (!fresh) return fresh;
  // Certificate and key must match. If a file changed while they were read, they are read again at the next
  // call.
  if (stamps() == now) {
    seen_ = std::move(now);
  } else {
    seen_.clear();
  }
  material_ = *fresh;
  return fresh;
}

TlsFiles::Stamp TlsFiles::stamp_of(const KubeData& data) {
  struct stat info{};
  if (data.path.empty() || stat(data.path.c_str(), &info) != 0) return {};
  return {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino};
}

std::vector<TlsFiles::Stamp> TlsFiles::stamps() const {
  return {stamp_of(ca_), stamp_of(cert_), stamp_of(key_)};
}

base::Result<net::TlsMaterial> TlsFiles::read() const {
  net::TlsMaterial material = settings_;
  auto ca = read_pem(ca_, "CERTIFICATE");
  if (!ca) return tl::unexpected<base::Error>(ca.error());
  auto cert = read_pem(cert_, "CERTIFICATE");
  if (!cert) return tl::unexpected<base::Error>(cert.error());
  auto key = read_pem(key_, "PRIVATE KEY");
  if (!key) return tl::unexpected<base::Error>(key.error());
  material.ca_pem = std::move(*ca);
  material.client_cert_pem = std::move(*cert);
  material.client_key_pem = std::move(*key);
  return material;
}

}  // namespace gpupool::kube
