#include "kubelet/list_streams.h"

#include <algorithm>
#include <utility>

#include "kubelet/messages.h"

namespace gpupool::kubelet {

// One open stream. gRPC calls the On...() from its own threads, after OnDone() never again.
class ListStream final : public grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse> {
 public:
  explicit ListStream(ListStreams& owner) : owner_(owner) {}

  // Something has changed: the table, or the streams are to end.
  void poke() {
    const std::lock_guard lock(mutex_);
    advance();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok) cancelled_ = true;
    advance();
  }

  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    advance();
  }

  void OnDone() override { owner_.ended(this); }

 private:
  // gRPC allows one write at a time, and Finish() only when none is under way.
  void advance() {
    if (writing_ || finished_) return;
    if (cancelled_ || owner_.closing()) {
      finished_ = true;
      Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the plugin stops"));
      return;
    }
    const auto current = owner_.offering_.board.current();
    if (sent_any_ && current.number == sent_) return;
    const auto* const resource = find_resource(*current.table, owner_.resource_);
    auto list = device_list(resource);
    if (list.left_out > 0) {
      owner_.offering_.log.error("Too many slices for the kubelet, some are not advertised",
                                 {{"resource", owner_.resource_}, {"leftOut", list.left_out}});
    }
    sent_ = current.number;
    auto text = list.message.SerializeAsString();
    if (sent_any_ && text == sent_text_) return;  // another resource has changed, or a reason
    sent_any_ = true;
    sent_text_ = std::move(text);
    writing_ = true;
    message_ = std::move(list.message);
    StartWrite(&message_);
  }

  ListStreams& owner_;
  std::mutex mutex_;
  v1beta1::ListAndWatchResponse message_;  // gRPC reads it until OnWriteDone()
  std::uint64_t sent_ = 0;                 // the table's number
  std::string sent_text_;
  bool sent_any_ = false;
  bool writing_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
};

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

ListStreams::~ListStreams() { close(); }

grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListStreams::open() {
  auto stream = std::make_shared<ListStream>(*this);
  {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    ++opened_;
  }
  stream->poke();
  on_change_();
  return stream.get();
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

void ListStreams::ended(const ListStream* stream) {
  std::shared_ptr<ListStream> last;  // destroyed outside the lock, and not while a poke() runs
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(streams_.begin(), streams_.end(),
                                    [&](const auto& other) { return other.get() == stream; });
    if (found == streams_.end()) return;
    last = std::move(*found);
    streams_.erase(found);
  }
  on_change_();
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
