// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "slices/table.h"

namespace gpupool::slices {

// What one GPU contributes to one resource.
struct Offer {
  std::string resource;
  SlicedGpu gpu;
  std::vector<Slice> slices;  // in order of ordinal
};

bool is_mig(const Slice& slice);
// Whether both have the same resources with the same devices of the same sizes. Health and what may be
// renumbered (index, minor number) are not compared.
bool same_cut(const std::vector<Offer>& one, const std::vector<Offer>& other);
// What `uuid` contributes to the table, in order of resource name.
std::vector<Offer> offers_of(const Table& table, const std::string& uuid);
// Resources in order of name, GPUs in order of index, slices in order of their GPU's.
Table assemble(std::vector<Offer> offers, settings::Policy policy);

}  // namespace gpupool::slices
