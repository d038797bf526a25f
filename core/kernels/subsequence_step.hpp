// The innermost step of partial trees, for one pair of children: with (i, j) the children at hand,
//
//   A(i,j) = Delta(u_i, v_j) * pay * (1 + B(i-1,j-1))      subsequences whose last pair is (i, j)
//   B(i,j) = sum of lambda^(i-i' + j-j') A(i',j'), i' <= i, j' <= j
//
// where `pay` is what a matched pair costs: lambda^2 for spans, 1 for gaps. `sum` holds the sum
// over i' < i, called C, and `before` the sum over j' < j, so nothing is ever subtracted.
//
// Numbers may be doubles, Wide, or eight doubles at once: the latter are compiled for several
// processors, so everything here is a template, and is inlined.
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

// The children match. `paid` is their Delta times `pay`, `shorter` what stands before the pair in a
// subsequence: 1 + B, or of bounded length the B of one element less.
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
