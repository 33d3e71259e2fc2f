// SPDX-License-Identifier: Apache-2.0
// Several processes in one region: what the dead leave, forks, exec, and locks that are lost.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>

#include "limiter/region/record_lock.h"
#include "limiter/region/region_lock.h"
#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

class RegionProcesses : public RegionTest {
 protected:
  // What a new process gets that asks for so many MiB of device 0.
  Reservation ask(std::uint64_t mib) const {
    return static_cast<Reservation>(answer_of_child([&] {
      Ledger ledger;
      ledger.attach(path_.c_str(), two_devices());
      return static_cast<int>(ledger.reserve(0, mib * kMib));
    }));
  }
  void take(Ledger& ledger, std::uint64_t mib) const {
    if (!ledger.attach(path_.c_str(), two_devices())) ::_exit(2);
    if (ledger.reserve(0, mib * kMib) != Reservation::kGranted) ::_exit(3);
    ledger.commit(0, Class::kMemory, mib * kMib, mib * kMib);
  }
};
using enum Reservation;

Ledger own;  // of a forked process

TEST_F(RegionProcesses, ShareOneLimit) {
  Child first([&] { take(own, 600); });
  EXPECT_EQ(ask(401), kRefused);
  EXPECT_EQ(ask(400), kGranted);
  Child second([&] { take(own, 400); });
  EXPECT_EQ(ask(1), kRefused);
  EXPECT_EQ(seen().devices[0].used, 1000 * kMib);
}

TEST_F(RegionProcesses, BytesOfTheDeadAreFree) {
  {
    Child killed([&] { take(own, 1000); });
    EXPECT_EQ(ask(1), kRefused);
  }
  EXPECT_EQ(seen().devices[0].used, 1000 * kMib) << "nobody has looked yet";
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(view::read_living(content(), fd)->devices[0].used, 0U);
  ::close(fd);
  EXPECT_EQ(ask(1000), kGranted);
}

TEST_F(RegionProcesses, UsedIsWithoutTheDead) {
  Child living([&] { take(own, 100); });
  {
    Child killed([&] { take(own, 500); });
  }
  EXPECT_EQ(answer_of_child([&] {
              take(own, 1);
              return own.used(0) == 101 * kMib && own.last_reap_ns() != 0 ? 0 : 1;
            }),
            0);
}

TEST_F(RegionProcesses, AForkedChildHasNothingOfItsParent) {
  // The parent dies and its child lives on: the bytes are free all the same.
  const pid_t parent = ::fork();
  if (parent == 0) {
    take(own, 900);
    if (::fork() == 0) {
      own.forget_after_fork();
      ::sleep(2);
      ::_exit(0);
    }
    ::_exit(0);
  }
  ::waitpid(parent, nullptr, 0);
  EXPECT_EQ(ask(1000), kGranted);
}

TEST_F(RegionProcesses, AForkedChildTakesItsOwnSlot) {
  EXPECT_EQ(answer_of_child([&] {
              take(own, 300);
              const int in_child = answer_of_child([&] {
                own.forget_after_fork();
                if (own.reserve(0, 1) != kRefused) return 1;  // not attached yet
                take(own, 200);
                return own.own(0) == 200 * kMib && own.used(0) == 500 * kMib && own.state() == 0 ? 0 : 2;
              });
              if (in_child != 0) return in_child;
              // The child's end has not cost the parent its slot.
              return own.used(0) == 300 * kMib && ask(701) == kRefused &&
                             own.reserve(0, 700 * kMib) == kGranted
                         ? 0
                         : 3;
            }),
            0);
}

TEST_F(RegionProcesses, ExecGivesBack) {
  Child program([&] { take(own, 1000); }, [] { ::execl("/bin/sleep", "sleep", "20", nullptr); });
  for (int i = 0; i < 500 && ask(1000) != kGranted; ++i) ::usleep(10'000);
  EXPECT_EQ(ask(1000), kGranted);
}

TEST_F(RegionProcesses, ALostSlotIsTakenAgainAndHurtsNobody) {
  EXPECT_EQ(answer_of_child([&] {
              take(own, 300);
              ::syscall(SYS_close_range, 3U, ~0U, 0U);
              // Our slot looks dead; the next process takes it for itself.
              Child neighbour([&] {
                own.forget_after_fork();
                take(own, 800);
              });
              own.release(0, Class::kMemory, 100 * kMib);   // not written into the neighbour's slot
              if (own.reserve(0, 1) != kRefused) return 1;  // 200 + 800
              if (own.used(0) != 1000 * kMib) return 2;
              return (own.state() & (kSlotLost | kDamaged)) == kSlotLost ? 0 : 3;
            }),
            0);
}

TEST_F(RegionProcesses, OnALostDescriptorNobodyIsTakenForDead) {
  Child neighbour([&] { take(own, 800); });
  EXPECT_EQ(answer_of_child([&] {
              take(own, 100);
              ::syscall(SYS_close_range, 3U, ~0U, 0U);
              for (int i = 0; i < 20; ++i) {
                if (::open("/dev/null", O_RDWR) < 0) return 1;
              }
              return own.reserve(0, 101 * kMib) == kRefused && own.used(0) == 900 * kMib ? 0 : 2;
            }),
            0);
}

TEST_F(RegionProcesses, NoMoreThanThereAreSlots) {
  Child all([&] {
    struct flock range{};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = kSlotLockBase;
    range.l_len = kMaxSlots - 1;
    if (::fcntl(::open(path_.c_str(), O_RDWR), F_SETLK, &range) != 0) ::_exit(1);
  });
  Child last([&] { take(own, 1); });
  EXPECT_EQ(ask(1), kRefused);
  EXPECT_EQ(seen().state, kNoSlot);
  last.kill();
  EXPECT_EQ(ask(1), kGranted);
}

TEST_F(RegionProcesses, SlotsOfTheDeadAreUsedWhenNoneIsFree) {
  for (unsigned word = 0; word < kSlotWords; ++word) {
    overwrite(offsetof(Region, used_slots) + word * 8, ~std::uint64_t{0});
  }
  overwrite(offsetof(Region, slots[77].devices[0].total), 999 * kMib);
  EXPECT_EQ(ask(1000), kGranted);
}

TEST_F(RegionProcesses, TheTableDoesNotFillUp) {
  for (int i = 0; i < 300; ++i) ASSERT_EQ(ask(1000), kGranted);
  EXPECT_LT(seen().slot_count, 10U);
}

// Processes that ask for little: nobody has to clear anything to find room.
TEST_F(RegionProcesses, TheTableDoesNotFillUpWithoutRequests) {
  Child living([&] { take(own, 1); });
  for (int i = 0; i < 100; ++i) ASSERT_EQ(ask(1), kGranted);
  EXPECT_LT(seen().slot_count, 10U);
}

region_lock::Owner owner_in(const MappedRegion& mapped, unsigned slot) {
  return {mapped, slot, mapped.region->slots[slot].incarnation.load()};
}

TEST_F(RegionProcesses, TheLockOfAKilledOwnerIsTakenOver) {
  Child holder([&] {
    const MappedRegion mapped = map_region(path_.c_str());
    record_lock::try_take(mapped.fd, kSlotLockBase + 5);
    if (!region_lock::acquire(owner_in(mapped, 5), 0)) ::_exit(1);
  });
  MappedRegion mapped = map_region(path_.c_str());
  const region_lock::Owner me = owner_in(mapped, 6);
  EXPECT_FALSE(region_lock::acquire(me, 60'000'000)) << "its owner lives";
  holder.kill();
  EXPECT_TRUE(region_lock::acquire(me, 1'000'000'000));
  region_lock::release(me);
  EXPECT_EQ(mapped.region->lock.load(), 0U);
  unmap_region(mapped);
}

TEST_F(RegionProcesses, ALockWithoutSenseIsTakenOver) {
  MappedRegion mapped = map_region(path_.c_str());
  Child alive([&] { record_lock::try_take(mapped.fd, kSlotLockBase + 5); });
  const region_lock::Owner me = owner_in(mapped, 6);
  // A slot that does not exist, our own name, a dead slot, and another incarnation of a living one.
  for (const std::uint32_t word : {0xffffffffU, 0x7ffU, 7U, 3U, (9U << 11U) | 6U, 1U << 31U}) {
    mapped.region->lock.store(word);
    EXPECT_TRUE(region_lock::acquire(me, 1'000'000'000)) << word;
    region_lock::release(me);
    EXPECT_EQ(mapped.region->lock.load(), 0U);
  }
  unmap_region(mapped);
}

TEST_F(RegionProcesses, AStoppedOwnerCostsAReservationAndNoMore) {
  Child holder([&] {
    const MappedRegion mapped = map_region(path_.c_str());
    record_lock::try_take(mapped.fd, kSlotLockBase + 5);
    if (!region_lock::acquire(owner_in(mapped, 5), 0)) ::_exit(1);
  });
  EXPECT_EQ(ask(1), kRefused);  // after 10 s
  EXPECT_EQ(seen().state, kLockLost);
  holder.kill();
  EXPECT_EQ(ask(1000), kGranted);
}

}  // namespace
}  // namespace gpupool::limiter::testing
