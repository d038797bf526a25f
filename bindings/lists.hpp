// Lists of Python as vectors. nanobind makes a vector of an argument where memory that runs out
// ends the process. In a function it is a MemoryError. So functions take a Sequence.
#pragma once

#include <vector>

#include "bindings.hpp"

namespace filbert {

template <class... Items>
using Sequence = nb::typed<nb::sequence, Items...>;

// Items must not refer to the objects of the list, which may be made as they are asked for.
template <class Item>
std::vector<Item> to_vector(nb::handle list) {
  std::vector<Item> items;
  items.reserve(nb::len(list));
  for (const nb::handle item : list) items.push_back(nb::cast<Item>(item));
  return items;
}

}  // namespace filbert
