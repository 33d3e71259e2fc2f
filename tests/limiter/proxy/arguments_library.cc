// SPDX-License-Identifier: Apache-2.0
// libarguments.so.1: functions whose result depends on every argument, of each kind that a call can pass.
#include "tests/limiter/proxy/arguments.h"

#include <cstdarg>

extern "C" {

double arguments_mixed(int a, double b, long c, double d, const char* e, float f, int g, double h, int i,
                       double j, int k, double l, int m, double n, int o, double p, int q, double r) {
  return a + 2 * b + 3 * static_cast<double>(c) + 4 * d + 5 * e[0] + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j +
         11 * k + 12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r;
}

double arguments_variadic(int count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    sum = sum * 10 + va_arg(list, double) + va_arg(list, int);
  }
  va_end(list);
  return sum;
}

Big arguments_big(Big value, int add) {
  for (long& number : value.numbers) {
    number += add;
  }
  return value;
}

}  // extern "C"
