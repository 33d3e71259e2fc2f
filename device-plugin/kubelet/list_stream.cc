// SPDX-License-Identifier: Apache-2.0
#include "kubelet/list_stream.h"

#include <utility>

#include "kubelet/list_streams.h"
#include "kubelet/messages.h"

namespace gpupool::kubelet {

void ListStream::poke() {
  const base::MutexLock lock(mutex_);
  advance();
}

void ListStream::written(bool ok) {
  const base::MutexLock lock(mutex_);
  writing_ = false;
  if (!ok) cancelled_ = true;
  advance();
}

void ListStream::cancelled() {
  const base::MutexLock lock(mutex_);
  cancelled_ = true;
  advance();
}

// gRPC allows one write at a time, and the end only when none is under way.
void ListStream::advance() {
  if (writing_ || finished_) return;
  if (cancelled_ || owner_.closing()) {
    finished_ = true;
    writer_.finish();
    return;
  }
  const auto current = owner_.context_.latest_table.current();
  if (sent_any_ && current.number == sent_) return;
  auto list = device_list(find_resource(*current.table, owner_.resource_));
  if (list.left_out > 0) {
    owner_.context_.log.error("Too many slices for the kubelet, some are not advertised",
                              {{"resource", owner_.resource_}, {"leftOut", list.left_out}});
  }
  sent_ = current.number;
  auto text = list.message.SerializeAsString();
  if (sent_any_ && text == sent_text_) return;  // another resource has changed, or a reason
  sent_any_ = true;
  sent_text_ = std::move(text);
  writing_ = true;
  message_ = std::move(list.message);
  writer_.write(message_);
}

}  // namespace gpupool::kubelet
