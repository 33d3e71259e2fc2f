// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake-kubelet/plugin_client.h"

namespace gpupool::test {

// A registration as it came.
struct Registered {
  std::string version;
  std::string endpoint;
  std::string resource;
  bool prefers = false;        // GetPreferredAllocation is offered in the request
  bool prefers_asked = false;  // and in GetDevicePluginOptions
  std::chrono::steady_clock::time_point when{};
};

// The kubelet's device manager as far as a plugin sees it (pkg/kubelet/cm/devicemanager): removes all sockets
// when it starts, serves Registration, dials plugins back before it answers, reads their lists, and
// disconnects by resource name when a stream ends. Thread-safe.
class FakeKubelet {
 public:
  struct Device {
    bool healthy = true;
    std::optional<std::int64_t> numa_node;
  };

  // directory: the plugin directory; made if absent.
  explicit FakeKubelet(std::string directory);
  ~FakeKubelet();

  void start();
  // Ends all streams. Leaves kubelet.sock behind as a killed kubelet does, or removes it.
  void stop(bool leave_socket = false);
  void restart() {
    stop();
    start();
  }
  // Removes every socket but its own, as somebody's clean-up does.
  void wipe_plugin_sockets();
  // Answers the next registrations with this error; empty: accepts them.
  void refuse_with(std::string message);
  // The old kubelet of 1.20: dials the plugin only after it has answered.
  void dial_late(bool late) { dial_late_ = late; }
  // The end of a stream that was replaced takes the newer registration with it, as kubelets do.
  void late_stream_end(bool late) { late_stream_end_ = late; }

  std::vector<Registered> registrations() const;
  // The devices that the kubelet counts for a resource now; nothing: it does not know the resource.
  std::optional<std::map<std::string, Device>> devices(const std::string& resource) const;
  std::uint64_t lists(const std::string& resource) const;  // messages of the present stream
  bool connected(const std::string& resource) const;
  std::vector<std::string> healthy(const std::string& resource) const;
  PluginClient client(const std::string& resource) const;
  // Ends the stream to a plugin without a word.
  void drop(const std::string& resource);

  // False if it did not become so in 20 s.
  bool wait(const std::function<bool(const FakeKubelet&)>& so) const;

 private:
  class Service;
  struct Endpoint;

  std::string register_plugin(Registered registration);  // the refusal, or empty
  void connect(Registered registration);
  void on_stream(const std::shared_ptr<Endpoint>& endpoint);
  void disconnect(const std::string& resource);  // with the lock held

  const std::string directory_;
  std::atomic<bool> dial_late_{false};
  std::atomic<bool> late_stream_end_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string refusal_;
  std::vector<Registered> registrations_;
  std::map<std::string, std::shared_ptr<Endpoint>> endpoints_;    // by resource
  std::vector<std::shared_ptr<Endpoint>> all_endpoints_;          // also replaced ones, until stop()
  std::map<std::string, std::map<std::string, Device>> devices_;  // by resource and ID
  std::vector<std::thread> late_dials_;
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace gpupool::test
