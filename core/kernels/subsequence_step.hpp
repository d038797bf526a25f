// The innermost step of partial trees, for one pair of children: with (i, j) the current children,
//
//   A(i,j) = Delta(u_i, v_j) * pay * (1 + B(i-1,j-1))      subsequences whose last pair is (i, j)
//   B(i,j) = sum of lambda^(i-i' + j-j') A(i',j'), i' <= i, j' <= j
//
// where `pay` is the decay of a matched pair: lambda^2 for spans, 1 for gaps. `sum` holds the sum
// over i' < i, called C, and `before` the sum over j' < j, so nothing is ever subtracted.
//
// Numbers may be doubles, Wide, or eight doubles at once. The latter are compiled for several
// processors, so everything here is an inlined template.
#pragma once

#if defined(__GNUC__)
#define FILBERT_INLINE [[gnu::always_inline]] inline
#else
#define FILBERT_INLINE inline
#endif

namespace filbert {

// The children do not match.
template <class Number, class Scalar>
FILBERT_INLINE void subsequence_gap(const Scalar& lambda, Number& sum, Number& before) {
  before = before * lambda + sum;
  sum = sum * lambda;
}

// The children match. `paid` is their Delta times `pay`. `shorter` is the factor for the part of a
// subsequence before the pair: 1 + B, or for bounded length the B of one element less.
template <class Number, class Scalar>
FILBERT_INLINE void subsequence_step(const Scalar& lambda, const Number& paid,
                                     const Number& shorter, Number& sum, Number& before,
                                     Number& total) {
  const Number ending = paid * shorter;
  total += ending;
  subsequence_gap(lambda, sum, before);
  sum += ending;
}

}  // namespace filbert
