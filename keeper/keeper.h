// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/curl_transport.h"
#include "options.h"
#include "reader_server/reader_access.h"
#include "reader_server/reader_server.h"
#include "readers/namespace_marks.h"
#include "readers/reader_api.h"
#include "store/attempts.h"

namespace gpupool {

// The parts of gpupool-keeper, and what joins them. One thread calls run().
class Keeper {
 public:
  // REQUIRES: everything referenced outlives the keeper.
  Keeper(const Options& options, kube::RestConfig config, std::unique_ptr<keeper::Attempts> attempts,
         base::Clock& clock, const base::Log& log);

  // Serves until stop is requested.
  base::Result<void> run(const std::stop_token& stop);

 private:
  void tell_sizes();

  const Options& options_;
  base::Clock& clock_;
  const base::Log& log_;
  const net::CurlGlobal curl_;
  kube::RestConfig config_;
  base::Metrics metrics_;
  std::unique_ptr<keeper::Attempts> attempts_;
  net::CurlTransport api_;
  net::CurlTransport for_readers_;
  kube::Client own_;
  readers::ReaderAccess access_;
  keeper::NamespaceMarks marks_;
  keeper::ReaderApi readers_;
  readers::ReaderServer server_;
};

}  // namespace gpupool
