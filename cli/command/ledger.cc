// SPDX-License-Identifier: Apache-2.0
#include "command/ledger.h"

#include "command/own_service.h"

namespace gpupool::command {
namespace {

constexpr OwnService kLedger{"--ledger", "gpupool-system/gpupool-ledger", 7072, "the ledger"};

}  // namespace

void add_ledger_flag(Flags& flags, std::string& ledger) { add_service_flag(flags, kLedger, ledger); }

base::Result<std::string> ledger_prefix(const std::string& ledger, const Context& context) {
  return service_prefix(kLedger, ledger, context);
}

bool no_way_to_ledger(const base::Error& error) {
  return (error.code == base::ErrorCode::kNotFound || error.code == base::ErrorCode::kForbidden) &&
         error.message.find("services \"") != std::string::npos;
}

}  // namespace gpupool::command
