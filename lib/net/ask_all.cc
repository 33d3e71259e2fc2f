// SPDX-License-Identifier: Apache-2.0
#include "net/ask_all.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <optional>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace gpupool::net {
namespace {

using Clock = std::chrono::steady_clock;
using Answer = base::Result<std::string>;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

std::optional<Address> parse_address(const std::string& text, std::uint16_t port) {
  Address address;
  sockaddr_in v4{};
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&address.storage, &v4, sizeof v4);
    address.size = sizeof v4;
    return address;
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  std::memcpy(&address.storage, &v6, sizeof v6);
  address.size = sizeof v6;
  return address;
}

// One question that is being asked.
class Exchange {
 public:
  Exchange(const Question& question, std::size_t most_bytes) : question_(question), most_bytes_(most_bytes) {
    const auto address = parse_address(question.address, question.port);
    if (!address) {
      fail(base::ErrorCode::kInvalidArgument, "is no address");
      return;
    }
    socket_ =
        base::UniqueFd(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_.valid()) {
      fail(base::ErrorCode::kTransport, std::generic_category().message(errno));
      return;
    }
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address->storage);
    if (::connect(socket_.get(), generic, address->size) == 0 || errno == EINPROGRESS) return;
    fail(base::ErrorCode::kTransport, std::generic_category().message(errno));
  }

  bool done() const { return answer_.has_value(); }
  Answer take() { return *std::move(answer_); }
  pollfd event() const {
    return {socket_.get(), static_cast<short>(sent_ < question_.text.size() ? POLLOUT : POLLIN), 0};
  }

  // The socket is ready.
  void go_on() { sent_ < question_.text.size() ? send() : receive(); }
  void give_up() { fail(base::ErrorCode::kTimeout, "does not answer"); }

 private:
  void send() {
    const auto got = ::send(socket_.get(), question_.text.data() + sent_, question_.text.size() - sent_,
                            MSG_NOSIGNAL);  // also the error of the connect
    if (got >= 0) {
      sent_ += static_cast<std::size_t>(got);
    } else if (errno != EAGAIN && errno != EINTR) {
      fail(base::ErrorCode::kTransport, std::generic_category().message(errno));
    }
  }

  void receive() {
    std::array<char, 4096> block;
    const auto got = ::recv(socket_.get(), block.data(), block.size(), 0);
    if (got > 0) {
      text_.append(block.data(), static_cast<std::size_t>(got));
      if (text_.size() > most_bytes_) fail(base::ErrorCode::kParse, "sends too much");
    } else if (got == 0) {
      answer_ = std::move(text_);
    } else if (errno != EAGAIN && errno != EINTR) {
      fail(base::ErrorCode::kTransport, std::generic_category().message(errno));
    }
  }

  void fail(base::ErrorCode code, const std::string& what) {
    answer_ = base::fail(code, question_.address + ":" + std::to_string(question_.port) + ": " + what);
  }

  const Question& question_;
  const std::size_t most_bytes_;
  base::UniqueFd socket_;
  std::size_t sent_ = 0;
  std::string text_;
  std::optional<Answer> answer_;
};

}  // namespace

std::vector<Answer> ask_all(const std::vector<Question>& questions, base::Duration timeout,
                            std::size_t most_bytes, const std::stop_token& stop) {
  const auto deadline = Clock::now() + timeout;
  std::vector<Answer> answers(questions.size(),
                              base::fail(base::ErrorCode::kTimeout, "was not asked in time"));
  std::list<std::pair<std::size_t, Exchange>> open;
  std::vector<pollfd> events;
  for (std::size_t next = 0; next < questions.size() || !open.empty();) {
    for (; next < questions.size() && open.size() < kMostAtOnce; ++next)
      open.emplace_back(std::piecewise_construct, std::forward_as_tuple(next),
                        std::forward_as_tuple(questions[next], most_bytes));
    events.clear();
    for (const auto& [index, exchange] : open) {
      if (!exchange.done()) events.push_back(exchange.event());
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const bool over = left <= 0 || stop.stop_requested();
    if (!over && !events.empty()) ::poll(events.data(), events.size(), static_cast<int>(left));
    auto event = events.begin();
    for (auto one = open.begin(); one != open.end();) {
      auto& [index, exchange] = *one;
      if (!exchange.done() && (event++)->revents != 0) exchange.go_on();
      if (!exchange.done() && over) exchange.give_up();
      if (!exchange.done()) {
        ++one;
        continue;
      }
      answers[index] = exchange.take();
      one = open.erase(one);
    }
    if (over) break;
  }
  return answers;
}

}  // namespace gpupool::net
