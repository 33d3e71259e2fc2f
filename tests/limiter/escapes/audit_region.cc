// SPDX-License-Identifier: Apache-2.0
// audit-region REGION LIMIT_MIB USED_BYTES: what the device plugin's audit finds of a container with this
// region and limit whose processes use so much as the driver says. Two rounds, as it takes to believe
// something. Prints "fits", or a finding's kind, bytes used, and bytes of the limit or counted.
#include <iostream>
#include <string>

#include "enforcement/audit.h"
#include "enforcement/region_use.h"

namespace enforcement = gpupool::enforcement;

namespace {

constexpr std::uint64_t kTolerance = 16ULL << 20U;

const char* name_of(enforcement::Finding::Kind kind) {
  return kind == enforcement::Finding::Kind::kOverLimit ? "OverLimit" : "Uncounted";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  enforcement::Share share;
  share.pod_uid = "u";
  share.gpu = "g";
  share.limit_bytes = std::stoull(argv[2]) << 20U;
  share.tolerance_bytes = kTolerance;
  if (const auto region = enforcement::read_region(argv[1]); region && !region->devices.empty()) {
    share.counted_bytes = region->devices[0].counted_bytes();
  } else {
    std::cout << "unreadable\n";
  }
  enforcement::DriverFigures figures;
  figures.processes = {{"u", std::stoull(argv[3])}};
  enforcement::Auditor auditor;
  auditor.round({share}, {{"g", figures}}, {});
  const auto findings = auditor.round({share}, {{"g", figures}}, {});
  if (findings.empty()) std::cout << "fits\n";
  for (const auto& finding : findings) {
    std::cout << name_of(finding.kind) << ' ' << finding.used_bytes << ' ' << finding.other_bytes << '\n';
  }
  return 0;
}
