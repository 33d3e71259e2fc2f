// SPDX-License-Identifier: Apache-2.0
// NVML of another version than the kernel module: initialising it fails, and nothing else is called.

namespace {

constexpr int kLibraryMismatch = 18;

}  // namespace

extern "C" {

int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned int* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device);
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned int length);
const char* nvmlErrorString(int result);

int nvmlInit_v2() { return kLibraryMismatch; }
int nvmlShutdown() { return kLibraryMismatch; }
int nvmlDeviceGetCount_v2(unsigned int*) { return kLibraryMismatch; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int, void**) { return kLibraryMismatch; }
int nvmlDeviceGetUUID(void*, char*, unsigned int) { return kLibraryMismatch; }
const char* nvmlErrorString(int) { return "Driver/library version mismatch"; }
}
