#include "features/new_rows.hpp"

#include <cmath>
#include <stdexcept>

#include "features/match_columns.hpp"
#include "features/row_writer.hpp"

namespace filbert {

namespace {

class NewRowsOf {
 public:
  NewRowsOf(const SumFactors& known, const SumFactors& joint, const FeatureOptions& options,
            int n_threads, const Watch& watch)
      : known_(known),
        joint_(joint),
        options_(options),
        n_known_(known.n_trees()),
        n_new_(joint.n_trees() - known.n_trees()),
        pruned_(!known.lost.empty() || !joint.lost.empty()),
        n_threads_(n_threads),
        watch_(watch) {}

  NewRows run() {
    if (pruned_) {
      out_.known_errors.assign(n_known_, 0.0);
      out_.new_errors.assign(n_new_, 0.0);
      for (std::size_t i = 0; i < joint_.lost.size(); ++i) error_of(i) = joint_.lost[i];
    }
    std::size_t first_column = 0;
    for (std::size_t term = 0; term < known_.terms().size(); ++term) {
      match_term(known_.terms()[term], joint_.terms()[term], first_column);
      first_column += known_.terms()[term].factors->mass.size();
    }
    list();
    return std::move(out_);
  }

 private:
  using Kind = ColumnMatch::Kind;

  double& error_of(std::size_t i) {
    return i < n_known_ ? out_.known_errors[i] : out_.new_errors[i - n_known_];
  }

  // Matches become columns of the sum, and factors those from an entry of the joint factors to the
  // new row's.
  void match_term(const SumTerm& known, const SumTerm& joint, std::size_t first_column) {
    const std::size_t n_joint = joint_.n_trees();
    if (known.factors->n_trees() * n_joint != joint.factors->n_trees() * n_known_) {
      throw std::invalid_argument("the terms of the joint factors are not those of the known ones");
    }
    ColumnMatches found =
        match_columns({*known.factors, *joint.factors, n_known_, n_joint}, n_threads_, watch_);
    for (ColumnMatch& match : found.of) {
      if (match.kind == Kind::kShared) match.at += static_cast<std::uint32_t>(first_column);
      if (match.kind == Kind::kPrivate) take_own(known.scale, match);
    }
    matches_.insert(matches_.end(), found.of.begin(), found.of.end());
    if (pruned_) add_errors(known.scale, found.lost);
  }

  void take_own(const std::vector<double>& scale, ColumnMatch& match) const {
    const std::size_t tree = match.at;
    const std::size_t example = tree % n_known_;
    const double own = known_.diagonal[example];
    match.at = static_cast<std::uint32_t>(known_.n_columns() + example);
    match.factor = own > 0.0 ? scale[tree] * match.factor / std::sqrt(own) : 0.0;
    if (!options_.own_columns || match.factor == 0.0) match.kind = Kind::kNew;
  }

  // The roots of the losses of an example's trees add up.
  void add_errors(const std::vector<double>& scale, const std::vector<double>& lost) {
    for (std::size_t i = 0; i < n_known_; ++i) {
      double root = 0.0;
      for (std::size_t tree = i; tree < lost.size(); tree += n_known_) {
        root += std::fabs(scale[tree]) * std::sqrt(lost[tree]);
      }
      out_.known_errors[i] += root * root;
    }
  }

  void list() {
    constexpr std::size_t kPart = 1024;  // examples per task
    check_number_of_columns(known_.n_columns() + n_known_);
    RowWriter writer(n_new_, options_.max_bytes,
                     [&](std::size_t y) { return joint_.n_entries_of(n_known_ + y); });
    const double steps = 20.0 * static_cast<double>(joint_.n_entries());
    parallel_for((n_new_ + kPart - 1) / kPart, threads_for(steps, n_threads_), watch_,
                 [&](std::size_t part, int, const StopToken& token) {
                   RowEntries entries;
                   const std::size_t last = std::min(n_new_, (part + 1) * kPart);
                   for (std::size_t y = part * kPart; y < last; ++y) {
                     if (y % 64 == 0) token.check();
                     list_row(y, entries);
                     writer.write(y, [&](const auto& put) {
                       for (const FeatureEntry& entry : entries.all()) {
                         put(entry.column, entry.value);
                       }
                     });
                   }
                 });
    out_.rows = std::move(writer).finish();
  }

  void list_row(std::size_t y, RowEntries& entries) {
    if (pruned_) out_.new_errors[y] += lost_of(y, entries);
    entries.clear();
    joint_.for_each(n_known_ + y, [&](std::size_t column, double value, double mass) {
      const ColumnMatch& match = matches_[column];
      if (mass > 0.0 && (match.kind == Kind::kShared || match.kind == Kind::kPrivate)) {
        entries.add(match.at, value * std::sqrt(mass) * match.factor);
      }
    });
    entries.merge();
  }

  // The square of what a new example has in columns without a match.
  double lost_of(std::size_t y, RowEntries& entries) const {
    entries.clear();
    joint_.for_each(n_known_ + y, [&](std::size_t column, double value, double mass) {
      if (matches_[column].kind != Kind::kLost) return;
      entries.add(column, value * std::sqrt(std::fabs(mass)));
    });
    entries.merge();
    double sum = 0.0;
    for (const FeatureEntry& entry : entries.all()) sum += entry.value * entry.value;
    return sum;
  }

  const SumFactors& known_;
  const SumFactors& joint_;
  FeatureOptions options_;
  std::size_t n_known_, n_new_;
  bool pruned_;
  int n_threads_;
  const Watch& watch_;
  std::vector<ColumnMatch> matches_;  // by column of the joint factors
  NewRows out_;
};

}  // namespace

NewRows new_rows(const SumFactors& known, const SumFactors& joint, const FeatureOptions& options,
                 int n_threads, const Watch& watch) {
  if (known.n_trees() == 0 || known.n_trees() > joint.n_trees() ||
      known.terms().size() != joint.terms().size()) {
    throw std::invalid_argument("the joint factors are not of the known examples and others");
  }
  return NewRowsOf(known, joint, options, n_threads, watch).run();
}

}  // namespace filbert
