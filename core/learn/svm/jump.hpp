// A step of many examples together, for where single ones get nowhere.
#pragma once

#include "base/parallel.hpp"
#include "learn/svm/working_set.hpp"

namespace filbert {

// Where trees are much alike, many sweeps go a short way. So now and then those examples that are
// at no bound go together towards where their gradients vanish, found by conjugate gradients: all
// until the first meets a bound, or each as far as its own bounds allow, whichever is better. Those
// that met a bound stay there, and the others go on.
void jump(WorkingSet& set, const StopToken& token);

}  // namespace filbert
