// SPDX-License-Identifier: Apache-2.0
#include "ingest/writer_server.h"

#include <thread>
#include <utility>

#include "ingest/writer_loop.h"

namespace gpupool::keeper {

struct WriterServer::Impl {
  Impl(const IngestOptions& options, Attempts& attempts, std::function<void(const AttemptId&)> on_new_attempt,
       base::Clock& clock, base::Metrics& metrics, const base::Log& log)
      : loop(options, attempts, std::move(on_new_attempt), clock, metrics, log) {}

  WriterLoop loop;
  std::jthread thread = {};  // last: it uses the loop
};

base::Result<std::unique_ptr<WriterServer>> WriterServer::start(
    const IngestOptions& options, Attempts& attempts, Keys keys,
    std::function<void(const AttemptId&)> on_new_attempt, base::Clock& clock, base::Metrics& metrics,
    const base::Log& log) {
  auto impl = std::make_unique<Impl>(options, attempts, std::move(on_new_attempt), clock, metrics, log);
  impl->loop.set_keys(std::move(keys));
  if (auto listens = impl->loop.listen(); !listens) return tl::unexpected<base::Error>(listens.error());
  impl->thread = std::jthread([&loop = impl->loop](const std::stop_token& stop) { loop.run(stop); });
  return std::unique_ptr<WriterServer>(new WriterServer(std::move(impl)));
}

WriterServer::WriterServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WriterServer::~WriterServer() = default;

int WriterServer::port() const { return impl_->loop.port(); }
void WriterServer::set_keys(Keys keys) { impl_->loop.set_keys(std::move(keys)); }

}  // namespace gpupool::keeper
