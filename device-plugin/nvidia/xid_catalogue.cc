// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid_catalogue.h"

#include <algorithm>
#include <array>

namespace gpupool::nvidia {

namespace {

using settings::ErrorAction;

// Numbers from `first` to `last`.
struct XidEntry {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  ErrorAction action = ErrorAction::kUnhealthy;
  const char* meaning = "";  // NVIDIA's description in short
};

constexpr auto kIgnore = ErrorAction::kIgnore;
constexpr auto kUnhealthy = ErrorAction::kUnhealthy;
constexpr auto kUntilReset = ErrorAction::kUntilReset;

// From the immediate action in NVIDIA's XID catalog (docs.nvidia.com/deploy/xid-errors): IGNORE and
// RESTART_APP say that the GPU serves the next process, RESET_GPU, RESTART_VM and RESTART_BM that it does
// not. Where the catalog leads through a workflow, the probes decide, which see the recovery action that the
// driver wants. In order of number.
constexpr std::array kTable{
    XidEntry{8, 8, kIgnore, "the GPU stopped processing"},
    XidEntry{11, 11, kIgnore, "invalid or corrupted push buffer stream"},
    XidEntry{13, 13, kIgnore, "graphics engine exception"},
    XidEntry{14, 14, kIgnore, "test error"},
    XidEntry{25, 25, kIgnore, "invalid or illegal push buffer stream"},
    XidEntry{31, 31, kIgnore, "memory page fault of a process"},
    XidEntry{32, 32, kIgnore, "invalid or corrupted push buffer stream"},
    XidEntry{37, 38, kIgnore, "driver firmware error"},
    XidEntry{39, 41, kIgnore, "copy engine exception"},
    XidEntry{43, 43, kIgnore, "the GPU stopped processing for a process"},
    XidEntry{44, 44, kIgnore, "fault during a context switch"},
    XidEntry{45, 45, kIgnore, "preemptive cleanup, due to errors of before"},
    XidEntry{46, 46, kUntilReset, "the GPU stopped processing"},
    XidEntry{48, 48, kUntilReset, "double bit ECC error"},
    XidEntry{54, 54, kUnhealthy, "auxiliary power is not connected"},
    XidEntry{60, 60, kIgnore, "video processor exception"},
    XidEntry{61, 61, kUnhealthy, "breakpoint of the internal microcontroller"},
    XidEntry{62, 62, kUntilReset, "the internal microcontroller halted"},
    XidEntry{63, 63, kIgnore, "a memory row or page was marked for replacement"},
    XidEntry{64, 64, kUntilReset, "a memory row or page could not be marked for replacement"},
    XidEntry{66, 67, kIgnore, "illegal access by the driver"},
    XidEntry{68, 68, kIgnore, "video processor exception"},
    XidEntry{69, 69, kIgnore, "graphics engine class error"},
    XidEntry{70, 72, kIgnore, "copy engine exception"},
    XidEntry{74, 74, kUnhealthy, "NVLink error"},
    XidEntry{75, 77, kIgnore, "copy engine exception"},
    XidEntry{78, 78, kUnhealthy, "a virtual GPU could not be started"},
    XidEntry{79, 79, kUntilReset, "the GPU has fallen off the bus"},
    XidEntry{80, 80, kIgnore, "corrupted data sent to the GPU"},
    XidEntry{82, 82, kIgnore, "JPEG engine error"},
    XidEntry{83, 84, kIgnore, "video decoder error"},
    XidEntry{85, 85, kIgnore, "copy engine exception"},
    XidEntry{86, 86, kIgnore, "optical flow accelerator error"},
    XidEntry{88, 89, kIgnore, "video decoder error"},
    XidEntry{92, 92, kIgnore, "high rate of single bit ECC errors"},
    XidEntry{93, 93, kIgnore, "too many erases of the InfoROM"},
    // The application is killed and the GPU goes on: containment is there for that.
    XidEntry{94, 94, kIgnore, "contained memory error"},
    XidEntry{95, 95, kUntilReset, "uncontained memory error"},
    XidEntry{96, 98, kIgnore, "video decoder error"},
    XidEntry{99, 105, kIgnore, "JPEG engine error"},
    XidEntry{106, 107, kIgnore, "test message of the system management interface"},
    XidEntry{108, 108, kIgnore, "address translation error of an NVLink peer"},
    XidEntry{109, 109, kUntilReset, "context switch timeout"},
    XidEntry{110, 110, kUntilReset, "security fault"},
    XidEntry{119, 119, kUntilReset, "the GPU's system processor does not answer"},
    XidEntry{120, 120, kUntilReset, "error of the GPU's system processor"},
    XidEntry{121, 121, kIgnore, "corrected error of the chip-to-chip link"},
    XidEntry{126, 135, kIgnore, "copy engine exception"},
    XidEntry{136, 136, kUntilReset, "NVLink training failed"},
    XidEntry{137, 137, kIgnore, "access error of an NVLink peer"},
    XidEntry{139, 139, kIgnore, "optical flow accelerator error"},
    XidEntry{140, 140, kUntilReset, "unrecovered ECC error"},
    XidEntry{141, 141, kIgnore, "fast path error"},
    XidEntry{142, 142, kUnhealthy, "video encoder error"},
    XidEntry{143, 143, kUntilReset, "the GPU could not be initialised"},
    XidEntry{144, 146, kUnhealthy, "NVLink error"},
    XidEntry{147, 148, kIgnore, "NVLink error"},
    XidEntry{149, 149, kUnhealthy, "NVLink error"},
    XidEntry{150, 150, kUntilReset, "NVLink management engine error"},
    XidEntry{151, 151, kUntilReset, "key rotation error"},
    XidEntry{152, 153, kIgnore, "deep learning accelerator error"},
    // The probes read the action itself.
    XidEntry{154, 154, kIgnore, "the recovery action of the GPU has changed"},
    XidEntry{155, 155, kUntilReset, "NVLink error that software defines"},
    XidEntry{156, 156, kUntilReset, "a resource was marked for retirement"},
    XidEntry{157, 157, kIgnore, "a resource could not be marked for retirement"},
    XidEntry{158, 158, kUntilReset, "fatal timeout of the GPU"},
    XidEntry{159, 159, kUnhealthy, "chip-to-chip interface error"},
    XidEntry{160, 161, kIgnore, "retirement of a memory channel"},
    XidEntry{162, 165, kIgnore, "power smoothing"},
    // Say which memory a 48, 94 or 95 was about.
    XidEntry{171, 171, kIgnore, "uncorrectable error in DRAM"},
    XidEntry{172, 172, kIgnore, "uncorrectable error in SRAM"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i + 1 < kTable.size(); ++i) {
    if (kTable[i].last < kTable[i].first || kTable[i + 1].first <= kTable[i].last) return false;
  }
  return true;
}
static_assert(in_order());

health::ErrorMeaning find_xid(std::uint64_t xid) {
  const auto* const at = std::ranges::lower_bound(kTable, xid, {}, &XidEntry::last);
  if (at != kTable.end() && at->first <= xid) return {at->action, at->meaning};
  return {kUnhealthy, "an error that is not in the catalog"};
}

}  // namespace

health::ErrorCatalogue xid_catalogue() {
  return {.log_message = "XID", .log_key = "xid", .reason_prefix = "Xid", .find = find_xid};
}

}  // namespace gpupool::nvidia
