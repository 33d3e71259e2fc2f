// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first function of this name in the loader's list of objects, by their symbol tables and without dlsym;
// nullptr: none. For programs that do not trust the loader.
void* walk_to_symbol(const char* name);
