// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device_plugin_v1beta1.pb.h"

namespace gpupool::test {

// What a plugin answered: either an error or a response.
template <class Response>
struct Reply {
  int code = 0;  // gRPC's; 0 is OK
  std::string message;
  Response response;
  bool ok() const { return code == 0; }
};

// Calls a plugin as the kubelet does: over its socket, with messages of 4 MiB at most. Thread-safe.
class PluginClient {
 public:
  explicit PluginClient(const std::string& socket);
  ~PluginClient();

  Reply<v1beta1::DevicePluginOptions> options();
  Reply<v1beta1::AllocateResponse> allocate(const std::vector<std::string>& ids);
  Reply<v1beta1::AllocateResponse> allocate(const v1beta1::AllocateRequest& request);
  // Sends these bytes as an AllocateRequest, whatever they are; returns gRPC's code.
  int allocate_bytes(const std::string& bytes);
  Reply<v1beta1::PreferredAllocationResponse> prefer(const std::vector<std::string>& available,
                                                     const std::vector<std::string>& must_include, int size);
  Reply<v1beta1::PreStartContainerResponse> pre_start(const std::vector<std::string>& ids);

 private:
  friend class ListStreamReader;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// One ListAndWatch stream, read by a thread of its own. Thread-safe.
class ListStreamReader {
 public:
  using Devices = std::map<std::string, v1beta1::Device>;  // by ID

  // on_change: called on the reading thread after every message and at the end.
  explicit ListStreamReader(const PluginClient& client, std::function<void()> on_change = [] {});
  ~ListStreamReader();  // cancels the stream

  Devices devices() const;
  std::uint64_t messages() const;
  bool ended() const;
  int end_code() const;  // gRPC's, once ended
  void cancel();
  // A reader that is held takes nothing more from the connection.
  void hold();
  void go_on();
  // False if it did not become so in 20 s.
  bool wait(const std::function<bool(const ListStreamReader&)>& so) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::test
