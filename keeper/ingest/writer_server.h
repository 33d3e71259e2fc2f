// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "ingest/writer.h"
#include "store/attempts.h"

namespace gpupool::keeper {

struct IngestOptions {
  std::string bind = ":7070";
  std::string data;  // folder of the store
  Rate rate = {};
  std::size_t writers = 10'000;  // authenticated connections; half of them of one namespace at most
  std::size_t unauthenticated =
      256;  // connections; a further one takes the place of one that is older than 0.5 s
  std::chrono::seconds patience{5};  // until a connection is authenticated
};

// Takes what launchers send (lib/api/log_push_format.h) and stores it, on one thread; a second one syncs the
// disk. Nothing is told to be on the disk before it is.
class WriterServer {
 public:
  using Keys = std::map<std::string, std::string>;  // by id

  // on_new_attempt: called on the server's thread for an attempt whose namespace's UID is not known; must not
  // block. REQUIRES: everything referenced outlives the server.
  static base::Result<std::unique_ptr<WriterServer>> start(
      const IngestOptions& options, Attempts& attempts, Keys keys,
      std::function<void(const AttemptId&)> on_new_attempt, base::Clock& clock, base::Metrics& metrics,
      const base::Log& log);
  // Closes all connections.
  ~WriterServer();
  WriterServer(const WriterServer&) = delete;
  WriterServer& operator=(const WriterServer&) = delete;

  int port() const;
  // Thread-safe.
  void set_keys(Keys keys);

 private:
  struct Impl;
  explicit WriterServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::keeper
