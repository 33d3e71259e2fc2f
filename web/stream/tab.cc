// SPDX-License-Identifier: Apache-2.0
#include "stream/tab.h"

#include <chrono>
#include <utility>

#include "stream/list_topic.h"
#include "stream/log_topic.h"
#include "stream/messages.h"

namespace gpupool::web {
namespace {

constexpr std::chrono::seconds kPing{15};

}  // namespace

Tab::Tab(std::shared_ptr<kube::Client> client, std::shared_ptr<const logs::KeptLogs> kept,
         std::vector<Topic> topics, base::Clock& clock)
    : client_(std::move(client)), kept_(std::move(kept)), topics_(std::move(topics)), outbox_(clock) {
  threads_.reserve(topics_.size());
  for (const Topic& topic : topics_) {
    threads_.emplace_back([this, &topic, &clock](const std::stop_token& stop) {
      if (topic.kind == Topic::Kind::kLog) {
        run_log_topic(*client_, kept_.get(), topic, outbox_, clock, stop);
      } else {
        run_list_topic(*client_, topic, outbox_, clock, stop);
      }
    });
  }
}

Tab::~Tab() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

std::optional<std::string> Tab::next(const std::stop_token& stop) {
  if (!std::exchange(begun_, true)) return ping_message() + "\n";
  std::string lines = outbox_.take(kPing, stop);
  if (stop.stop_requested()) return std::nullopt;
  return lines.empty() ? ping_message() + "\n" : lines;
}

}  // namespace gpupool::web
