// SPDX-License-Identifier: Apache-2.0
// Runs on a device, and fills it until there is no room.
#include <omp.h>
#include <stdio.h>

int main(void) {
  int pieces = 0;
  double values[100] = {0};
#pragma omp target map(tofrom : values)
  values[0] = 1;
  while (omp_target_alloc(16 << 20, 0) != NULL) ++pieces;
  printf("%d devices, %d MiB\n", omp_get_num_devices(), pieces * 16);
  return 0;
}
