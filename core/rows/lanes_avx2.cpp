// Compiled for processors with AVX2: includes only the functions.
#define FILBERT_LANES lanes_avx2
#include "rows/lanes.inc"

namespace filbert::lanes_avx2 {

extern const LaneKernels kernels;
const LaneKernels kernels{"avx2", &narrow, &wide, &wide_known, &deltas, &add, &dot};

}  // namespace filbert::lanes_avx2
