// SPDX-License-Identifier: Apache-2.0
#pragma once

struct Big {
  long numbers[9];
};

extern "C" {
double arguments_mixed(int a, double b, long c, double d, const char* e, float f, int g, double h, int i,
                       double j, int k, double l, int m, double n, int o, double p, int q, double r);
double arguments_variadic(int count, ...);
Big arguments_big(Big value, int add);
int arguments_missing();
}
