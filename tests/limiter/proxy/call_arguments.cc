// SPDX-License-Identifier: Apache-2.0
// call-arguments: calls the functions of libarguments.so.1 twice, the first time through a table that is
// still empty, and prints what they return.
#include <iostream>

#include "tests/limiter/proxy/arguments.h"

namespace {

void call_all() {
  std::cout << arguments_mixed(1, 2.5, 3, 4.5, "five", 6.25F, 7, 8.5, 9, 10.5, 11, 12.5, 13, 14.5, 15, 16.5,
                               17, 18.5)
            << ' ' << arguments_variadic(4, 1.5, 1, 2.5, 2, 3.5, 3, 4.5, 4);
  for (const long number : arguments_big({{1, 2, 3, 4, 5, 6, 7, 8, 9}}, 100).numbers) {
    std::cout << ' ' << number;
  }
  std::cout << ' ' << arguments_missing() << '\n';
}

}  // namespace

int main() {
  call_all();
  call_all();
}
