// SPDX-License-Identifier: Apache-2.0
#include "reader_server/reader_server.h"

#include <utility>

#include "net/server_certificate.h"

namespace gpupool::readers {

ReaderServer::ReaderServer(const ReaderOptions& options, net::Handler answer, const base::Log& log)
    : options_(options), answer_(std::move(answer)), log_(log) {}

base::Result<void> ReaderServer::serve() {
  auto pem = net::read_server_certificate(options_.tls_directory);
  if (!pem && !server_) return tl::unexpected<base::Error>(pem.error());
  if (!pem || *pem == served_) return {};
  server_.reset();
  auto started = net::HttpServer::start(options_.bind_address, {{"/", answer_}},
                                        {.streams = true, .connections = options_.readers, .tls_pem = *pem});
  if (!started) return tl::unexpected<base::Error>(started.error());
  server_ = std::move(*started);
  served_ = std::move(*pem);
  log_.info("serving readers", {{"port", server_->port()}});
  return {};
}

}  // namespace gpupool::readers
