"""The parameter `kernel` of learners. None means the default kernel of the learner."""

from typing import Any, Self

from filbert.kernels import Kernel, SubsetTree


class KernelParameter:
    """Exposes the parameters of the default kernel, such as ``kernel__decay``.

    scikit-learn's searches can then vary them if no kernel is given: setting one replaces None by a
    new kernel.
    """

    kernel: Any

    def _default_kernel(self) -> Kernel:
        """Return a new kernel to use if none is given."""
        return SubsetTree()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with `deep` also those of the kernel as ``kernel__decay``."""
        values: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep and values["kernel"] is None:
            values |= {
                f"kernel__{name}": value
                for name, value in self._default_kernel().get_params().items()
            }
        return values

    def set_params(self, **values: Any) -> Self:
        """Set parameters by name. Those of the kernel have names such as ``kernel__decay``."""
        of_kernel = any(name.startswith("kernel__") for name in values)
        if of_kernel and values.get("kernel", self.kernel) is None:
            values = {**values, "kernel": self._default_kernel()}
        done: Self = super().set_params(**values)  # type: ignore[misc]
        return done
