// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/scripted_server.h"

namespace gpupool::test {

// A server of S3 with one bucket, `models`. Thread-safe.
class BucketStub {
 public:
  BucketStub();
  std::string url() const { return server_.url(); }
  void put(const std::string& key, const std::string& content);
  // Puts the files under the prefix with a manifest, as gpupool-carry does.
  void put_results(const std::string& prefix, const std::string& head,
                   const std::map<std::string, std::string>& files);
  // Keys of the objects that were read, sorted.
  std::vector<std::string> read() const;
  // Requests with this text in them.
  int requests_with(const std::string& text) const;

 private:
  void serve(Peer& peer);
  std::string answer_to(const std::string& request);

  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::vector<std::string> requests_;
  std::vector<std::string> read_;
  ScriptedServer server_;
};

}  // namespace gpupool::test
