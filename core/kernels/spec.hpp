#pragma once

#include <cstdint>
#include <memory>

namespace filbert {

class ChosenSymbols;

enum class TreeKernel { subtree, subset_tree, partial_tree };

// How a common child subsequence is weighed by the partial tree kernel: by its whole span on both
// sides (Severyn & Moschitti 2012, Eq. 8), or by the skipped children alone (SVM-light-TK, KeLP).
enum class Penalty { span, gaps };

struct KernelSpec {
  TreeKernel kernel = TreeKernel::subset_tree;
  double decay = 0.4;                 // lambda
  double depth_decay = 0.4;           // mu, partial trees
  bool include_leaves = false;        // subset trees: each pair of equal leaves adds lambda
  Penalty penalty = Penalty::span;    // partial trees
  std::uint32_t max_subsequence = 0;  // partial trees; 0: any length
  double max_steps = 1e9;             // partial trees: refuse a pair of nodes above this
  std::shared_ptr<const ChosenSymbols> chosen;  // of the roots of fragments; null: all count
};

}  // namespace filbert
