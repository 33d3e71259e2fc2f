// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "device_plugin_v1beta1.pb.h"

namespace gpupool::kubelet {

class ListStreams;

// The gRPC side of a stream. Calls must not block; ListStream makes them with its mutex held.
class ListWriter {
 public:
  virtual ~ListWriter() = default;
  // Starts to send `list`, which does not change until ListStream::written() is called.
  virtual void write(const v1beta1::ListAndWatchResponse& list) = 0;
  // Ends the stream. No write is under way, and no other call follows.
  virtual void finish() = 0;
};

// One open ListAndWatch stream: knows what its reader has got, and decides when the next list is written. At
// most one write is under way at a time. Thread-safe: called by ListStreams' thread and by gRPC's threads.
// `owner` and `writer` outlive it.
class ListStream {
 public:
  ListStream(ListStreams& owner, ListWriter& writer) : owner_(owner), writer_(writer) {}
  ListStream(const ListStream&) = delete;
  ListStream& operator=(const ListStream&) = delete;

  // Something may have changed: the table, or that all streams are to end.
  void poke();
  // The last write is done; not ok: the reader is gone.
  void written(bool ok);
  // The reader wants no more.
  void cancelled();

 private:
  void advance() GPUPOOL_REQUIRES(mutex_);

  ListStreams& owner_;
  ListWriter& writer_;
  base::Mutex mutex_;
  v1beta1::ListAndWatchResponse message_ GPUPOOL_GUARDED_BY(mutex_);
  std::uint64_t sent_ GPUPOOL_GUARDED_BY(mutex_) = 0;  // the table's number
  std::string sent_text_ GPUPOOL_GUARDED_BY(mutex_);
  bool sent_any_ GPUPOOL_GUARDED_BY(mutex_) = false;
  bool writing_ GPUPOOL_GUARDED_BY(mutex_) = false;
  bool cancelled_ GPUPOOL_GUARDED_BY(mutex_) = false;
  bool finished_ GPUPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpupool::kubelet
