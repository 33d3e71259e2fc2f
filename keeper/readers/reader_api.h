// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "net/http_server.h"
#include "reader_server/reader_access.h"
#include "store/attempts.h"

namespace gpupool::keeper {

// Answers who wants to read (docs/logs.md, Reading without gpupool's programs):
//   GET /v1/namespaces/NS/attempts?job=NAME&uid=UID
//   GET /v1/namespaces/NS/jobs/UID/leases/N/ranks/R/log?tailLines=&sinceTime=&timestamps=&follow=
// With readers::reader_token(). Thread-safe.
class ReaderApi {
 public:
  // REQUIRES: everything referenced outlives all requests and streams.
  ReaderApi(Attempts& attempts, readers::ReaderAccess& access, base::Clock& clock)
      : attempts_(attempts), access_(access), clock_(clock) {}
  // Ends calls to the API server.
  ~ReaderApi() { stop_.request_stop(); }
  ReaderApi(const ReaderApi&) = delete;
  ReaderApi& operator=(const ReaderApi&) = delete;

  net::ServerResponse answer(const net::ServerRequest& request);

 private:
  struct LogPath {
    AttemptId id;
    std::int64_t rank = 0;
  };
  base::Result<void> may_read(const std::string& token, const std::string& ns, const AttemptInfo* attempt,
                              const std::stop_token& stop);
  net::ServerResponse list_answer(const std::string& token, const std::string& ns, const std::string& query);
  net::ServerResponse log_answer(const std::string& token, const LogPath& path, const std::string& query);

  Attempts& attempts_;
  readers::ReaderAccess& access_;
  base::Clock& clock_;
  std::stop_source stop_;
};

}  // namespace gpupool::keeper
