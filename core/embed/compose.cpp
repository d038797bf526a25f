#define FILBERT_COMPOSE compose_baseline
#include "embed/compose.inc"

namespace filbert {

#if defined(FILBERT_HAS_AVX2)
namespace compose_avx2 {
extern const ComposeKernels<float> kernels_float;
extern const ComposeKernels<double> kernels_double;
extern const WriteNormal normal;
}  // namespace compose_avx2
#endif

namespace {

const ComposeKernels<float> kFloat{"baseline", &compose_baseline::compose<float>,
                                   &compose_baseline::make_form<float>,
                                   &compose_baseline::squares<float>};
const ComposeKernels<double> kDouble{"baseline", &compose_baseline::compose<double>,
                                     &compose_baseline::make_form<double>,
                                     &compose_baseline::squares<double>};

}  // namespace

WriteNormal baseline_normal_writer() { return &compose_baseline::write_normal; }
WriteNormal normal_writer() {
#if defined(FILBERT_HAS_AVX2)
  if (__builtin_cpu_supports("avx2")) return compose_avx2::normal;
#endif
  return baseline_normal_writer();
}

template <>
const ComposeKernels<float>& baseline_compose_kernels<float>() {
  return kFloat;
}
template <>
const ComposeKernels<double>& baseline_compose_kernels<double>() {
  return kDouble;
}

template <>
const ComposeKernels<float>& compose_kernels<float>() {
#if defined(FILBERT_HAS_AVX2)
  if (__builtin_cpu_supports("avx2")) return compose_avx2::kernels_float;
#endif
  return kFloat;
}
template <>
const ComposeKernels<double>& compose_kernels<double>() {
#if defined(FILBERT_HAS_AVX2)
  if (__builtin_cpu_supports("avx2")) return compose_avx2::kernels_double;
#endif
  return kDouble;
}

}  // namespace filbert
