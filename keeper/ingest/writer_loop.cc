// SPDX-License-Identifier: Apache-2.0
#include "ingest/writer_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "net/listen.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMaxEvents = 256;

constexpr milliseconds kMoment{500};

const std::vector<double> kSyncBounds = {0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};
}  // namespace

WriterLoop::WriterLoop(const IngestOptions& options, Attempts& attempts,
                       std::function<void(const AttemptId&)> on_new_attempt, base::Clock& clock,
                       base::Metrics& metrics, const base::Log& log)
    : options_(options),
      attempts_(attempts),
      on_new_attempt_(std::move(on_new_attempt)),
      clock_(clock),
      log_(log),
      writers_gauge_(metrics.gauge("gpupool_keeper_writers", "Ranks that are connected.")),
      stored_(metrics.counter("gpupool_keeper_stored_bytes_total", "Bytes of output that were stored.")),
      lost_(metrics.counter("gpupool_keeper_lost_bytes_total",
                            "Bytes of output that are lost: dropped by launchers, or beyond a limit.")),
      refused_(metrics.counter("gpupool_keeper_refused_connections_total",
                               "Connections of writers that were refused or closed before they were "
                               "authenticated.")),
      disk_errors_(metrics.counter("gpupool_keeper_disk_errors_total", "Writes that the disk refused.")),
      disk_is_full_(metrics.gauge("gpupool_keeper_disk_is_full",
                                  "1 while nothing is taken, because the disk refuses writes.")),
      sync_seconds_(
          metrics.histogram("gpupool_keeper_sync_seconds", "Time to bring output to the disk.", kSyncBounds)),
      table_(attempts, clock) {}

base::Result<void> WriterLoop::listen() {
  auto listener = net::listen_on(options_.bind);
  if (!listener) return tl::unexpected<base::Error>(listener.error());
  listener_ = std::move(*listener);
  port_ = net::port_of(listener_);
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_event_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const int fd : {listener_.get(), wake_event_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return base::fail(base::ErrorCode::kIo, "epoll cannot be used");
  }
  auto sync = DiskSync::start(options_.data, [this] { wake(); });
  if (!sync) return tl::unexpected<base::Error>(sync.error());
  sync_ = std::move(*sync);
  return {};
}

void WriterLoop::wake() const {
  constexpr std::uint64_t kOne = 1;
  (void)!::write(wake_event_.get(), &kOne, sizeof kOne);
}

void WriterLoop::set_keys(WriterServer::Keys keys) {
  const base::MutexLock lock(mutex_);
  keys_ = std::move(keys);
}

std::optional<std::string> WriterLoop::key_of(const std::string& id) const {
  const base::MutexLock lock(mutex_);
  const auto found = keys_.find(id);
  if (found == keys_.end()) return std::nullopt;
  return found->second;
}

void WriterLoop::run(const std::stop_token& stop) {
  const std::stop_callback woken(stop, [this] { wake(); });
  std::array<epoll_event, kMaxEvents> events{};
  while (!stop.stop_requested()) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kMaxEvents, static_cast<int>(kTick.count()));
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == listener_.get()) {
        accept_writers();
      } else if (event.data.fd == wake_event_.get()) {
        std::uint64_t drained = 0;
        (void)!::read(wake_event_.get(), &drained, sizeof drained);
      } else if (const auto found = writers_.find(event.data.fd); found != writers_.end()) {
        on_event(*found->second, event.events);
      }
    }
    if (!listens_) {
      listen_again(true);
      accept_writers();
    }
    take_sync_end();
    if (clock_.now() - last_tick_ >= kTick) tick();
    sync_if_due();
  }
  sync_.reset();
}

void WriterLoop::accept_writers() {
  while (true) {
    // Who has just come gets a moment to prove itself; others wait in the kernel's queue.
    if (unauthenticated_.size() >= options_.unauthenticated) {
      const Writer& oldest = *writers_.at(unauthenticated_.front());
      if (clock_.now() - oldest.since < kMoment) return listen_again(false);
      close_oldest_unauthenticated();
    }
    base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      if (errno == EMFILE || errno == ENFILE) close_oldest_unauthenticated();
      return;
    }
    const int fd = socket.get();
    auto writer = std::make_unique<Writer>(std::move(socket), clock_.now(), options_.rate);
    unauthenticated_.push_back(fd);
    Writer& added = *writer;
    writers_[fd] = std::move(writer);
    watch(added);
  }
}

// Whether epoll waits for connections.
void WriterLoop::listen_again(bool listens) {
  if (std::exchange(listens_, listens) == listens) return;
  epoll_event event{};
  event.events = listens ? EPOLLIN : 0U;
  event.data.fd = listener_.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, event.data.fd, &event);
}

void WriterLoop::close_oldest_unauthenticated() {
  if (unauthenticated_.empty()) return;
  refused_.increment();
  close(*writers_.at(unauthenticated_.front()));
}

void WriterLoop::on_event(Writer& writer, std::uint32_t events) {
  if ((events & EPOLLOUT) != 0 && !writer.connection.flush()) return close(writer);
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 && (events & EPOLLIN) == 0) return close(writer);
  if ((events & EPOLLIN) != 0) {
    if (!writer.connection.read()) return close(writer);
    return take_messages(writer);
  }
  watch(writer);
}

void WriterLoop::take_messages(Writer& writer) {
  if (writer.stuck) {
    const Writer::Stuck stuck = *std::exchange(writer.stuck, std::nullopt);
    if (!take_data(writer, stuck.type, stuck.payload)) return close(writer);
  }
  while (writer.reads()) {
    const std::size_t longest = writer.authenticated() ? push::kMaxPayload : push::kMaxHello;
    const auto message = writer.connection.next(longest);
    if (!message) break;
    if (!take(writer, message->type, message->payload)) return close(writer);
  }
  if (writer.connection.too_long()) {
    refuse(writer, true, "a message is too long");
    writer.connection.flush();
    return close(writer);
  }
  if (!writer.connection.flush()) return close(writer);
  watch(writer);
}

bool WriterLoop::take(Writer& writer, Message type, std::string_view payload) {
  writer.spend(push::kHeaderBytes + payload.size(), options_.rate, clock_.now());
  switch (writer.state) {
    case Writer::State::kHello:
      return type == Message::kHello && take_hello(writer, payload);
    case Writer::State::kAuth:
      return type == Message::kAuth && take_auth(writer, payload);
    case Writer::State::kOpen:
      return take_data(writer, type, payload);
    case Writer::State::kEnding:
    case Writer::State::kClosing:
      break;  // nothing is taken after the end
  }
  return true;
}

bool WriterLoop::take_hello(Writer& writer, std::string_view payload) {
  auto hello = read_hello(payload);
  if (!hello) return refuse(writer, true, hello.error().message);
  writer.hello = std::move(*hello);
  writer.rank_key = {writer.hello.attempt.id, writer.hello.rank};
  writer.nonce.resize(push::kNonceBytes);
  if (::getentropy(writer.nonce.data(), writer.nonce.size()) != 0) return false;
  writer.state = Writer::State::kAuth;
  writer.connection.send(Message::kNonce, writer.nonce);
  return true;
}

bool WriterLoop::take_auth(Writer& writer, std::string_view payload) {
  const AttemptId& id = writer.hello.attempt.id;
  const auto key = key_of(writer.hello.key);
  // A new key may reach the operator before it reaches this process.
  if (!key) return refuse(writer, false, "the key's id is not known");
  const auto token = push::attempt_token(*key, id.uid, id.lease, id.ns);
  const std::string_view token_text(reinterpret_cast<const char*>(token.data()), token.size());
  if (!base::same_digest(base::hmac_sha256(token_text, writer.nonce), payload))
    return refuse(writer, true, "the token is not that of this attempt");
  return enter(writer);
}

bool WriterLoop::enter(Writer& writer) {
  const RankKey& key = writer.key();
  if (const auto other = by_rank_.find(key); other != by_rank_.end()) {
    Writer& older = *other->second;
    close(older);  // its launcher has come again, or was killed
  } else if (by_rank_.size() >= options_.writers ||
             by_namespace_[key.first.ns] >= std::max<std::size_t>(1, options_.writers / 2)) {
    return refuse(writer, false, "too many writers are connected");
  }
  auto entered = attempts_.enter(writer.hello.attempt, key.second);
  if (!entered)
    return refuse(writer, entered.error().code == base::ErrorCode::kInvalid, entered.error().message);
  if (auto opened = table_.open(key); !opened) {
    attempts_.leave(key.first);
    disk_errors_.increment();
    log_.warning("the files of a rank cannot be opened", {{"error", opened.error().message}});
    return refuse(writer, false, "the store cannot be used now");
  }
  if (table_.ended(key)) {
    table_.close(key);
    attempts_.leave(key.first);
    return refuse(writer, true, "the rank has ended");
  }
  unauthenticated_.remove(writer.connection.fd());
  by_rank_[key] = &writer;
  ++by_namespace_[key.first.ns];
  writer.state = Writer::State::kOpen;
  writer.acked = table_.next(key);
  grant(writer, Message::kHave);
  const auto attempt = attempts_.find(key.first);
  if (attempt && attempt->namespace_uid.empty()) on_new_attempt_(key.first);
  return true;
}

bool WriterLoop::take_data(Writer& writer, Message type, std::string_view payload) {
  base::Result<void> taken;
  switch (type) {
    case Message::kFrame:
      taken = table_.add_frame(writer.key(), payload);
      break;
    case Message::kLost:
      taken = table_.add_lost(writer.key(), payload);
      break;
    case Message::kEnd:
      taken = table_.end(writer.key(), payload);
      if (taken) {
        writer.state = Writer::State::kEnding;
        end_waits_ = true;
      }
      break;
    default:
      return refuse(writer, true, "a message of this type is not expected");
  }
  if (taken) return true;
  if (taken.error().code != base::ErrorCode::kIo) return refuse(writer, false, taken.error().message);
  disk_errors_.increment();
  log_.warning("the disk refuses a write; nothing is taken until it accepts one",
               {{"error", taken.error().message}});
  writer.stuck = Writer::Stuck{type, std::string(payload)};
  return true;
}

// The message is sent as far as it fits into the socket's buffer now; always returns false.
bool WriterLoop::refuse(Writer& writer, bool for_ever, const std::string& why) {
  refused_.increment();
  log_.debug("a writer is refused", {{"namespace", writer.hello.attempt.id.ns}, {"why", why}});
  writer.connection.send(Message::kError, (for_ever ? '\1' : '\0') + why);
  writer.connection.flush();
  return false;
}

void WriterLoop::watch(Writer& writer) {
  const std::uint32_t wanted =
      (writer.reads() ? EPOLLIN : 0U) | (writer.connection.flushed() ? 0U : EPOLLOUT);
  if (writer.events == wanted && wanted != 0) return;
  epoll_event event{};
  event.events = wanted;
  event.data.fd = writer.connection.fd();
  const bool known =
      writer.events != 0 || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event.data.fd, &event) != 0;
  if (known) ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, event.data.fd, &event);
  writer.events = wanted;
}

void WriterLoop::close(Writer& writer) {
  const int fd = writer.connection.fd();
  if (writer.authenticated()) {
    const RankKey& key = writer.key();
    by_rank_.erase(key);
    --by_namespace_[key.first.ns];
    table_.close(key);
    attempts_.leave(key.first);
  }
  unauthenticated_.remove(fd);
  writers_.erase(fd);
}

}  // namespace gpupool::keeper
