// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The part of NVML's C interface that gpupool calls, declared from its documentation (NVML API
// reference, 11.0 to 13.0): names are ours, values and layouts are NVIDIA's and never change for a given
// function version.
namespace gpupool::nvidia::nvml {

enum class Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kLibraryMismatch = 18,  // LIB_RM_VERSION_MISMATCH: the kernel runs another version
  kArgumentVersionMismatch = 25,
  kUnknown = 999,
};

// Opaque handles, valid until nvmlShutdown().
struct DeviceTag;
using Device = DeviceTag*;
struct EventSetTag;
using EventSet = EventSetTag*;
struct GpuInstanceTag;
using GpuInstance = GpuInstanceTag*;
struct ComputeInstanceTag;
using ComputeInstance = ComputeInstanceTag*;

inline constexpr std::size_t kUuidSize = 96;
inline constexpr std::size_t kNameSize = 96;
inline constexpr std::size_t kVersionSize = 80;

struct PciInfo {  // nvmlPciInfo_t of _v3
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int device_id;
  unsigned int subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

inline constexpr unsigned long long kMiB = 1ULL << 20U;  // NVML counts memory in bytes

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;  // with what the driver keeps for itself
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8);
inline constexpr unsigned int kMemoryV2Version = sizeof(MemoryV2) | (2U << 24U);

struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};

struct ProcessInfo {  // nvmlProcessInfo_t of _v2 and _v3
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24 && offsetof(ProcessInfo, used_bytes) == 8);
inline constexpr unsigned long long kBytesUnknown = ~0ULL;

struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // the XID
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(EventData) == 32 && offsetof(EventData, gpu_instance) == 24);

inline constexpr unsigned long long kEventSingleBitEcc = 0x1;
inline constexpr unsigned long long kEventDoubleBitEcc = 0x2;
inline constexpr unsigned long long kEventXidCritical = 0x8;
inline constexpr unsigned int kNoInstance = 0xFFFFFFFFU;

struct DeviceAttributes {
  unsigned int multiprocessors;
  unsigned int copy_engines;
  unsigned int decoders;
  unsigned int encoders;
  unsigned int jpeg_engines;
  unsigned int ofa_engines;
  unsigned int gpu_instance_slices;
  unsigned int compute_instance_slices;
  unsigned long long memory_mib;
};
static_assert(sizeof(DeviceAttributes) == 40 && offsetof(DeviceAttributes, memory_mib) == 32);

struct FieldValue {
  unsigned int field;
  unsigned int scope;
  long long timestamp;
  long long latency_usec;
  unsigned int value_type;
  Return result;
  union {
    double real;
    unsigned int u32;
    unsigned long long u64;
  } value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

// What the driver says must be done to use a GPU again (R570 and later).
inline constexpr unsigned int kFieldRecoveryAction = 230;
inline constexpr unsigned int kRecoveryNone = 0;
inline constexpr unsigned int kRecoveryGpuReset = 1;
inline constexpr unsigned int kRecoveryNodeReboot = 2;
inline constexpr unsigned int kRecoveryDrainAndReset = 4;

inline constexpr unsigned int kTopologyInternal = 0;
inline constexpr unsigned int kTopologySingle = 10;
inline constexpr unsigned int kTopologyMultiple = 20;
inline constexpr unsigned int kTopologyHostBridge = 30;
inline constexpr unsigned int kTopologyNode = 40;
inline constexpr unsigned int kTopologySystem = 50;

inline constexpr unsigned int kMaxNvlinks = 36;
inline constexpr unsigned int kNvlinkToGpu = 0;
inline constexpr unsigned int kNvlinkToSwitch = 2;

inline constexpr unsigned int kEnabled = 1;
inline constexpr unsigned int kTemperatureGpu = 0;

}  // namespace gpupool::nvidia::nvml
