// SPDX-License-Identifier: Apache-2.0
#include "launcher/log_push.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "launcher/log.h"

namespace gpupool::launcher {
namespace {

namespace push = api::log_push;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{1000};
constexpr milliseconds kLongestPause{30'000};
constexpr milliseconds kPatience{10'000};  // until the keeper has answered the hello
constexpr milliseconds kCollecting{200};   // a frame waits so long for more, below kSmallFrame
constexpr milliseconds kLastTry{100};      // to connect, when the command has ended
constexpr milliseconds kBetweenLastTries{50};
constexpr std::size_t kSmallFrame = std::size_t{16} * 1024;
constexpr std::size_t kFrameBytes = push::kMaxPayload - sizeof(std::uint64_t);
constexpr std::size_t kLongestAnswer = 4096;  // of the keeper

std::uint64_t unix_ns_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const std::string byte(digits.substr(i, 2));
    bytes.push_back(static_cast<char>(std::strtoul(byte.c_str(), nullptr, 16)));
  }
  return bytes;
}

// REQUIRES: a text of the operator, without quotes, backslashes and control characters.
void add_member(std::string& json, std::string_view name, std::string_view text) {
  json += ",\"";
  json += name;
  json += "\":\"";
  json += text;
  json += '"';
}

void add_member(std::string& json, std::string_view name, std::int64_t number) {
  json += ",\"";
  json += name;
  json += "\":";
  json += std::to_string(number);
}

std::uint64_t position_in(std::string_view payload) {
  return payload.size() < sizeof(std::uint64_t) ? 0 : push::get<std::uint64_t>(payload);
}

std::uint64_t granted_in(std::string_view payload) {
  return payload.size() < 2 * sizeof(std::uint64_t) ? 0 : position_in(payload.substr(sizeof(std::uint64_t)));
}

}  // namespace

std::optional<sockaddr_in6> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  host = in_brackets ? host.substr(1, host.size() - 2) : "::ffff:" + host;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  const unsigned long number = std::strtoul(port.c_str(), nullptr, 10);
  if (number == 0 || number > 65535) return std::nullopt;
  address.sin6_port = htons(static_cast<std::uint16_t>(number));
  if (::inet_pton(AF_INET6, host.c_str(), &address.sin6_addr) != 1) return std::nullopt;
  return address;
}

Expected<void> LogPush::open(const std::string& spool) {
  Expected<void> opened = spool_.open(spool);
  if (!opened) state_ = State::kDone;
  return opened;
}

void LogPush::give_up() {
  spool_.remove();
  state_ = State::kDone;
}

void LogPush::append(std::size_t stream, std::string_view bytes) {
  if (state_ == State::kDone) return;
  const std::uint64_t now = unix_ns_now();
  // The relay reads 64 KiB at once at most; a message must have room for the header too.
  constexpr std::size_t kMostBytes = kFrameBytes - push::kChunkHeaderBytes;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMostBytes, bytes.size())))
    spool_.append(stream == 0 ? push::Stream::kStdout : push::Stream::kStderr, now,
                  bytes.substr(0, kMostBytes));
  if (!waiting_since_) waiting_since_ = Clock::now();
}

void LogPush::add_to(std::vector<pollfd>& events) const {
  if (!socket_.valid()) return;
  const bool sends = state_ == State::kConnecting || !out_.empty() || wants_to_send();
  events.push_back({socket_.get(), static_cast<short>(POLLIN | (sends ? POLLOUT : 0)), 0});
}

// Whether there is a frame worth sending now.
bool LogPush::wants_to_send() const {
  if (state_ != State::kOpen) return false;
  if (!end_.empty()) return true;
  const bool any = sent_.position < spool_.end() && sent_.position < granted_;
  return any && (!is_collecting() || Clock::now() - *waiting_since_ >= kCollecting);
}

// Whether a frame waits for more output.
bool LogPush::is_collecting() const {
  return waiting_since_ && spool_.end() - std::min(sent_.position, spool_.end()) < kSmallFrame;
}

std::optional<Clock::time_point> LogPush::due() const {
  switch (state_) {
    case State::kDone:
    case State::kEnding:
      return std::nullopt;
    case State::kIdle:
      return retry_at_;
    case State::kConnecting:
    case State::kHello:
    case State::kAuth:
      return begun_ + kPatience;
    case State::kOpen:
      break;
  }
  const bool any = sent_.position < spool_.end() && sent_.position < granted_;
  if (!any || !is_collecting() || !out_.empty()) return std::nullopt;
  return *waiting_since_ + kCollecting;
}

void LogPush::pump() {
  if (state_ == State::kDone) return;
  if (state_ == State::kIdle) {
    if (Clock::now() < retry_at_) return;
    connect();
  }
  if (state_ == State::kConnecting) connected();
  if (state_ == State::kIdle) return;
  const bool waits = state_ == State::kConnecting || state_ == State::kHello || state_ == State::kAuth;
  if (waits && Clock::now() - begun_ > kPatience) return disconnect();
  if (state_ == State::kConnecting) return;
  if (!receive()) return disconnect();
  fill();
  if (socket_.valid() && !flush()) disconnect();
}

void LogPush::connect() {
  begun_ = Clock::now();
  socket_.reset(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return disconnect();
  constexpr int kOff = 0;
  ::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &kOff, sizeof kOff);
  const auto* address = reinterpret_cast<const sockaddr*>(&target_.address);
  if (::connect(socket_.get(), address, sizeof target_.address) != 0 && errno != EINPROGRESS)
    return disconnect();
  state_ = State::kConnecting;
}

void LogPush::connected() {
  pollfd writable{socket_.get(), POLLOUT, 0};
  if (::poll(&writable, 1, 0) <= 0) return;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return disconnect();
  state_ = State::kHello;
  in_.clear();
  out_.clear();
  push::put_message(out_, Message::kHello, hello());
}

void LogPush::disconnect() {
  socket_.reset();
  out_.clear();
  if (state_ == State::kDone) return;
  state_ = State::kIdle;
  retry_at_ = Clock::now() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

std::string LogPush::hello() const {
  std::string json = "{\"version\":" + std::to_string(push::kVersion);
  add_member(json, "namespace", target_.ns);
  add_member(json, "job", target_.job);
  add_member(json, "uid", target_.uid);
  add_member(json, "lease", target_.lease);
  add_member(json, "attempt", target_.attempt);
  add_member(json, "rank", target_.rank);
  add_member(json, "ranks", target_.ranks);
  add_member(json, "key", target_.key);
  add_member(json, "pool", target_.pool);
  return json + "}";
}

// False: the connection is of no use any more.
bool LogPush::receive() {
  std::array<char, kLongestAnswer> block;
  while (true) {
    const ssize_t got = ::recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    in_.append(block.data(), static_cast<std::size_t>(got));
    std::string_view rest = in_;
    while (rest.size() >= push::kHeaderBytes) {
      const auto length = push::get<std::uint32_t>(rest.substr(1));
      if (length > kLongestAnswer) return false;
      if (rest.size() - push::kHeaderBytes < length) break;
      if (!take(static_cast<Message>(rest[0]), rest.substr(push::kHeaderBytes, length))) return false;
      rest.remove_prefix(push::kHeaderBytes + length);
    }
    in_.erase(0, in_.size() - rest.size());
  }
}

bool LogPush::take(Message type, std::string_view payload) {
  switch (type) {
    case Message::kNonce: {
      if (state_ != State::kHello) return false;
      const base::Sha256Digest proof = base::hmac_sha256(from_hex(target_.token), payload);
      push::put_message(out_, Message::kAuth, {reinterpret_cast<const char*>(proof.data()), proof.size()});
      state_ = State::kAuth;
      return true;
    }
    case Message::kHave:
      return state_ == State::kAuth && take_have(payload);
    case Message::kAck:
      if (state_ != State::kOpen && state_ != State::kEnding) return false;
      spool_.forget(std::min(position_in(payload), sent_.position));
      granted_ = std::max(granted_, granted_in(payload));
      return true;
    case Message::kEnded:
      if (state_ == State::kEnding) give_up();
      return false;
    case Message::kError:
      if (payload.empty() || payload.front() == '\0') return false;
      log_line("the keeper takes no more of this worker's output: " + std::string(payload.substr(1)));
      give_up();
      return false;
    default:
      return false;
  }
}

bool LogPush::take_have(std::string_view payload) {
  const std::uint64_t have = position_in(payload);
  granted_ = granted_in(payload);
  state_ = State::kOpen;
  pause_ = kFirstPause;
  // The keeper knows more than the spool: its file was lost.
  if (have > spool_.end()) spool_.skip_to(have);
  spool_.forget(have);
  sent_ = spool_.find(std::max(have, spool_.begin()));
  // It may be within a chunk: the keeper leaves out what it knows. What is before the spool is lost, and
  // fill() tells that.
  sent_.position = std::min(sent_.position, have);
  return true;
}

// Puts the next message into out_, if it is time.
void LogPush::fill() {
  while (out_.empty() && wants_to_send()) {
    std::string payload;
    if (!end_.empty() && sent_.position >= granted_) skip_to_last_bytes();
    if (sent_.position < spool_.begin()) {
      push::put(payload, sent_.position);
      push::put(payload, spool_.begin() - sent_.position);
      push::put_message(out_, Message::kLost, payload);
      sent_ = spool_.find(spool_.begin());
      return;
    }
    if (sent_.position < spool_.end()) {
      // The ring begins anew in the file when it was empty.
      if (sent_.position == spool_.begin()) sent_ = spool_.find(sent_.position);
      push::put(payload, sent_.position);
      spool_.read(sent_, kFrameBytes, payload);
      if (payload.size() > sizeof(std::uint64_t)) push::put_message(out_, Message::kFrame, payload);
      if (sent_.position >= spool_.end()) waiting_since_.reset();
      continue;
    }
    if (end_.empty()) return;
    push::put_message(out_, Message::kEnd, end_);
    state_ = State::kEnding;
  }
}

// The command has ended, and the keeper takes no more of it now than its last output. What is skipped counts
// as lost.
void LogPush::skip_to_last_bytes() {
  if (spool_.end() - std::max(sent_.position, spool_.begin()) <= push::kLastBytes) return;
  spool_.forget(spool_.end() - push::kLastBytes);
}

bool LogPush::flush() {
  while (!out_.empty()) {
    const ssize_t done = ::send(socket_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    out_.erase(0, static_cast<std::size_t>(done));
    if (out_.empty()) fill();
  }
  return true;
}

void LogPush::finish(std::string_view outcome, int exit_code, milliseconds limit) {
  if (state_ == State::kDone) return;
  end_ = "{\"outcome\":\"";
  end_ += outcome;
  end_ += "\",\"exit\":" + std::to_string(exit_code) + "}";
  const Clock::time_point begin = Clock::now();
  // Where nobody has listened before, little is expected.
  const bool was_away = state_ == State::kConnecting || (state_ == State::kIdle && pause_ > kFirstPause);
  Clock::time_point deadline = begin + (was_away ? std::min(limit, kLastTry) : limit);
  retry_at_ = begin;
  while (true) {
    pump();
    const bool listens = state_ != State::kIdle && state_ != State::kConnecting;
    if (listens) deadline = begin + limit;
    if (state_ == State::kDone || Clock::now() >= deadline) return;
    // A keeper that has just been started may have many to serve.
    if (state_ == State::kIdle) retry_at_ = std::min(retry_at_, Clock::now() + kBetweenLastTries);
    std::vector<pollfd> events;
    add_to(events);
    Clock::time_point wake = deadline;
    if (const auto next = due()) wake = std::min(wake, *next);
    ::poll(events.data(), events.size(), milliseconds_until(wake));
  }
}

}  // namespace gpupool::launcher
