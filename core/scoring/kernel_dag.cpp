#include "scoring/kernel_dag.hpp"

#include <algorithm>

namespace filbert {

namespace {

// Rows with at most this many numbers in total are kept until the tree is done. If there are more,
// a row is freed as soon as all parents have used it.
constexpr std::uint64_t kFewNumbers = std::uint64_t{1} << 20;

// Four sums: an addition need not wait for the previous one.
double dot(const double* a, const double* b, std::size_t n) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The same for every `stride`-th number of b.
double dot(const double* a, const double* b, std::size_t stride, std::size_t n) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[(i + lane) * stride];
  }
  for (; i < n; ++i) sums[0] += a[i] * b[i * stride];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

// ------------------------------------------------------------------------------ the DAG

void KernelDag::clear() {
  for (std::uint32_t l = 0; l < n_lists(); ++l) {
    lists_[l].weights.clear();
    lists_[l].child_begin.assign(1, 0);
    lists_[l].children.clear();
    lists_[l].bits.clear();
    lists_[l].calls = 0;
  }
  entry_of_.clear();
  places_.clear();
  list_of_.clear();
  class_bits_ = 0;
}

std::span<const std::uint32_t> KernelDag::add(const TreeNodes& tree, double factor) {
  entries_.clear();
  for (std::uint32_t v = 0; v < tree.size(); ++v) {
    const std::uint32_t entry = entry_of_.insert(tree.nodes[v]);
    entries_.push_back(entry);
    if (entry == places_.size()) append(tree, v);
    weight(entry, 0) += factor * tree.weights[v];
  }
  return entries_;
}

// Algorithm 6 for a new node. Its children are already in the DAG.
void KernelDag::append(const TreeNodes& tree, std::uint32_t v) {
  const std::uint32_t number = list_of_.insert(tree.cls[v]);
  class_bits_ |= label_bit(tree.cls[v]);
  if (number == lists_.size()) lists_.emplace_back();
  List& list = lists_[number];
  places_.push_back({number, list.size()});
  list.weights.resize(list.weights.size() + n_columns_, 0.0);
  std::uint64_t bits = 0;
  for (const std::uint32_t child : tree.children_of(v)) {
    list.children.push_back(child == kNone ? Place{} : places_[entries_[child]]);
    bits |= bit(list.children.back().list);
  }
  list.bits.push_back(bits);
  list.child_begin.push_back(static_cast<std::uint32_t>(list.children.size()));
  ++list.calls;
}

void KernelDag::set_weights(std::span<const double> weights) {
  for (std::uint32_t entry = 0; entry < size(); ++entry) weight(entry, 0) = weights[entry];
}

void KernelDag::count_occurrences(const TreeNodes& tree) {
  for (std::uint32_t v = 0; v < tree.size(); ++v) {
    std::uint64_t& calls = lists_[list_of_.find(tree.cls[v])].calls;
    calls = calls + tree.calls[v] - 1;  // may be 0, for a node that is no root of fragments
  }
}

// ------------------------------------------------------------------------------ its kernel

double DagKernel::operator()(const KernelDag& dag, const TreeNodes& tree, const StopToken& token) {
  double total = 0.0;
  for_each_row(dag, tree, token, [&](std::uint32_t v, std::uint32_t number, const double* deltas) {
    const std::vector<double>& weights = dag.list(number).weights;
    total += tree.weights[v] * dot(weights.data(), deltas, weights.size());
  });
  return total;
}

void DagKernel::scores(const KernelDag& dag, const TreeNodes& tree, std::span<double> out,
                       const StopToken& token) {
  for_each_row(dag, tree, token, [&](std::uint32_t v, std::uint32_t number, const double* deltas) {
    const KernelDag::List& list = dag.list(number);
    for (std::size_t c = 0; c < out.size(); ++c) {
      out[c] +=
          tree.weights[v] * dot(deltas, list.weights.data() + c, dag.n_columns(), list.size());
    }
  });
}

void DagKernel::project(const KernelDag& dag, const TreeNodes& tree,
                        std::span<const std::uint64_t> offsets, std::span<double> out,
                        const StopToken& token) {
  for_each_row(dag, tree, token, [&](std::uint32_t v, std::uint32_t number, const double* deltas) {
    double* const sums = out.data() + offsets[number];
    const double weight = tree.weights[v];
    const std::uint32_t n = dag.list(number).size();
    for (std::uint32_t i = 0; i < n; ++i) sums[i] += weight * deltas[i];
  });
}

void DagKernel::rows(const KernelDag& dag, const TreeNodes& tree, const StopToken& token,
                     const UseRow& use) {
  for_each_row(dag, tree, token, use);
}

template <class Use>
void DagKernel::for_each_row(const KernelDag& dag, const TreeNodes& tree, const StopToken& token,
                             const Use& use) {
  const std::uint64_t n_numbers = look_up(dag, tree);
  pooled_ = n_numbers > kFewNumbers;
  if (!pooled_ && small_.size() < n_numbers) small_.resize(n_numbers);
  double* next = small_.data();
  for (std::uint32_t v = 0; v < tree.size(); ++v) {
    DagRow& row = rows_[v];
    if (row.list == kNone) continue;
    const KernelDag::List& list = dag.list(row.list);
    row.deltas = pooled_ ? pool_.take(list.size()) : next;
    next += list.size();
    recursion_->compute(list, tree, v, rows_.data(), token, row.deltas);
    counts_.calls += tree.calls[v] * list.calls;
    counts_.computed += list.size();
    use(v, row.list, row.deltas);
    if (!pooled_) continue;
    if (row.uses == 0) release(dag, v);
    for (const std::uint32_t child : tree.children_of(v)) {
      if (child != kNone && --rows_[child].uses == 0) release(dag, child);
    }
    token.check();
  }
}

// Looks up the list of each node. Returns the total size of all rows.
std::uint64_t DagKernel::look_up(const KernelDag& dag, const TreeNodes& tree) {
  if (rows_.size() < tree.size()) rows_.resize(tree.size());
  std::uint64_t n_numbers = 0;
  for (std::uint32_t v = 0; v < tree.size(); ++v) {
    const std::uint32_t number = dag.list_of(tree.cls[v]);
    rows_[v] = {number, tree.uses[v], nullptr};
    if (number != kNone) n_numbers += dag.list(number).size();
  }
  return n_numbers;
}

void DagKernel::release(const KernelDag& dag, std::uint32_t v) {
  DagRow& row = rows_[v];
  if (row.deltas != nullptr) pool_.give_back(row.deltas, dag.list(row.list).size());
  row.deltas = nullptr;
}

}  // namespace filbert
