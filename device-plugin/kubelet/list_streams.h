#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device_plugin_v1beta1.pb.h"
#include "kubelet/offering.h"

namespace gpupool::kubelet {

class ListStream;

// All open ListAndWatch streams of one resource: each gets the list at once and after every change, a slow
// one the newest when it can take it. Thread-safe.
class ListStreams {
 public:
  struct Count {
    std::uint64_t opened = 0;  // ever
    std::uint64_t open = 0;
  };

  // on_change: called on gRPC's threads when a stream has begun or ended; must not block.
  ListStreams(const Offering& offering, std::string resource, std::function<void()> on_change);
  ~ListStreams();  // after close(), and after the gRPC server has ended
  ListStreams(const ListStreams&) = delete;
  ListStreams& operator=(const ListStreams&) = delete;

  // The reactor deletes itself.
  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* open();
  Count count() const;
  // Ends all streams, and new ones at once. The kubelet then takes the devices for unhealthy until somebody
  // registers again; an empty list would have it forget them.
  void close();

 private:
  friend class ListStream;
  void ended(const ListStream* stream);
  void poke_all();
  bool closing() const;

  const Offering& offering_;
  const std::string resource_;
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  bool closing_ = false;
  std::uint64_t opened_ = 0;
  std::vector<std::shared_ptr<ListStream>> streams_;
  std::jthread watcher_;  // last: the others must live while it runs
};

}  // namespace gpupool::kubelet
