#pragma once

#include <cstddef>

#include "base/parallel.hpp"

namespace filbert {

// Completes a symmetric n x n matrix of which one half is known: the entries right of the diagonal
// or the entries left of it.
enum class Half { right, left };
void mirror(Half known, std::size_t n, double* matrix, int n_threads, const Watch& watch);

}  // namespace filbert
