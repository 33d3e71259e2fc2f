// SPDX-License-Identifier: Apache-2.0
#include "books/payment.h"

#include <nlohmann/json.hpp>

namespace gpupool::ledger {

std::string to_text(const Payment& payment) {
  const nlohmann::json fields = {{"owner", payment.owner},
                                 {"currency", payment.currency},
                                 {"amount", payment.amount},
                                 {"reference", payment.reference}};
  return fields.dump();  // keys are in order
}

base::Result<Payment> payment_from(const std::string& text) { return base::json::read<Payment>(text); }

std::vector<Posting> postings_of(const Payment& payment) {
  return {{"owner:" + payment.owner, payment.currency, -payment.amount},
          {"payments", payment.currency, payment.amount}};
}

base::Result<Entry> pay(Books& books, const Payment& payment) {
  if (payment.amount == 0)
    return base::fail(base::ErrorCode::kInvalidArgument, "the amount of a payment must not be 0");
  return books.add([&]() -> base::Result<Entry> {
    std::int64_t known = 0;
    const auto all = each_payment(books, [&](const Entry& entry, const Payment& other) {
      if (other.reference == payment.reference) known = entry.seq;
    });
    if (!all) return tl::unexpected<base::Error>(all.error());
    if (known != 0)
      return base::fail(base::ErrorCode::kInvalidArgument, "the payment with the reference \"" +
                                                               payment.reference + "\" is entry " +
                                                               std::to_string(known) + " already");
    return Entry{0, payment.key(), entry_kind::kPayment, to_text(payment), "", 0, 0, ""};
  });
}

base::Result<void> each_payment(Books& books,
                                const std::function<void(const Entry&, const Payment&)>& visit) {
  base::Result<void> understood;
  auto all = books.each_amendment([&](const Entry& entry) {
    if (entry.kind != entry_kind::kPayment) return true;
    const auto payment = payment_from(entry.body);
    if (!payment) understood = tl::unexpected<base::Error>(payment.error());
    if (payment) visit(entry, *payment);
    return understood.has_value();
  });
  return understood ? all : understood;
}

}  // namespace gpupool::ledger
