#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "device_plugin_v1beta1.pb.h"

namespace gpupool::kubelet {

class ListStreams;

// The connection of a stream: does what it is told and waits for nothing.
class ListWriter {
 public:
  virtual ~ListWriter() = default;
  // Begins to send `list`, which stays as it is until ListStream::written() is called.
  virtual void write(const v1beta1::ListAndWatchResponse& list) = 0;
  // Ends the stream; nothing is being written, and this is the last call.
  virtual void finish() = 0;
};

// One open ListAndWatch stream: knows what its reader has, and when something is to be written. Thread-safe.
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
  void advance();

  ListStreams& owner_;
  ListWriter& writer_;
  std::mutex mutex_;
  v1beta1::ListAndWatchResponse message_;
  std::uint64_t sent_ = 0;  // the table's number
  std::string sent_text_;
  bool sent_any_ = false;
  bool writing_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
};

}  // namespace gpupool::kubelet
