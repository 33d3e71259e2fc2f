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

// Answers who wants to read the books, by GET: see read_report_request() (docs/billing.md). With
// readers::reader_token(). Of a namespace that was deleted and made again nothing is told of the time before.
// Makes one report at a time. Thread-safe.
class ReportApi {
 public:
  // database: as Books take it. REQUIRES: everything referenced outlives all requests.
  // own: with the ledger's credentials, to look at namespaces.
  ReportApi(std::string database, readers::ReaderAccess& access, kube::Client& own, const base::Clock& clock)
      : database_(std::move(database)), access_(access), own_(own), clock_(clock) {}
  // Ends calls to the API server.
  ~ReportApi() { stop_.request_stop(); }
  ReportApi(const ReportApi&) = delete;
  ReportApi& operator=(const ReportApi&) = delete;

  net::ServerResponse answer(const net::ServerRequest& request);

 private:
  // Since when the reader may know of the namespace, in Unix seconds.
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
