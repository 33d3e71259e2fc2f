// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"
#include "transfer/download.h"

namespace gpupool::carry {

// Time that jumps to the end of each wait.
class JumpingClock final : public base::Clock {
 public:
  base::SteadyTime now() const override;
  base::WallTime wall() const override;
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<base::SteadyTime> deadline, const std::function<bool()>& ready) override;

  std::vector<std::chrono::milliseconds> waits() const;

 private:
  mutable std::mutex mutex_;
  base::Duration elapsed_{};
  std::vector<std::chrono::milliseconds> waits_;
};

// A server that answers requests by number (from 1), and a folder to download into. Each connection has one
// request.
class DownloadCase : public testing::Test {
 protected:
  using Answer = std::function<void(test::Peer& peer, const std::string& request, int number)>;

  void TearDown() override { server_.reset(); }  // its threads use what the test has
  void serve(Answer answer);
  // A download of /data.bin to data.bin that has ten minutes.
  Download wanted() const;
  Outcome<WrittenFile> fetch(const Download& download, std::stop_token stop = {});
  // The content of a file in the folder; "none" if there is none.
  std::string content(const std::string& name) const;
  // Leaves `bytes` as an earlier process that was killed does.
  void leave_part(const std::string& version, std::string_view bytes);
  // How many files the folder has.
  std::size_t files() const;
  std::vector<std::string> requests() const;

  test::TemporaryFolder folder_;
  base::UniqueFd root_ = std::move(*open_directory(folder_.path()));
  JumpingClock clock_;
  Waiting waiting_{&clock_, [] { return 0.5; }};
  SizeBudget budget_{1'000'000};
  std::stop_source stop_;  // for answers that stop the download
  std::unique_ptr<test::ScriptedServer> server_;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

// The value of a header of a request; "none" if it has none.
std::string header_of(const std::string& request, const std::string& name);

// "HTTP/1.1 STATUS\r\n" with headers, each ending with \r\n, and body.
std::string answer_of(const std::string& status, const std::string& headers, std::string_view body);
// 200 with this ETag and the length of `body`, of which only `sent` bytes follow.
std::string cut_answer(const std::string& etag, std::string_view body, std::size_t sent);
// The bytes of `body` that a Range header asks for, as 206; 200 without one.
std::string range_answer(const std::string& request, const std::string& etag, std::string_view body);

}  // namespace gpupool::carry
