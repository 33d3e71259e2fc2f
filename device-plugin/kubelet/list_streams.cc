#include "kubelet/list_streams.h"

#include <algorithm>
#include <utility>

namespace gpupool::kubelet {

ListStreams::ListStreams(const Offering& offering, std::string resource, std::function<void()> on_change)
    : offering_(offering),
      resource_(std::move(resource)),
      on_change_(std::move(on_change)),
      watcher_([this](const std::stop_token& stop) {
        for (auto seen = offering_.board.current().number; !stop.stop_requested();) {
          poke_all();
          seen = offering_.board.wait_newer(seen, stop).number;
        }
      }) {}

std::shared_ptr<ListStream> ListStreams::open(ListWriter& writer) {
  auto stream = std::make_shared<ListStream>(*this, writer);
  {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    ++opened_;
  }
  stream->poke();
  on_change_();
  return stream;
}

void ListStreams::ended(const ListStream& stream) {
  const std::lock_guard lock(mutex_);  // whoever closes afterwards may take away what on_change_ uses
  std::erase_if(streams_, [&](const auto& other) { return other.get() == &stream; });
  on_change_();
}

ListStreams::Count ListStreams::count() const {
  const std::lock_guard lock(mutex_);
  return {opened_, streams_.size()};
}

void ListStreams::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  poke_all();
}

void ListStreams::poke_all() {
  std::vector<std::shared_ptr<ListStream>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams = streams_;
  }
  for (const auto& stream : streams) stream->poke();
}

bool ListStreams::closing() const {
  const std::lock_guard lock(mutex_);
  return closing_;
}

}  // namespace gpupool::kubelet
