// A tree kernel whose name and parameters can be read, for references.
#pragma once

#include <memory>
#include <string>

#include "catalogue/tree_kernels.hpp"

namespace filbert {

struct SomeKernel : KernelParameters {
  std::string name = "subset_tree";
  std::shared_ptr<const ChosenSymbols> chosen;

  operator KernelSpec() const { return {make_kernel(name, *this).kernel, chosen}; }
};

}  // namespace filbert
