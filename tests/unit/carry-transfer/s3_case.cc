// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/carry-transfer/s3_case.h"

#include <fstream>

namespace gpupool::carry::s3 {

S3Case::S3Case() {
  put_secret("AWS_ACCESS_KEY_ID", "id");
  put_secret("AWS_SECRET_ACCESS_KEY", "hunter2");
}

api::S3Location S3Case::location() const {
  api::S3Location where;
  where.endpoint = server_->url();
  where.bucket = "data";
  return where;
}

std::unique_ptr<Session> S3Case::session() {
  auto opened = Session::open(location(), secret(), clock_);
  return opened ? std::move(*opened) : nullptr;
}

void S3Case::put_secret(const std::string& key, const std::string& value) const {
  std::ofstream(secret_.path() + "/" + key) << value;
}

std::vector<std::string> S3Case::lines() const {
  std::vector<std::string> all;
  for (const auto& request : requests()) all.push_back(line_of(request));
  return all;
}

std::string line_of(const std::string& request) { return request.substr(0, request.find(" HTTP/1.1")); }

std::string xml_answer(const std::string& status, const std::string& body, const std::string& headers) {
  return answer_of(
      status,
      headers + "Content-Type: application/xml\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
      body);
}

std::string error_answer(const std::string& status, const std::string& code, const std::string& more,
                         const std::string& headers) {
  return xml_answer(status,
                    "<Error><Code>" + code + "</Code><Message>of the server</Message>" + more + "</Error>",
                    headers);
}

}  // namespace gpupool::carry::s3
