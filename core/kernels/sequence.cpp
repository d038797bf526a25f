#include "kernels/sequence.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "base/mirror.hpp"

namespace filbert {

namespace {

using Sequence = std::span<const LabelId>;

template <class Number>
struct Scratch {
  std::vector<Number> columns;
  std::vector<Number> before;
};

// Both recursions visit the pairs (i, j) of positions row by row. With A(i, j) the weight of the
// common subsequences that end at i and j, they keep
//   column j:  sum over g < i of decay^(i - 1 - g) A(g, j),
//   before:    sum over g < i, h < j of decay^((i - 1 - g) + (j - 1 - h)) A(g, h),
// so that they need memory for one row only, and nothing is ever subtracted. A label that matches
// costs decay^2. The caller multiplies by the cost of the last label. The computed value is then at
// least 1 for sequences that have a subsequence without gaps in common, and no decay is too small
// for double.

// All lengths: A(i, j) = 1 + decay^2 before, for equal labels.
template <class Number>
Number all_lengths(Sequence s, Sequence t, double decay, Scratch<Number>& scratch,
                   const StopToken& token) {
  const Number one(1.0), step(decay * decay), gap(decay);
  std::vector<Number>& columns = scratch.columns;
  columns.assign(t.size(), Number(0.0));
  Number sum(0.0);
  for (const LabelId label : s) {
    token.check();
    Number before(0.0);
    for (std::size_t j = 0; j < t.size(); ++j) {
      const Number above = columns[j];
      columns[j] = gap * above;
      if (t[j] == label) {
        const Number value = one + step * before;
        columns[j] += value;
        sum += value;
      }
      before = gap * before + above;
    }
  }
  return sum;
}

// One length p: A_1(i, j) = 1 and A_q(i, j) = before_(q-1), for equal labels; the same sums for
// each q < p side by side. The caller multiplies by the cost of all labels, decay^(2 p). Lengths
// that do not fit into the positions up to i and j are left out, and so are lengths that the
// positions after them cannot complete to p.
template <class Number>
Number one_length(Sequence s, Sequence t, double decay, std::size_t p, Scratch<Number>& scratch,
                  const StopToken& token) {
  Number sum(0.0);
  if (p > std::min(s.size(), t.size())) return sum;
  const Number gap(decay);
  scratch.columns.assign(t.size() * p, Number(0.0));
  scratch.before.resize(p);
  for (std::size_t i = 0; i < s.size(); ++i) {
    token.check();
    Number* const before = scratch.before.data();  // by length; for length 0 it is 1 everywhere
    std::fill_n(before, p, Number(0.0));
    before[0] = Number(1.0);
    for (std::size_t j = 0; j < t.size(); ++j) {
      Number* const column = scratch.columns.data() + j * p;
      const bool match = s[i] == t[j];
      if (match) sum += before[p - 1];
      const std::size_t behind = std::min(s.size() - i, t.size() - j - 1);
      const std::size_t least = p > behind ? p - behind : 1;
      for (std::size_t q = std::min(p - 1, std::min(i, j) + 1); q >= least; --q) {
        const Number above = column[q];
        column[q] = gap * above;
        if (match) column[q] += before[q - 1];  // the old value: lengths are visited downwards
        before[q] = gap * before[q] + above;
      }
    }
  }
  return sum;
}

// The kernel without the cost of the labels that are common to all lengths.
template <class Number>
Number bare_value(const SequenceSpec& spec, Sequence s, Sequence t, Scratch<Number>& scratch,
                  const StopToken& token) {
  if (t.size() > s.size()) std::swap(s, t);  // the shorter one is the row
  if (spec.length == 0) return all_lengths(s, t, spec.decay, scratch, token);
  return one_length(s, t, spec.decay, spec.length, scratch, token);
}

// Computes with doubles first, and again with Wide if the value is out of their range.
struct Worker {
  Scratch<double> narrow;
  Scratch<Wide> wide;

  Wide value(const SequenceSpec& spec, Sequence s, Sequence t, const StopToken& token) {
    const double first = bare_value(spec, s, t, narrow, token);
    return std::isfinite(first) ? Wide(first) : bare_value(spec, s, t, wide, token);
  }
};

std::vector<Worker> workers_for(int n_threads) {
  return std::vector<Worker>(std::max(1, n_threads));
}

// decay^2 for each label of a subsequence, as far as the bare values leave it out.
Wide cost_of_labels(const SequenceSpec& spec) {
  Wide base = Wide(spec.decay) * Wide(spec.decay);
  Wide cost(1.0);
  for (std::uint32_t n = std::max(1u, spec.length); n > 0; n /= 2, base *= base) {
    if (n % 2 == 1) cost *= base;
  }
  return cost;
}

double n_steps(const SequenceSpec& spec, Sequences a, Sequences b) {
  return static_cast<double>(a.labels.size()) * static_cast<double>(b.labels.size()) *
         std::max(1u, spec.length);
}

std::vector<Wide> bare_selves(const SequenceSpec& spec, Sequences sequences, int n_threads,
                              const Watch& watch) {
  n_threads = threads_for(n_steps(spec, sequences, sequences), n_threads);
  std::vector<Wide> values(sequences.size());
  std::vector<Worker> workers = workers_for(n_threads);
  parallel_for(sequences.size(), n_threads, watch,
               [&](std::size_t i, int worker, const StopToken& token) {
                 values[i] = workers[worker].value(spec, sequences[i], sequences[i], token);
               });
  return values;
}

std::vector<Wide> bare_norms(const SequenceSpec& spec, Sequences sequences, int n_threads,
                             const Watch& watch) {
  std::vector<Wide> norms = bare_selves(spec, sequences, n_threads, watch);
  for (Wide& norm : norms) norm = sqrt(norm);
  return norms;
}

double raw_entry(const Wide& bare, const Wide& cost, std::size_t i, std::size_t j) {
  const double value = (bare * cost).to_double();
  if (!std::isfinite(value)) {
    throw KernelOverflow("the kernel value of sequences " + std::to_string(i) + " and " +
                         std::to_string(j) + " is beyond the range of float64");
  }
  return value;
}

// The columns below n_columns(i) of each row i.
template <class Columns>
void fill(const SequenceSpec& spec, Sequences a, Sequences b, const std::vector<Wide>* norms_a,
          const std::vector<Wide>* norms_b, int n_threads, const Watch& watch, double* out,
          const Columns& n_columns) {
  n_threads = threads_for(n_steps(spec, a, b), n_threads);
  const Wide cost = cost_of_labels(spec);
  std::vector<Worker> workers = workers_for(n_threads);
  parallel_for(a.size(), n_threads, watch, [&](std::size_t i, int worker, const StopToken& token) {
    for (std::size_t j = 0; j < n_columns(i); ++j) {
      const Wide value = workers[worker].value(spec, a[i], b[j], token);
      // Rounding could bring the value above 1, which Cauchy-Schwarz excludes.
      out[i * b.size() + j] = norms_a == nullptr
                                  ? raw_entry(value, cost, i, j)
                                  : std::min(1.0, ratio(value, (*norms_a)[i], (*norms_b)[j]));
    }
  });
}

}  // namespace

std::vector<Wide> self_kernels(const SequenceSpec& spec, Sequences sequences, int n_threads,
                               const Watch& watch) {
  std::vector<Wide> values = bare_selves(spec, sequences, n_threads, watch);
  const Wide cost = cost_of_labels(spec);
  for (Wide& value : values) value *= cost;
  return values;
}

void kernel_matrix(const SequenceSpec& spec, Sequences a, Sequences b, bool normalize,
                   int n_threads, const Watch& watch, double* out) {
  std::vector<Wide> norms_a, norms_b;
  if (normalize) {
    norms_a = bare_norms(spec, a, n_threads, watch);
    norms_b = bare_norms(spec, b, n_threads, watch);
  }
  fill(spec, a, b, normalize ? &norms_a : nullptr, &norms_b, n_threads, watch, out,
       [&](std::size_t) { return b.size(); });
}

void kernel_matrix(const SequenceSpec& spec, Sequences a, bool normalize, int n_threads,
                   const Watch& watch, double* out) {
  std::vector<Wide> norms;
  if (normalize) norms = bare_norms(spec, a, n_threads, watch);
  fill(spec, a, a, normalize ? &norms : nullptr, &norms, n_threads, watch, out,
       [&](std::size_t i) { return i + 1; });
  mirror(Half::left, a.size(), out, n_threads, watch);
  for (std::size_t i = 0; normalize && i < a.size(); ++i) {
    out[i * a.size() + i] = norms[i].is_zero() ? 0.0 : 1.0;
  }
}

}  // namespace filbert
