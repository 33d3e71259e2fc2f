// SPDX-License-Identifier: Apache-2.0
// An owner of machines was paid. No money moves here: a person enters what the bank has done.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/money.h"
#include "base/result.h"
#include "books/books.h"
#include "books/entry.h"

namespace gpupool::ledger {

struct Payment {
  std::string owner;
  std::string currency;
  base::Micros amount = 0;  // negative: a payment is taken back
  std::string reference;    // of the bank, for example; only one payment has it
  bool operator==(const Payment&) const = default;

  std::string key() const { return "payment/" + reference; }
};

// Canonical JSON: one text for each payment.
std::string to_text(const Payment& payment);
base::Result<Payment> payment_from(const std::string& text);

// The owner is owed less; the account "payments" has what was paid. Their sum is 0.
std::vector<Posting> postings_of(const Payment& payment);

// Enters a payment. Fails if another one has its reference, or if its amount is 0.
base::Result<Entry> pay(Books& books, const Payment& payment);

// Visits every payment, in order.
base::Result<void> each_payment(Books& books, const std::function<void(const Entry&, const Payment&)>& visit);

}  // namespace gpupool::ledger

namespace gpupool::base::json {

template <>
struct Schema<ledger::Payment> {
  using T = ledger::Payment;
  static constexpr auto fields = std::array{field<&T::owner>("owner"), field<&T::currency>("currency"),
                                            field<&T::amount>("amount"), field<&T::reference>("reference")};
};

}  // namespace gpupool::base::json
