// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/carry-transfer/download_case.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpupool::carry {

base::SteadyTime JumpingClock::now() const {
  const std::lock_guard lock(mutex_);
  return base::SteadyTime(std::chrono::hours(1)) + elapsed_;
}

base::WallTime JumpingClock::wall() const { return base::WallTime(std::chrono::seconds(1767323045)); }

bool JumpingClock::wait(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable_any& /*changed*/,
                        std::stop_token stop, std::optional<base::SteadyTime> deadline,
                        const std::function<bool()>& ready) {
  const auto before = now();
  const std::lock_guard lock(mutex_);
  if (!stop.stop_requested() && deadline && *deadline > before) {
    elapsed_ += *deadline - before;
    waits_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - before));
  }
  return ready();
}

std::vector<std::chrono::milliseconds> JumpingClock::waits() const {
  const std::lock_guard lock(mutex_);
  return waits_;
}

void DownloadCase::serve(Answer answer) {
  server_ = std::make_unique<test::ScriptedServer>([this, answer = std::move(answer)](test::Peer& peer) {
    const std::string request = peer.read_request();
    if (request.empty()) return;
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      number = static_cast<int>(requests_.size());
    }
    answer(peer, request, number);
  });
}

Download DownloadCase::wanted() const {
  return {.url = server_->url() + "/data.bin?key=hidden",
          .path = "data.bin",
          .deadline = clock_.now() + std::chrono::minutes(10)};
}

Outcome<WrittenFile> DownloadCase::fetch(const Download& download, std::stop_token stop) {
  HttpConnection connection(std::make_shared<TrustStore>(""));
  Protocol plain;
  return carry::download(connection, plain, download, root_.get(), budget_, waiting_, stop);
}

std::string DownloadCase::content(const std::string& name) const {
  const std::ifstream file(folder_.path() + "/" + name);
  if (!file) return "none";
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void DownloadCase::leave_part(const std::string& version, std::string_view bytes) {
  SizeBudget plenty(1'000'000);
  auto file = OutputFile::open(root_.get(), "data.bin", version, plenty);
  ASSERT_TRUE(file && file->write(bytes));
}

std::size_t DownloadCase::files() const {
  const std::filesystem::directory_iterator all(folder_.path());
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::vector<std::string> DownloadCase::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::string header_of(const std::string& request, const std::string& name) {
  const std::size_t found = request.find("\r\n" + name + ": ");
  if (found == std::string::npos) return "none";
  const std::size_t begin = found + name.size() + 4;
  return request.substr(begin, request.find("\r\n", begin) - begin);
}

std::string answer_of(const std::string& status, const std::string& headers, std::string_view body) {
  return "HTTP/1.1 " + status + "\r\n" + headers + "Connection: close\r\n\r\n" + std::string(body);
}

std::string cut_answer(const std::string& etag, std::string_view body, std::size_t sent) {
  const std::string tag = etag.empty() ? "" : "ETag: " + etag + "\r\n";
  return answer_of("200 OK", tag + "Content-Length: " + std::to_string(body.size()) + "\r\n",
                   body.substr(0, sent));
}

std::string range_answer(const std::string& request, const std::string& etag, std::string_view body) {
  const std::string range = header_of(request, "Range");
  if (range == "none") return cut_answer(etag, body, body.size());
  const auto first = static_cast<std::size_t>(std::stoul(range.substr(6)));
  const auto rest = body.substr(first);
  return answer_of("206 Partial Content",
                   "ETag: " + etag + "\r\nContent-Length: " + std::to_string(rest.size()) +
                       "\r\nContent-Range: bytes " + std::to_string(first) + "-" +
                       std::to_string(body.size() - 1) + "/" + std::to_string(body.size()) + "\r\n",
                   rest);
}

}  // namespace gpupool::carry
