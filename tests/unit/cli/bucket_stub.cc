// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cli/bucket_stub.h"

#include <algorithm>

#include "digest/sha256.h"

namespace gpupool::test {

BucketStub::BucketStub() : server_([this](Peer& peer) { serve(peer); }) {}

void BucketStub::put(const std::string& key, const std::string& content) {
  const std::lock_guard lock(mutex_);
  objects_[key] = content;
}

void BucketStub::put_results(const std::string& prefix, const std::string& head,
                             const std::map<std::string, std::string>& files) {
  std::string list;
  for (const auto& [path, content] : files) {
    put(prefix + path, content);
    list += (list.empty() ? "" : ",") + std::string(R"({"path":")") + path + R"(","bytes":)" +
            std::to_string(content.size()) + R"(,"sha256":")" + digest::sha256_hex(content) + R"("})";
  }
  put(prefix + "manifest.json", R"({"complete":true,)" + head + R"(,"files":[)" + list + "]}");
}

std::vector<std::string> BucketStub::read() const {
  const std::lock_guard lock(mutex_);
  auto keys = read_;
  std::ranges::sort(keys);
  return keys;
}

int BucketStub::requests_with(const std::string& text) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::ranges::count_if(
      requests_, [&](const std::string& request) { return request.find(text) != std::string::npos; }));
}

void BucketStub::serve(Peer& peer) {
  for (auto request = peer.read_request(); !request.empty(); request = peer.read_request())
    if (!peer.write(answer_to(request))) return;
}

std::string BucketStub::answer_to(const std::string& request) {
  static const std::string kBucket = "GET /models/";
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  const std::string none = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  if (!request.starts_with(kBucket)) return none;
  const auto key = request.substr(kBucket.size(), request.find(' ', kBucket.size()) - kBucket.size());
  if (key.starts_with("?")) {
    std::string prefix = key.substr(key.find("&prefix=") + 8);
    for (auto at = prefix.find("%2F"); at != std::string::npos; at = prefix.find("%2F"))
      prefix.replace(at, 3, "/");
    std::string list = "<ListBucketResult><IsTruncated>false</IsTruncated>";
    for (const auto& [name, content] : objects_) {
      if (!name.starts_with(prefix)) continue;
      list += "<Contents><Key>" + name + "</Key><Size>" + std::to_string(content.size()) + "</Size><ETag>\"" +
              digest::sha256_hex(content) + "\"</ETag></Contents>";
    }
    return ok(list + "</ListBucketResult>");
  }
  const auto object = objects_.find(key);
  if (object == objects_.end()) return none;
  read_.push_back(key);
  return ok(object->second, "ETag: \"" + digest::sha256_hex(object->second) + "\"\r\n");
}

}  // namespace gpupool::test
