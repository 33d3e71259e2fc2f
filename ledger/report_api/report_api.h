// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/client.h"
#include "net/http_server.h"
#include "reader_server/reader_access.h"
#include "report_api/report_request.h"

namespace gpupool::ledger {

// Answers requests of people for reports, with their readers::reader_token(). read_report_request() says
// which there are; docs/billing.md is for users. The bill of a namespace begins when the namespace was made:
// one of the same name may have been somebody else's before. Makes one report at a time. Thread-safe.
class ReportApi {
 public:
  // database: as Books take it. own: with the ledger's credentials, to look at namespaces. REQUIRES:
  // everything referenced outlives all requests.
  ReportApi(std::string database, readers::ReaderAccess& access, kube::Client& own, const base::Clock& clock)
      : database_(std::move(database)), access_(access), own_(own), clock_(clock) {}
  // Ends calls to the API server.
  ~ReportApi() { stop_.request_stop(); }
  ReportApi(const ReportApi&) = delete;
  ReportApi& operator=(const ReportApi&) = delete;

  net::ServerResponse answer(const net::ServerRequest& request);

 private:
  // Unix seconds; what began to be held before that is not told. 0 if the request names no namespace.
  base::Result<std::int64_t> known_since(const ReportRequest& request);
  base::Result<std::string> report(const ReportRequest& request, std::int64_t since) GPUPOOL_EXCLUDES(mutex_);

  const std::string database_;
  readers::ReaderAccess& access_;
  kube::Client& own_;
  const base::Clock& clock_;
  base::Mutex mutex_;  // held while a report is made
  std::stop_source stop_;
};

}  // namespace gpupool::ledger
