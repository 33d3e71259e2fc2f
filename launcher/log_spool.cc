// SPDX-License-Identifier: Apache-2.0
#include "launcher/log_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace gpupool::launcher {
namespace {

namespace push = api::log_push;

constexpr std::uint64_t kSpoolMagic = 0x31306c6f6f707347;  // "Gspool01"
constexpr std::size_t kHeadBytes = 48;
constexpr std::uint64_t kRingAt = 4096;

bool write_at(int fd, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return true;
}

bool read_exactly(int fd, std::uint64_t offset, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

Expected<void> LogSpool::open(const std::string& path, std::uint64_t capacity) {
  path_ = path;
  capacity_ = capacity;
  file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_.valid()) return failure(with_errno("cannot open " + path, errno));
  taken_up_ = load_head();
  if (!taken_up_) {
    head_ = {};
    if (!store_head()) {
      file_.reset();
      return failure(with_errno("cannot write " + path, errno));
    }
  }
  return {};
}

void LogSpool::remove() {
  if (!file_.valid()) return;
  ::unlink(path_.c_str());
  file_.reset();
}

void LogSpool::append(push::Stream stream, std::uint64_t unix_ns, std::string_view bytes) {
  if (bytes.empty()) return;
  std::string record;
  record.reserve(push::kChunkHeaderBytes + bytes.size());
  push::put_chunk(record, {stream, unix_ns, bytes});
  if (head_.begin.offset == head_.end.offset) head_.begin.offset = head_.end.offset = 0;
  bool dropped = false;
  while (used() + record.size() > capacity_) {
    Record oldest;
    if (!record_at(head_.begin, oldest)) return skip_to(head_.end.position + bytes.size());
    head_.begin = behind(head_.begin, oldest);
    dropped = true;
  }
  // What is overwritten must not count any more, should this process be killed now.
  if (dropped && !store_head()) return skip_to(head_.end.position + bytes.size());
  if (!write_ring(head_.end.offset, record)) return skip_to(head_.end.position + bytes.size());
  head_.end = {head_.end.position + bytes.size(), head_.end.offset + record.size()};
  (void)store_head();
}

LogSpool::Place LogSpool::find(std::uint64_t position) {
  Place place = head_.begin;
  while (place.position < position) {
    Record record;
    if (!record_at(place, record)) {
      drop_all();
      return head_.end;
    }
    const Place next = behind(place, record);
    if (next.position > position) break;
    place = next;
  }
  return place;
}

void LogSpool::read(Place& place, std::size_t limit, std::string& out) {
  const std::size_t before = out.size();
  while (place.position < head_.end.position) {
    Record record;
    const std::size_t size = out.size() - before;
    if (!record_at(place, record)) return drop_all();
    if (size > 0 && size + push::kChunkHeaderBytes + record.length > limit) return;
    out += record.header;
    out.resize(out.size() + record.length);
    if (!read_ring(place.offset + push::kChunkHeaderBytes, out.data() + out.size() - record.length,
                   record.length)) {
      out.resize(out.size() - record.length - push::kChunkHeaderBytes);
      return drop_all();
    }
    place = behind(place, record);
  }
}

void LogSpool::forget(std::uint64_t position) {
  const Place place = find(std::clamp(position, begin(), end()));
  if (place == head_.begin) return;
  head_.begin = place;
  (void)store_head();
}

void LogSpool::skip_to(std::uint64_t position) {
  head_.end.position = std::max(position, head_.end.position);
  drop_all();
}

void LogSpool::drop_all() {
  head_.begin = head_.end = {head_.end.position, 0};
  (void)store_head();
}

bool LogSpool::record_at(const Place& place, Record& record) const {
  std::array<char, push::kChunkHeaderBytes> bytes;
  if (!read_ring(place.offset, bytes.data(), bytes.size())) return false;
  record.header.assign(bytes.data(), bytes.size());
  record.length = push::get<std::uint32_t>(std::string_view(record.header).substr(9));
  const Place next = behind(place, record);
  return record.length > 0 && record.length <= push::kMaxPayload && next.offset <= head_.end.offset &&
         next.position <= head_.end.position;
}

LogSpool::Place LogSpool::behind(const Place& place, const Record& record) {
  return {place.position + record.length, place.offset + push::kChunkHeaderBytes + record.length};
}

bool LogSpool::read_ring(std::uint64_t offset, char* to, std::size_t size) const {
  const std::uint64_t at = offset % capacity_;
  const std::size_t first = std::min<std::uint64_t>(size, capacity_ - at);
  return read_exactly(file_.get(), kRingAt + at, to, first) &&
         read_exactly(file_.get(), kRingAt, to + first, size - first);
}

bool LogSpool::write_ring(std::uint64_t offset, std::string_view bytes) const {
  const std::uint64_t at = offset % capacity_;
  const std::size_t first = std::min<std::uint64_t>(bytes.size(), capacity_ - at);
  return write_at(file_.get(), kRingAt + at, bytes.substr(0, first)) &&
         write_at(file_.get(), kRingAt, bytes.substr(first));
}

bool LogSpool::store_head() const {
  std::string bytes;
  push::put(bytes, kSpoolMagic);
  push::put(bytes, capacity_);
  for (const Place& place : {head_.begin, head_.end}) {
    push::put(bytes, place.position);
    push::put(bytes, place.offset);
  }
  return write_at(file_.get(), 0, bytes);
}

bool LogSpool::load_head() {
  std::array<char, kHeadBytes> bytes;
  if (!read_exactly(file_.get(), 0, bytes.data(), bytes.size())) return false;
  std::string_view rest(bytes.data(), bytes.size());
  const auto next = [&rest] {
    const auto number = push::get<std::uint64_t>(rest);
    rest.remove_prefix(sizeof number);
    return number;
  };
  if (next() != kSpoolMagic || next() != capacity_) return false;
  for (Place* place : {&head_.begin, &head_.end}) {
    place->position = next();
    place->offset = next();
  }
  return head_.begin.position <= head_.end.position && head_.begin.offset <= head_.end.offset &&
         used() <= capacity_;
}

}  // namespace gpupool::launcher
