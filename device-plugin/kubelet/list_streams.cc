// SPDX-License-Identifier: Apache-2.0
#include "kubelet/list_streams.h"

#include <algorithm>
#include <utility>

namespace gpupool::kubelet {

ListStreams::ListStreams(const PluginContext& context, std::string resource, std::function<void()> on_change)
    : context_(context),
      resource_(std::move(resource)),
      on_change_(std::move(on_change)),
      watcher_([this](const std::stop_token& stop) {
        for (auto seen = context_.latest_table.current().number; !stop.stop_requested();) {
          poke_all();
          seen = context_.latest_table.wait_newer(seen, stop).number;
        }
      }) {}

std::shared_ptr<ListStream> ListStreams::open(ListWriter& writer) {
  auto stream = std::make_shared<ListStream>(*this, writer);
  {
    const base::MutexLock lock(mutex_);
    streams_.push_back(stream);
    ++opened_;
  }
  stream->poke();
  on_change_();
  return stream;
}

void ListStreams::ended(const ListStream& stream) {
  const base::MutexLock lock(mutex_);  // whoever closes afterwards may take away what on_change_ uses
  std::erase_if(streams_, [&](const auto& other) { return other.get() == &stream; });
  on_change_();
}

ListStreams::Count ListStreams::count() const {
  const base::MutexLock lock(mutex_);
  return {opened_, streams_.size()};
}

void ListStreams::close() {
  {
    const base::MutexLock lock(mutex_);
    closing_ = true;
  }
  poke_all();
}

void ListStreams::poke_all() {
  std::vector<std::shared_ptr<ListStream>> streams;
  {
    const base::MutexLock lock(mutex_);
    streams = streams_;
  }
  for (const auto& stream : streams) stream->poke();
}

bool ListStreams::closing() const {
  const base::MutexLock lock(mutex_);
  return closing_;
}

}  // namespace gpupool::kubelet
