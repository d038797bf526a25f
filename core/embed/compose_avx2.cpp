// Compiled for processors with AVX2. Includes only the functions.
#define FILBERT_COMPOSE compose_avx2
#include "embed/compose.inc"

namespace filbert::compose_avx2 {

extern const ComposeKernels<float> kernels_float;
extern const ComposeKernels<double> kernels_double;
extern const WriteNormal normal;
const ComposeKernels<float> kernels_float{"avx2", &compose<float>, &make_form<float>,
                                          &squares<float>};
const ComposeKernels<double> kernels_double{"avx2", &compose<double>, &make_form<double>,
                                            &squares<double>};
const WriteNormal normal = &write_normal;

}  // namespace filbert::compose_avx2
