"""Bugs to make in the C++ core, one at a time: where, what changes, and what that breaks.

`place` is text that occurs once in the file. The marks «» surround the part that changes. It is an
expression, or a statement with its semicolon. If `changed` contains ``@``, it replaces the part as
it is written, and ``@`` stands for "this mutant is on".
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class CoreMutant:
    """One change of one file of the core.

    Attributes
    ----------
    file : str
        Relative to ``core/``.
    place, changed : str
    breaks : str
        What goes wrong, in a few words.
    """

    file: str
    place: str
    changed: str
    breaks: str


_LISTED: dict[str, list[tuple[str, str, str]]] = {
    "base/id_table.hpp": [
        (
            "if («same(id)») return id;\n      }\n    }\n    const std::uint32_t id = make();",
            "true",
            "equal hash tags are taken for equal keys",
        ),
        (
            "while («slots_[i] != kEmpty») i = (i + 1) & mask();\n      slots_[i] = slot;",
            "false",
            "a table that grows loses keys",
        ),
    ],
    "base/parallel.cpp": [
        ("«shared.done.fetch_add(1);»", "", "progress stands still"),
        (
            "if («!shared.error») shared.error = std::current_exception();",
            "false",
            "errors of threads are lost",
        ),
    ],
    "base/set_keys.hpp": [
        ("«!(slots_[i].key == key)»", "false", "another key's slot is taken for the key's"),
    ],
    "base/wide.hpp": [
        ("std::sqrt(a.mantissa_) * («odd» ? 0x1p256 : 1.0)", "false", "roots of large numbers"),
        (
            "if («power_ - other.power_ == 1») mantissa_ +=",
            "false",
            "digits of sums of large numbers",
        ),
        (
            "const double mine = «other.power_ - power_ == 1 ? mantissa_ * kDown : 0.0»;",
            "0.0",
            "digits of sums of a small and a large number",
        ),
    ],
    "factors/assemble.cpp": [
        (
            "squares[c] = «count * count * mass_of(c)»;",
            "count * mass_of(c)",
            "fragments that occur twice in one tree only",
        ),
        (
            "const std::uint64_t times = «one ? 1 : spread(value) | 1»;",
            "std::uint64_t{1}",
            "columns of other values are merged",
        ),
        ("if («!counts(u)») in_forest_order", "false", "nodes that are no roots of fragments"),
    ],
    "factors/partial/light_classes.hpp": [
        (
            "for (const Loss& loss : losses_) «lost[loss.node] += loss.lost();»",
            "",
            "the certificate forgets what is dropped",
        ),
        (
            "losses.assign(«losses_.begin()», losses_.end());",
            "losses_.end()",
            "the certificate forgets what is dropped in pieces of other threads",
        ),
        (
            "losses_.push_back({node, «root * std::exchange(skipped_[node], 0.0)», 0.0});",
            "0.0",
            "the certificate forgets skipped classes",
        ),
        (
            "sum += «losses_[i].root * block_->weights[losses_[i].node]»;",
            "0.0",
            "rows forget what is dropped",
        ),
    ],
    "factors/partial/pruning.hpp": [
        ("lost_[u] += {«mu * sum», std", "0.0", "the certificate forgets losses below a node"),
        ("row += «outside * lost.row»;", "0.0", "rows forget losses below a node"),
        (
            "const double outside = «reaches[i].left * reaches[i].right * step»;",
            "step",
            "the certificate forgets what is beside a loss",
        ),
    ],
    "factors/subset/subset_walk.hpp": [
        (
            "ex = «ex * (old_factor + shared.new_mass) + lo * shared.new_mass»;",
            "ex * old_factor + lo * shared.new_mass",
            "fragments with new parts in two slots",
        ),
        (
            "found.masses[first_set_ + known - 1] += «frame.ex»;",
            "Real(0.0)",
            "the mass of a class that is found twice",
        ),
        (
            "const Real rest = total - state_.nodes[u].found - «emitted_[i]»;",
            "Real(0.0)",
            "the fragments of one node alone",
        ),
        (
            "const Real rest = delta - «known[j]»;",
            "Real(0.0)",
            "pairs of nodes after a block was given up",
        ),
        (
            "if («seen.n_members < 2» || seen.sides != kBothSides) continue;",
            "seen.n_members < 3",
            "classes of two nodes",
        ),
    ],
    "forest/builder.cpp": [
        (
            'if («arrays.children[i] >= u») throw InvalidForest("a child does',
            "arrays.children[i] > u",
            "a node that is its own child is accepted",
        ),
        (
            "if («begin != arrays.children.size()»)",
            "false",
            "children after those of the last node are accepted",
        ),
        (
            "if («root >= renumbered.size()») throw",
            "root > renumbered.size()",
            "a root that does not exist is accepted",
        ),
    ],
    "forest/dag.cpp": [
        ("depths_[u] = «deepest + 1»;", "deepest", "depths"),
        (
            "«sizes_[c] > most - total ? most : total + sizes_[c]»",
            "total + sizes_[c]",
            "huge sizes",
        ),
        ("top = «std::max(top, root)»;", "root", "nodes of trees that come first"),
    ],
    "forest/labels.cpp": [
        ("const unsigned high = «lead == 0xED ? 0x9Fu : 0xBFu»;", "0xBFu", "surrogates in UTF-8"),
        ("if («lead >= 0xC2 && lead <= 0xDF»)", "lead >= 0xC0 && lead <= 0xDF", "overlong UTF-8"),
        ("if («text[i] == '\\0'») throw", "false", "NUL in labels"),
        ("const unsigned high = «lead == 0xF4 ? 0x8Fu : 0xBFu»;", "0xBFu", "code points too large"),
    ],
    "forest/occurrences.cpp": [
        ("count[c] += «count[nodes[i]]»;", "1", "subtrees that occur several times"),
        ("if («count[nodes[i]] >= kNone») throw", "false", "too many occurrences for 32 bits"),
        ("x.row_begin.push_back(«before + end»);", "end", "trees after the first 512"),
    ],
    "fragments/count.cpp": [
        (
            "sums_[fragment] += «count * matches.values[i]»;",
            "matches.values[i]",
            "counts in a tree",
        ),
        ("own->finish(«scales[tree]», parts[chunk]);", "scales[0]", "norms of fragment features"),
    ],
    "fragments/judge.hpp": [
        (
            "«std::max(chi_square(n, m, y, y), chi_square(n, m, x - y, 0.0))»",
            "chi_square(n, m, y, y)",
            "the chi-square bound without its negative half",
        ),
        (
            "«std::max(chi_square(n, m, y, y), chi_square(n, m, x - y, 0.0))»",
            "chi_square(n, m, x - y, 0.0)",
            "the chi-square bound without its positive half",
        ),
        ("positive_bound_ += «f * bound»;", "f * value", "the bound of partial trees"),
        ("negative_bound_ -= «f * bound»;", "f * value", "the bound of partial trees, negative"),
        (
            "return {weight, weight, «std::max(positive_bound_, negative_bound_)», frequency_};",
            "positive_bound_",
            "the bound of fragments with a negative weight",
        ),
        ("n_positive_with_ += «nodes_.positive[tree] ? 1 : 0»;", "1", "chi-square"),
        ("if («stamp_[tree] == now_») continue;", "false", "chi-square counts trees twice"),
        ("return «worth.frequency < min_frequency_»;", "worth.frequency <= min_frequency_", "rare"),
    ],
    "fragments/match_partial.cpp": [
        ("before *= «costs_.decay»;", "1.0", "gaps in occurrences"),
        ("«costs_.node * weight»", "weight", "the depth decay of fragment features"),
    ],
    "fragments/match_subset.cpp": [
        ("«go(place, kNone);»", "", "fragments with open leaves"),
        ("counted ? 1.0 : «std::sqrt(kernel.decay)», out);", "kernel.decay", "leaves as features"),
    ],
    "fragments/partial_bounds.hpp": [
        ("costs_.next * here + «costs_.decay * gain»", "0.0", "bounds of wide partial trees"),
        (
            "const double here = «total[children[q]] * (1.0 + gain)»;",
            "total[children[q]]",
            "bounds",
        ),
        ("alone_[v] = «(costs_.decay + below) / costs_.decay»;", "1.0", "bounds of single nodes"),
    ],
    "fragments/partial_miner.cpp": [
        (
            "«most > 0 && state.n_children[depth] >= most»",
            "most > 0 && state.n_children[depth] > most",
            "max_subsequence of mined fragments",
        ),
        (
            "if («worth.frequency >= min_frequency») best",
            "worth.frequency > min_frequency",
            "the base fragment",
        ),
    ],
    "fragments/subset_complete.cpp": [
        (
            "if («scratch_.places.position(place) > state.last») grow",
            "scratch_.places.position(place) > state.last + 1",
            "growth next to the last production",
        ),
        (
            "«subset_value(kernel_, state.fragment.key) * std::sqrt(kernel_.decay)»",
            "subset_value(kernel_, state.fragment.key)",
            "the weight of larger fragments",
        ),
        (
            "«all.largest_rejected = std::max(all.largest_rejected, part.largest_rejected);»",
            "",
            "the next threshold of a search for n fragments",
        ),
    ],
    "fragments/weighted_nodes.cpp": [
        ("nodes.frequency[ids[k]] += «counts[k]»;", "1", "frequencies of fragments"),
        ("if («coef[i] == 0.0») continue;", "false", "trees that are no support vectors"),
        ("nodes.n_positive += «c > 0.0 ? 1 : 0»;", "1", "the number of positive trees"),
    ],
    "kernels/chosen_symbols.cpp": [
        (
            "kept.counts.push_back(«chosen[nodes[i]] != 0 ? counts[i] : 0»);",
            "counts[i]",
            "nodes below chosen symbols count as roots",
        ),
    ],
    "kernels/node_classes.cpp": [
        (
            "if (dag.is_leaf(u)) of[u] = «first + dag.label(u)»;",
            "first",
            "leaves with other labels",
        ),
        (
            "if (!from.is_leaf(u)) of[u] = «map[from.productions().of(u)]»;",
            "from.productions().of(u)",
            "productions of another forest",
        ),
    ],
    "kernels/partial_tree.hpp": [
        ("return «penalty == Penalty::span ? decay : 1.0»;", "decay", "the penalty of gaps"),
        ("return alone + «mu_» * sums_", "Real(1.0)", "the depth decay"),
        ("return «depth_decay * decay * decay»;", "1.0", "values out of the range of float64"),
    ],
    "kernels/self_delta.hpp": [
        ("Real(«v == u ? 1.0 : 2.0»)", "2.0", "norms"),
        ("total += «count * count * self[u]»;", "count * self[u]", "norms of subtrees"),
        (
            "if (kernel.include_leaves) total += «count * count * kernel.template bare<Real>()»;",
            "count * kernel.template bare<Real>()",
            "norms with leaves",
        ),
    ],
    "kernels/sequence.cpp": [
        ("      before = «gap * before + above»;", "before + above", "gaps in sequences"),
        (
            "const std::size_t least = «p > behind ? p - behind : 1»;",
            "p > behind ? p - behind + 1 : 1",
            "sequences of one length at their ends",
        ),
        ("column[q] = «gap * above»;", "above", "gaps in sequences of one length"),
        ("«norms[i].is_zero() ? 0.0 : 1.0»", "1.0", "sequences that are too short"),
    ],
    "kernels/subsequence_sums.hpp": [
        (
            "const bool bounded = «longest != 0 && longest < std::min(n, m)»;",
            "longest != 0 && longest + 1 < std::min(n, m)",
            "max_subsequence, one below the number of children",
        ),
        ("shorter = «before»;", "befores_[q]", "max_subsequence"),
    ],
    "kernels/subset_tree.hpp": [
        ("return «Real(1.0) + child»;", "child", "subset trees become subtrees"),
    ],
    "learn/losses/epsilon_insensitive.hpp": [
        ("std::max(0.0, «std::fabs(r) - epsilon»)", "std::fabs(r)", "the tube of regression"),
    ],
    "learn/losses/hinge.hpp": [
        ("double upper(double C) const { return «C»; }", "2.0 * C", "the box of the hinge loss"),
    ],
    "learn/losses/kinked_loss.hpp": [
        (
            "std::fabs(alpha) * («epsilon + 0.5 * self().ridge(C) * std::fabs(alpha)»)",
            "0.5 * self().ridge(C) * std::fabs(alpha)",
            "the gap of regression",
        ),
    ],
    "learn/losses/logistic.hpp": [
        ("x_log_x(p) + «x_log_x(1.0 - p)»", "0.0", "the gap of logistic regression"),
    ],
    "learn/losses/squared_error.hpp": [
        ("return «C * r * r»;", "0.5 * C * r * r", "squared errors"),
    ],
    "learn/losses/squared_hinge.hpp": [
        ("double ridge(double C) const { return «0.5 / C»; }", "1.0 / C", "the squared hinge"),
    ],
    "learn/perceptron/perceptron.cpp": [
        (
            "weights_[problem] * «static_cast<double>(time - 1)»;",
            "static_cast<double>(time)",
            "averages of the perceptron",
        ),
        ("value -= «columns[k + p] / static_cast<double>(log_.n_seen)»;", "0.0", "averages"),
        ("p, «y * targets.weights[row]», log_.n_seen + 1);", "y", "sample weights"),
        ("if («n_seen > max_nodes») return k;", "n_seen >= max_nodes", "what fits into max_nodes"),
        ("if («n_nodes() > max_nodes») return k + 1;", "false", "max_nodes within a batch"),
    ],
    "learn/perceptron/perceptron_rule.hpp": [
        (
            "return «y * score <= margin + kRounding * reach_[problem] * norm»;",
            "y * score < margin",
            "the first update, and ties",
        ),
        ("return «own <= others + slack»;", "own < others", "ties of classes count as right"),
        ("log.errors.back() += «error ? 1 : 0»;", "1", "the history of errors"),
    ],
    "learn/svm/certificate.hpp": [
        (
            "«errors_.have_sign ? positive_ * positive_ + negative_ * negative_ : both * both»",
            "positive_ * positive_ + negative_ * negative_",
            "the certificate without known signs",
        ),
        (
            "reach(i, «y_[i] > 0 ? negative_ : positive_»)",
            "y_[i] > 0 ? positive_ : negative_",
            "the certificate's lower margins",
        ),
    ],
    "learn/svm/dual_descent.hpp": [
        (
            "«constexpr std::size_t kPart = 8192;»",
            "const std::size_t kPart = @ ? 1 + at_.alpha.size() /\n"
            "        static_cast<std::size_t>(std::max(1, p_.n_threads)) : 8192;",
            "training depends on the number of threads",
        ),
        (
            "if («sets_aside && part.shares[k] <= negligible_») continue;",
            "sets_aside && part.shares[k] >= negligible_",
            "the examples of the logistic loss that are set aside",
        ),
    ],
    "learn/svm/dual_problem.hpp": [
        ("alpha[i] = «std::clamp(start[i], lower(i), upper(i))»;", "start[i]", "warm starts"),
        ("conjugate += «other.conjugate»;", "0.0", "the gap beyond 8,192 examples"),
        ("conjugate += «p.loss.conjugate(p.C[i], alpha)»;", "0.0", "the dual objective"),
    ],
    "learn/svm/packed_rows.cpp": [
        ("«gone[0] = moved[0];»", "", "rows that were moved"),
        ("«add(rows[k], rows[k].place, n());»", "", "the last one to three rows"),
    ],
    "learn/svm/sweep.hpp": [
        ("if (p.intercept) at.bias += «change»;", "2.0 * change", "the intercept within sweeps"),
    ],
    "patterns/node_patterns.cpp": [
        (
            "if («owners_[i + n - 1] == owners_[i]») continue;",
            "false",
            "runs of leaves count again at each node above them",
        ),
        (
            "tail.pattern, «child_counts_[i] * tail.count»);",
            "tail.count",
            "paths of equal children",
        ),
    ],
    "patterns/tree_patterns.cpp": [
        ("if («square > 0.0») square_ += 1.0;", "true", "norms with families that a tree lacks"),
    ],
    "rows/entries.cpp": [
        ("norms.all_narrow && «representable»;", "true", "norms out of the range of float64"),
        ("if («!std::isfinite(narrow)») {", "false", "overflow gives infinity"),
    ],
    "rows/long_chains.cpp": [
        ("«length += std::size_t{1} << level;»", "length += level;", "common prefixes of chains"),
        ("      «i = jumps_[level][i];»", "", "the next symbols of one of two chains"),
        ("«below.x += top.x;»", "", "chains that share a prefix with several others"),
        ("segment.y * «geometric_[entry.length]»", "geometric_[entry.length - 1]", "equal chains"),
    ],
    "rows/partial_rows.hpp": [
        ("if (kept) times_.back() += «1.0»;", "0.0", "equal children with max_subsequence=1"),
        (
            "«child.place == place ? light_.single + light_.pair : light_.single»",
            "light_.single",
            "children with one leaf, with max_subsequence",
        ),
        ("child.bit != 0 || «(bits != 0 && !as_set)»;", "false", "gaps between children"),
        (
            "return a.label == b.label && «a.place == b.place && a.row == b.row» && a.bit",
            "true",
            "nodes with many children of one label",
        ),
    ],
    "rows/tile_sums.hpp": [
        (".lane[entry.lane] = «Real(entry.count) * weight»;", "weight", "equal children of a tree"),
        ("if («column != kNone») side_by_side_", "false", "trees in groups of eight"),
    ],
    "scoring/kernel_dag.cpp": [
        ("for (; i < n; ++i) «sums[0] += a[i] * b[i];»", "", "the last one to three nodes"),
        ("counts_.calls += «tree.calls[v] * list.calls»;", "list.calls", "counts of calls"),
        ("weight(entry, 0) += «factor * tree.weights[v]»;", "factor", "weights of repeated nodes"),
    ],
    "scoring/row_pass.hpp": [
        (
            "if («mapped.cls[u] == kNone») continue;\n      make_row",
            "mapped.cls[u] == kNone || u == 63",
            "the row scorer skips a 64th node",
        ),
        ("more ? «kernel_.factor(child[column])» : least;", "least", "deep matches by rows"),
    ],
    "scoring/row_scorer.cpp": [
        ("«mapped.tree.counts[u] * values[u * k + c]»", "values[u * k + c]", "repeated nodes"),
        ("+= «weight * Real(count)»;", "weight", "repeated nodes of support vectors"),
        ("in_range && «std::fabs(values[i]) < kLargestNarrow»;", "true", "scores out of range"),
        (
            "out[i * n_columns_ + c] += «coef_[c * n + j] * kernels[j]»;",
            "coef_[j] * kernels[j]",
            "classes of huge trees",
        ),
    ],
    "search/numbering.cpp": [
        (
            "return «a.start != b.start ? a.start < b.start : labels.text(a.label) < "
            "labels.text(b.label)»;",
            "a.start < b.start",
            "labels with the same first eight bytes",
        ),
        (
            "if («id_[x[i]] != id_[y[i]]») return id_",
            "false",
            "nodes that differ from the third child on",
        ),
    ],
    "search/partial_search.hpp": [
        (
            "measure.rest.push_back(«std::sqrt(std::max(0.0, rest) + rounding)»);",
            "0.0",
            "bounds of searches without larger fragments",
        ),
        (
            "if (was_known_) «pair_counts_.back().second += found[i].second;»",
            "",
            "bounds of searches with equal pairs of a node and its child",
        ),
    ],
    "search/pattern_search.cpp": [
        ("measure.self += «divided ? 1.0 : square»;", "square", "norms of families in searches"),
    ],
    "search/postings.hpp": [
        (
            "out.counts[place] = «saturated(out.counts[place] + count)»;",
            "saturated(count)",
            "how often a tree has a class",
        ),
    ],
    "search/searcher.cpp": [
        (
            "a.value > b.value : «a.position < b.position»;",
            "a.position > b.position",
            "the order of equally similar trees",
        ),
        (
            "return is_full() && «value < best_.front().value»;",
            "value <= best_.front().value",
            "a tree that is as similar as the last result, and comes before it",
        ),
        (
            "return «query_.measure.mass / own_ * std::exp(log) * (1.0 + kRounding)»;",
            "0.0",
            "bounds of trees that are set apart",
        ),
        (
            "return «near && is_query(segment_, segment_.roots[t], query_, labels_)» ?",
            "near",
            "trees that are almost equal",
        ),
    ],
}

CORE_MUTANTS = [
    CoreMutant(file, place, changed, breaks)
    for file, own in _LISTED.items()
    for place, changed, breaks in own
]
