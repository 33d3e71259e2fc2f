// Recorded events through one watch into the cache and the queue, without a network: bench_watch DIRECTORY
// [--smoke].
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "api/core/pod.h"
#include "bench/support/allocations.h"
#include "bench/support/results.h"
#include "runtime/cache/informer.h"
#include "runtime/queue/work_queue.h"

namespace {

using namespace gpupool;

// An API server with no objects and one long watch, in pieces as TLS records bring them.
class Recording final : public net::Transport {
 public:
  explicit Recording(const std::string& bytes) : bytes_(bytes) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest&, std::stop_token) override {
    return net::HttpResponse{200, {}, R"({"metadata":{"resourceVersion":"1"},"items":[]})"};
  }

  base::Result<net::HttpResponse> stream(const net::HttpRequest&, const net::BodySink& sink,
                                         std::stop_token stop) override {
    constexpr std::size_t kPiece = 16384;
    heap_before_ = bench::heap();
    began_ = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < bytes_.size(); at += kPiece) {
      sink(std::string_view(bytes_).substr(at, kPiece));
    }
    seconds_ = bench::seconds_since(began_);
    heap_after_ = bench::heap();
    done_ = true;
    done_.notify_all();
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, stop, [] { return false; });
    return base::fail(base::ErrorCode::kCancelled, "stopped");
  }

  void wait() { done_.wait(false); }
  double seconds() const { return seconds_; }
  std::int64_t allocations() const { return heap_after_.calls - heap_before_.calls; }

 private:
  const std::string& bytes_;
  std::atomic<bool> done_ = false;
  std::chrono::steady_clock::time_point began_;
  double seconds_ = 0;
  bench::Heap heap_before_;
  bench::Heap heap_after_;
};

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The recorded event for so many objects in turn, each with versions that grow.
std::string events_of(const std::string& line, int count, int objects) {
  const std::string marker = "\"name\":\"";
  const auto at = line.find(marker, line.find("\"metadata\"")) + marker.size();
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes += line.substr(0, at) + "o" + std::to_string(i % objects) + "-" + line.substr(at) + "\n";
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int count = argc > 2 && std::strcmp(argv[2], "--smoke") == 0 ? 1000 : 50000;
  const auto bytes = events_of(read_line(std::string(argv[1]) + "/pod.json"), count, 1000);
  Recording recording(bytes);
  base::SystemClock clock;
  base::Metrics metrics;
  const auto log = base::Log::none();
  kube::Client client(recording, nullptr, clock, metrics, {});
  runtime::WorkQueue queue(clock, std::chrono::seconds(1));
  runtime::Informer<api::Pod> informer(client, {}, clock, metrics, log);
  informer.on_change(
      [&](const runtime::Change<api::Pod>& change) { queue.add(change.after->metadata.key()); });
  std::jthread thread([&](std::stop_token stop) { informer.reflector().run(std::move(stop)); });
  recording.wait();
  bench::Results results("watch");
  results.value("pod events through a watch", count / recording.seconds(), "events/s");
  results.value("allocations an event", static_cast<double>(recording.allocations()) / count, "allocations");
  if (informer.store().size() != 1000 || queue.depth() != 1000) results.value("events were lost", 1, "error");
  results.print();
}
