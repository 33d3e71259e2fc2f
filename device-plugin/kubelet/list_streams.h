// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "kubelet/list_stream.h"
#include "kubelet/plugin_context.h"

namespace gpupool::kubelet {

// All open ListAndWatch streams of one resource. Each stream gets the list of devices at once and after every
// change of the table. A slow reader skips versions: it gets the newest when it can take one. A thread of its
// own waits for changes.
//
// Thread-safe. Streams are opened and ended on gRPC's threads. Locks: a stream's mutex is taken before the
// one here.
class ListStreams {
 public:
  struct Count {
    std::uint64_t opened = 0;  // ever
    std::uint64_t open = 0;
  };

  // on_change: called when a stream has begun or ended, by open() and ended(); must neither block nor ask for
  // the count.
  ListStreams(const PluginContext& context, std::string resource, std::function<void()> on_change);
  ~ListStreams() { close(); }  // when all streams have ended
  ListStreams(const ListStreams&) = delete;
  ListStreams& operator=(const ListStreams&) = delete;

  // Writes the first list at once. The stream's end is to be told to ended(); `writer` lives until then.
  std::shared_ptr<ListStream> open(ListWriter& writer);
  void ended(const ListStream& stream);
  Count count() const;
  // Ends all streams, and new ones at once. The kubelet then takes the devices for unhealthy until somebody
  // registers again; an empty list would have it forget them.
  void close();

 private:
  friend class ListStream;
  void poke_all();
  bool closing() const;

  const PluginContext& context_;
  const std::string resource_;
  const std::function<void()> on_change_;
  mutable base::Mutex mutex_;  // taken after a stream's own
  bool closing_ GPUPOOL_GUARDED_BY(mutex_) = false;
  std::uint64_t opened_ GPUPOOL_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<ListStream>> streams_ GPUPOOL_GUARDED_BY(mutex_);
  std::jthread watcher_;  // last: the others must live while it runs
};

}  // namespace gpupool::kubelet
