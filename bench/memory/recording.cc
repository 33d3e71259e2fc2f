// SPDX-License-Identifier: Apache-2.0
#include "bench/memory/recording.h"

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "bench/support/instructions.h"
#include "bench/support/results.h"

namespace gpupool::bench {

base::Result<net::HttpResponse> Recording::send(const net::HttpRequest& /*request*/,
                                                std::stop_token /*stop*/) {
  return base::fail(base::ErrorCode::kTransport, "a recording answers lists and watches only");
}

base::Result<net::HttpResponse> Recording::stream(const net::HttpRequest& request, const net::BodySink& sink,
                                                  std::stop_token stop) {
  if (request.target.find("watch=") == std::string::npos) {
    sink(R"({"metadata":{"resourceVersion":"1"},"items":[]})");
    return net::HttpResponse{.status = 200};
  }
  constexpr std::size_t kPiece = 16384;
  begin_count();
  heap_before_ = heap();
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < bytes_.size(); at += kPiece)
    sink(std::string_view(bytes_).substr(at, kPiece));
  seconds_ = seconds_since(began);
  heap_after_ = heap();
  end_count(name_, count_);
  done_ = true;
  done_.notify_all();
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait(lock, stop, [] { return false; });
  return base::fail(base::ErrorCode::kCancelled, "stopped");
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string events_of(const std::string& line, int count, int objects) {
  const std::string marker = "\"name\":\"";
  const auto at = line.find(marker, line.find("\"metadata\"")) + marker.size();
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes.append(line, 0, at).append("o" + std::to_string(i % objects) + "-").append(line, at).append("\n");
  }
  return bytes;
}

}  // namespace gpupool::bench
