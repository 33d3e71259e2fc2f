// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace gpupool::test {

// Certificates created by openssl(1) in a new folder, which is removed with this object.
class TestCertificates {
 public:
  TestCertificates();
  ~TestCertificates();
  TestCertificates(const TestCertificates&) = delete;
  TestCertificates& operator=(const TestCertificates&) = delete;

  // Creates a certificate authority NAME.
  void make_authority(const std::string& name);
  // Creates a certificate NAME for this subjectAltName ("DNS:x", "IP:127.0.0.1"), signed by an authority.
  void make(const std::string& name, const std::string& alt_name, const std::string& authority);

  std::string cert_path(const std::string& name) const { return (folder_ / (name + ".crt")).string(); }
  std::string key_path(const std::string& name) const { return (folder_ / (name + ".key")).string(); }
  std::string cert(const std::string& name) const;
  std::string key(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

// `openssl s_server -www` on 127.0.0.1: answers every GET with a page about the TLS session.
class OpensslServer {
 public:
  // port 0: a free one. arguments: further arguments of s_server.
  OpensslServer(int port, const std::vector<std::string>& arguments);
  ~OpensslServer();
  OpensslServer(const OpensslServer&) = delete;
  OpensslServer& operator=(const OpensslServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int port_ = 0;
};

}  // namespace gpupool::test
