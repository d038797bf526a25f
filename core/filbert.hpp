// An overview of the core: what the bindings call, in the order of the data. Each declaration
// repeats the one in its own header. Tests compare the two.
//   text -> forest -> kernel -> kernel values | rows | factors -> scores -> models -> fragments
#pragma once

#include "base/errors.hpp"
#include "catalogue/tree_kernels.hpp"
#include "embed/embedding.hpp"
#include "factors/pattern_factors.hpp"
#include "factors/sum_factors.hpp"
#include "factors/vectors/vector_factors.hpp"
#include "forest/align.hpp"
#include "forest/bracket_writer.hpp"
#include "forest/builder.hpp"
#include "forest/label_sequences.hpp"
#include "forest/labelled_lines.hpp"
#include "forest/tree_reader.hpp"
#include "fragments/count.hpp"
#include "fragments/flat_fragment.hpp"
#include "fragments/miner.hpp"
#include "kernels/chosen_symbols.hpp"
#include "kernels/sequence.hpp"
#include "learn/losses/losses.hpp"
#include "learn/perceptron/perceptron.hpp"
#include "learn/planes/plane_store.hpp"
#include "learn/svm/gram_trainer.hpp"
#include "learn/svm/row_trainer.hpp"
#include "learn/svm/train.hpp"
#include "patterns/pattern_rows.hpp"
#include "rows/entries.hpp"
#include "rows/matrix.hpp"
#include "rows/tile_rows.hpp"
#include "scoring/operator.hpp"
#include "scoring/pattern_scorer.hpp"
#include "scoring/row_scorer.hpp"
#include "scoring/symbol_forms.hpp"
#include "search/searcher.hpp"

namespace filbert {

// ---------------------------------------------------------------- all stages
class StopToken;  // tells long loops to stop
struct Trees;     // some trees: a forest and the nodes that are their roots
class Wide;       // numbers beyond the range of double

// ---------------------------------------------------------------- forest
class Dag;            // a corpus: its distinct subtrees, each stored once; immutable
class DagBuilder;     // builds it, node by node
class TreeReader;     // trees from bracketed text
class LabelledLines;  // labelled trees from whole files, on threads
std::string to_brackets(const Dag& dag, NodeId root, std::size_t limit);
std::shared_ptr<const Dag> extract(const Dag& dag, std::span<NodeId> roots);
std::shared_ptr<const Dag> merge(const Dag& a, std::span<NodeId> roots_a, const Dag& b,
                                 std::span<NodeId> roots_b);
DagArrays to_arrays(const Dag& dag);
std::shared_ptr<const Dag> from_arrays(const ForestArrays& arrays, std::span<NodeId> roots);
std::vector<NodeId> find_roots(const Dag& from, std::span<const NodeId> roots, const Dag& to);
LabelSequences label_sequences(const Dag& dag, std::span<const NodeId> roots, bool leaves_only);

// ---------------------------------------------------------------- kernels
class TreeKernel;         // all that is specific to one tree kernel
struct KernelSpec;        // a tree kernel, and the symbols that its fragments are rooted in
struct KernelParameters;  // parameters of all tree kernels
KernelSpec make_kernel(std::string_view name, const KernelParameters& parameters);
class ChosenSymbols;  // the symbols of an approximate kernel
NodeSymbols node_symbols(const Dag& dag, SymbolKind kind);
std::vector<std::vector<std::string>> symbol_labels(const Dag& dag, const NodeSymbols& symbols,
                                                    SymbolKind kind);
std::vector<double> node_totals(const Dag& dag, std::span<const NodeId> roots);

// ---------------------------------------------------------------- rows: values by pairs
std::vector<Wide> self_kernels(const KernelSpec& spec, Trees trees, int n_threads,
                               const Watch& watch);
void kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                   const Watch& watch, double* out);
void kernel_matrix(const SequenceSpec& spec, Sequences a, Sequences b, bool normalize,
                   int n_threads, const Watch& watch, double* out);
std::vector<double> diagonal(std::span<const Wide> selves, bool normalize);
class TileRows;      // rows of a kernel matrix, computed on request
class PatternTable;  // the local patterns of some trees, each stored once
PatternRows pattern_rows(PatternTable& table, Trees trees, bool normalize, int n_threads,
                         const Watch& watch);

// ---------------------------------------------------------------- factors: values by fragments
struct TreeFactors;  // K = X M X^T + diagonal, over the trees of a forest
TreeFactors vector_factors(const SparseRows& rows, const PolynomialSpec& spec,
                           std::uint64_t max_bytes, int n_threads, const Watch& watch);
TreeFactors pattern_factors(const PatternSpec& spec, Trees trees, bool normalize,
                            std::uint64_t max_bytes, int n_threads, const Watch& watch);
class SumFactors;  // the same for a sum of kernels

// ---------------------------------------------------------------- scores
class KernelOperator;   // factors of trees, and all computations with them
class PatternScorer;    // scores of trees by the weights of local patterns
class RowScorer;        // scores of single new trees by the support vectors' rows
class SegmentSearcher;  // the most similar trees of an index
void cheapest_kernel_matrix(const KernelSpec& spec, Trees a, Trees b, bool normalize, int n_threads,
                            const Watch& watch, double* out);
std::vector<double> pair_forms(const KernelSpec& spec, std::shared_ptr<const Dag> dag,
                               std::vector<NodeId> roots, bool normalize,
                               std::span<const double> weights, std::size_t n_columns,
                               std::span<const std::uint32_t> symbol_of, std::size_t n_symbols,
                               int n_threads, const Watch& watch);

// ---------------------------------------------------------------- models
std::vector<std::string> loss_names();  // of the losses that problems may have
struct SvmProblems;                     // one or more problems over the same examples
struct SvmSolution;                     // the dual variables and the objectives of one problem
std::vector<SvmSolution> train_on_factors(const SumFactors& factors, const SvmProblems& problems,
                                          int n_threads, const Watch& report);
class RowTrainer;        // support vector machines on rows
class GramTrainer;       // on a given kernel matrix
class TrainingTrees;     // trees that cutting planes are made of
class PlaneStore;        // cutting planes over trees
class OnlinePerceptron;  // the kernel perceptron, tree by tree
std::unique_ptr<GrowingTerm> growing_trees(const KernelSpec& spec, std::size_t n_columns);

// ---------------------------------------------------------------- fragments and vectors
class FragmentMiner;  // the fragments that weigh most in a model
FragmentRows count_fragments(const KernelSpec& spec, FragmentForest fragments, Trees trees,
                             int n_threads, const Watch& watch);
FragmentRows fragment_features(const KernelSpec& spec, FragmentForest fragments, Trees trees,
                               bool normalize, int n_threads, const Watch& watch);
std::vector<std::string> fragment_texts(const Dag& dag, std::span<const NodeId> roots,
                                        std::span<const std::uint8_t> open);
struct KernelFeatures;  // trees as sparse rows whose products are the kernel
template <class T>
class TreeEmbedder;  // distributed trees: vectors whose products approximate a kernel

}  // namespace filbert
