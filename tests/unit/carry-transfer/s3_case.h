// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "s3/context.h"
#include "s3/session.h"
#include "tests/unit/carry-transfer/download_case.h"

namespace gpupool::carry::s3 {

// A server that is asked for the bucket `data`, with a Secret.
class S3Case : public DownloadCase {
 protected:
  S3Case();

  api::S3Location location() const;
  std::unique_ptr<Session> session();
  Context context() { return {.deadline = clock_.now() + std::chrono::minutes(10), .waiting = waiting_}; }
  Destination destination() { return {root_.get(), budget_}; }
  void put_secret(const std::string& key, const std::string& value) const;
  const std::string& secret() const { return secret_.path(); }
  // The first lines of all requests so far, without HTTP/1.1, in any order if several threads asked.
  std::vector<std::string> lines() const;

 private:
  test::TemporaryFolder secret_;
};

std::string line_of(const std::string& request);
std::string xml_answer(const std::string& status, const std::string& body, const std::string& headers = "");
std::string error_answer(const std::string& status, const std::string& code, const std::string& more = "",
                         const std::string& headers = "");

}  // namespace gpupool::carry::s3
