// SPDX-License-Identifier: Apache-2.0
#include "stream/tab.h"

#include <chrono>
#include <string>
#include <thread>

#include "stream/list_topic.h"
#include "stream/log_topic.h"
#include "stream/messages.h"
#include "stream/outbox.h"

namespace gpupool::web {
namespace {

constexpr std::chrono::seconds kPing{15};
constexpr std::chrono::milliseconds kLook{500};  // how soon the end of the server is noticed

}  // namespace

void serve_tab(kube::Client& client, const std::vector<Topic>& topics, base::Clock& clock,
               net::ResponseStream& stream) {
  Outbox outbox(clock);
  std::vector<std::jthread> threads;
  threads.reserve(topics.size());
  for (const Topic& topic : topics) {
    threads.emplace_back([&client, &topic, &outbox, &clock](const std::stop_token& stop) {
      const auto run = topic.kind == Topic::Kind::kLog ? run_log_topic : run_list_topic;
      run(client, topic, outbox, clock, stop);
    });
  }
  base::SteadyTime sent = clock.now();
  bool good = stream.write(ping_message() + "\n");
  while (good && !stream.stopping()) {
    std::string lines = outbox.take(kLook, {});
    if (lines.empty() && clock.now() - sent >= kPing) lines = ping_message() + "\n";
    if (lines.empty()) continue;
    sent = clock.now();
    good = stream.write(lines);
  }
  for (std::jthread& thread : threads) thread.request_stop();
}

}  // namespace gpupool::web
