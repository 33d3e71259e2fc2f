// SPDX-License-Identifier: Apache-2.0
// Linked into test programs with ONE_THREAD (cmake/testing.cmake): ends the program where a thread is
// started.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  std::fputs("A test or the code that it tests starts a thread: take ONE_THREAD off its gpupool_test()\n",
             stderr);
  std::abort();
}
