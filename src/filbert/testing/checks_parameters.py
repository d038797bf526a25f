"""Checks of parameters, copies, representations and tags."""

import pickle
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn import utils
from sklearn.base import clone

from filbert.testing.tools import abilities, check, expected_error, fresh, sentences


def _same_parameters(a: Any, b: Any) -> bool:
    ours, theirs = a.get_params(), b.get_params()
    return ours.keys() == theirs.keys() and all(
        repr(ours[name]) == repr(theirs[name]) for name in ours
    )


@check()
def check_init_sets_only_parameters(name: str, estimator: Any) -> None:
    """Check that the constructor stores only its parameters, under their names."""
    new = clone(estimator)
    extra = sorted(set(vars(new)) - set(new.get_params(deep=False)))
    assert not extra, f"{name}.__init__ should set only parameters, but it sets {extra}"


@check()
def check_init_keeps_values(name: str, estimator: Any) -> None:
    """Check that the constructor neither validates nor changes its arguments."""
    for parameter in estimator.get_params(deep=False):
        value = object()
        stored = getattr(type(estimator)(**{parameter: value}), parameter)
        assert stored is value, f"{name}.__init__ should keep {parameter} unchanged"


@check()
def check_all_parameters_have_defaults(name: str, estimator: Any) -> None:
    """Check that the constructor needs no arguments and has no *args or **kwargs."""
    for parameter in signature(type(estimator)).parameters.values():
        assert parameter.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL), (
            f"{name}.__init__ should name its parameters, but it has {parameter}"
        )
        assert parameter.default is not Parameter.empty, (
            f"{name}: the parameter {parameter.name} should have a default"
        )


@check()
def check_parameters_round_trip(name: str, estimator: Any) -> None:
    """Check that `set_params(**get_params())` changes nothing and returns the estimator."""
    new = clone(estimator)
    parameters = new.get_params(deep=False)
    assert new.set_params(**parameters) is new, f"{name}.set_params should return self"
    for key, value in new.get_params(deep=False).items():
        assert value is parameters[key], f"{name}: set_params should keep {key} unchanged"


@check()
def check_unknown_parameter_is_an_error(name: str, estimator: Any) -> None:
    """Check that `set_params` refuses an unknown parameter."""
    with expected_error(ValueError, f"{name}.set_params(no_such_parameter=1)"):
        clone(estimator).set_params(no_such_parameter=1)


@check()
def check_clone(name: str, estimator: Any) -> None:
    """Check that a clone of a fitted estimator has its parameters and is not fitted."""
    X, y = sentences()
    fitted = fresh(estimator).fit(X, y)
    copy = clone(fitted)
    assert _same_parameters(copy, fitted), f"{name}: a clone should have the same parameters"
    learnt = sorted(key for key in vars(copy) if key not in copy.get_params(deep=False))
    assert not learnt, f"{name}: a clone should not be fitted, but it has {learnt}"


@check()
def check_clone_shares_nothing(name: str, estimator: Any) -> None:
    """Check that changing the kernel of a clone does not change that of the original."""
    for key, value in estimator.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            assert getattr(clone(estimator), key) is not value, f"{name}: clone shares {key}"


@check()
def check_repr(name: str, estimator: Any) -> None:
    """Check that the repr names the class, before and after training."""
    X, y = sentences()
    for shown in (estimator, fresh(estimator).fit(X, y)):
        assert type(estimator).__name__ in repr(shown), f"repr should name {name}: {shown!r}"


@check()
def check_pickle_before_fit(name: str, estimator: Any) -> None:
    """Check that an unfitted estimator survives pickling."""
    again = pickle.loads(pickle.dumps(estimator))
    assert _same_parameters(again, estimator), f"{name}: pickling changed a parameter: {again!r}"


@check()
def check_tags(name: str, estimator: Any) -> None:
    """Check that scikit-learn's tags say that X is not a table, and the kind of estimator."""
    if not hasattr(utils, "get_tags"):  # before scikit-learn 1.6
        return
    tags = utils.get_tags(estimator)
    assert not tags.input_tags.two_d_array, f"{name}: tags should say that X is not 2-dimensional"
    assert tags.input_tags.one_d_array, f"{name}: tags should say that X is 1-dimensional"
    assert not tags.no_validation, f"{name} checks its input: no_validation should be False"
    has = abilities(estimator)
    if "predict" in has:
        assert tags.target_tags.required, f"{name}: tags should say that y is required"
    if "classifier" in has:
        assert tags.estimator_type == "classifier", f"{name}: the tags should say classifier"
        assert tags.classifier_tags.multi_class, f"{name}: the tags should say multi_class"


@check("C")
def check_numpy_numbers_as_parameters(name: str, estimator: Any) -> None:
    """Check that NumPy numbers, which grid searches pass, are accepted as parameters."""
    X, y = sentences()
    fresh(estimator, C=np.float32(0.5)).fit(X, y)
    fresh(estimator, C=np.int64(2)).fit(X, y)
