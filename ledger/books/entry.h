// SPDX-License-Identifier: Apache-2.0
// An entry of the books: what happened, which accounts it moves, and its place in the chain. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.h"
#include "books/fact.h"

namespace gpupool::ledger {

// Values of Entry::kind.
namespace entry_kind {
inline constexpr char kSegment[] = "segment";
// A fact that the books cannot take: its amount is wrong, its key is known with other content, or a node was
// held by two jobs. It moves no account; a person decides.
inline constexpr char kDisputed[] = "disputed";
inline constexpr char kCorrection[] = "correction";  // of what an earlier entry is charged
inline constexpr char kClosing[] = "closing";        // of a month: what is entered later is of a later one
inline constexpr char kPayment[] = "payment";        // to an owner of machines
}  // namespace entry_kind

struct Entry {
  std::int64_t seq = 0;  // from 1, without gaps
  std::string key;       // unique
  std::string kind;
  std::string body;    // canonical JSON of a Fact, a Correction, a Closing or a Payment
  std::string remark;  // why it is disputed or clipped; empty: nothing to say
  // Node-seconds that are in an earlier entry too, because the clocks of two operators differ. Not charged.
  std::int64_t clipped = 0;
  std::int64_t entered = 0;  // Unix seconds
  std::string hash;          // SHA-256 in hex, of the hash before it and of all other fields
  bool operator==(const Entry&) const = default;
};

// The hash before the first entry.
inline constexpr std::string_view kNoHash = "";

// What the hash of the entry must be. before: the hash of the entry before it.
std::string hash_of(const Entry& entry, std::string_view before);

// What an entry adds to an account; positive: the account is owed it.
struct Posting {
  std::string account;
  std::string currency;
  base::Micros amount = 0;
  auto operator<=>(const Posting&) const = default;
};

// What the fact is charged without `clipped` node-seconds.
base::Micros amount_of(const Fact& fact, std::int64_t clipped);
// The part of it until `moment`, which is put between its begin and its end. What is not charged for is taken
// from the last part.
base::Micros amount_until(const Fact& fact, std::int64_t clipped, std::int64_t moment);

// What the platform keeps of an amount: its fee, rounded down; all of it if the machines are its own.
base::Micros platform_part(const Fact& fact, base::Micros amount);

// For the fact, `after` is charged and no longer `before`. Accounts: "tenant:<namespace>" pays,
// "owner:<name>" and "platform" are paid. Their sum is 0.
std::vector<Posting> postings_of(const Fact& fact, base::Micros before, base::Micros after);

}  // namespace gpupool::ledger
