#define FILBERT_LANES lanes_baseline
#include "rows/lanes.inc"

namespace filbert {

#if defined(FILBERT_HAS_AVX2)
namespace lanes_avx2 {
extern const LaneKernels kernels;
}
#endif

namespace {

const LaneKernels kBaseline{"baseline",
                            &lanes_baseline::narrow,
                            &lanes_baseline::wide,
                            &lanes_baseline::wide_known,
                            &lanes_baseline::deltas,
                            &lanes_baseline::add,
                            &lanes_baseline::dot};

const LaneKernels& best() {
#if defined(FILBERT_HAS_AVX2)
  if (__builtin_cpu_supports("avx2")) return lanes_avx2::kernels;
#endif
  return kBaseline;
}

}  // namespace

const LaneKernels& lane_kernels() {
  static const LaneKernels& chosen = best();
  return chosen;
}

const LaneKernels& baseline_lane_kernels() { return kBaseline; }

}  // namespace filbert
