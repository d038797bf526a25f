"""Which tests concern a module, in the order in which they are run."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# By the beginning of a file's path in core/, the longest that fits: files of tests/unit.
_CORE = {
    "base/id_table": "forest",
    "base/parallel": "threads progress fragments_mining",
    "base/set_keys": "kernels_agree factors",
    "base/wide": "sequence_kernel kernel_values kernels_agree prediction",
    "factors": "factors sums factors_partial",
    "factors/assemble": "factors approximate symbol_selection factors_partial",
    "factors/partial": "pruned_factors certificate certified_svm factors_partial",
    "forest": "forest tree bad_input persist kernels_agree",
    "fragments": "fragments_mining fragment_matching fragment_vectorizer",
    "kernels": "kernel_values kernels_agree prediction",
    "kernels/chosen_symbols": "symbol_selection approximate",
    "kernels/sequence": "sequence_kernel",
    "learn/losses": "svm_problems svr logistic tree_svc",
    "learn/perceptron": "perceptron perceptron_files",
    "learn/svm": "tree_svc svm_problems logistic",
    "learn/svm/certificate": "certificate certified_svm",
    "learn/svm/packed_rows": "rows_engine",
    "rows": "kernel_values kernels_agree kernel_rows wide_nodes",
    "rows/long_chains": "long_chains",
    "scoring": "prediction",
    "scoring/kernel_dag": "perceptron cutting_planes",
}
# The same for src/filbert. Other folders than unit are part of the name.
_PYTHON = {
    "__": "imports errors",
    "arrays": "vector_kernels inputs",
    "atomic": "persist",
    "cli": "cli/commands cli/cli",
    "cli/bench": "cli/commands",
    "cli/cv": "cli/tasks cli/commands",
    "cli/data": "cli/commands cli/documents cli/pipes cli/cli",
    "cli/demo": "cli/demo",
    "cli/documents": "cli/documents",
    "cli/evaluate": "cli/tasks cli/commands",
    "cli/measures": "cli/tasks",
    "cli/models": "cli/models cli/commands",
    "cli/naming": "cli/demo",
    "cli/parts": "cli/parts_commands",
    "cli/predict_parts": "cli/parts_commands",
    "cli/predictor": "cli/commands cli/pipes cli/tasks",
    "cli/recurring": "cli/queries cli/commands",
    "cli/search": "cli/queries",
    "cli/unread": "cli/commands cli/pipes",
    "cli/wording": "cli/tasks cli/commands cli/cli",
    "clones": "clones alignment",
    "corpus": "parts parts_files parts_learners",
    "corpus/checkpoints": "checkpoints",
    "corpus/dask": "parts_dask dask/sources dask/runner dask/faults",
    "corpus/local": "local_runner",
    "corpus/plan": "checkpoints parts",
    "corpus/recorded": "recorded",
    "datasets": "datasets_srl srl_features",
    "datasets/one_hot": "srl_features save_others",
    "datasets/stdlib": "datasets_stdlib",
    "description": "description",
    "drawing": "drawing forest",
    "engine": "factors rows_engine prediction",
    "engine/contributions": "explain",
    "engine/feature_space": "tree_features",
    "engine/pattern": "patterns",
    "engine/plan": "factors rows_engine prediction certified_svm",
    "engine/sums": "sums",
    "engine/vector_factors": "sums",
    "engine/work": "rows_engine tree_svc",
    "errors": "errors bad_input",
    "examples": "examples_like_forests inputs labelled_formats",
    "explanations": "explain",
    "explanations/fragments": "explain patterns",
    "forest": "forest",
    "fragments": "fragments_mining",
    "fragments/data": "fragment_files fragment_matching",
    "fragments/recurring": "recurring_fragments",
    "frames": "frames tree_columns",
    "given": "inputs bad_input sklearn",
    "kernels": "kernel_algebra kernel_expressions kernel_specs kernel_values",
    "kernels/approximate": "approximate approximate_fragments",
    "kernels/capabilities": "plugin_kernel kernel_algebra rows_engine",
    "kernels/inputs": "inputs kernel_algebra",
    "kernels/matrices": "kernel_rows callable_kernels faults/attacks",
    "kernels/pairs": "pair_kernels",
    "kernels/patterns": "patterns",
    "kernels/sequence": "sequence_kernel",
    "kernels/vector": "vector_kernels",
    "learners/cascade": "cascade",
    "learners/certificate": "certificate certified_svm",
    "learners/cross_validation": "cross_validation",
    "learners/cutting_planes": "cutting_planes cutting_planes_errors",
    "learners/dual": "tree_svc logistic svr",
    "learners/embedding": "embedding",
    "learners/exact": "tree_svc rows_engine",
    "learners/exclusive": "exclusive perceptron_threads",
    "learners/feature_examples": "tree_features",
    "learners/fit_checkpoints": "fit_checkpoints",
    "learners/fragments": "fragment_vectorizer",
    "learners/kernel_matrix": "kernel_matrix",
    "learners/kernel_parameter": "kernel_parameter",
    "learners/logistic": "logistic",
    "learners/over_parts": "cascade parts_learners",
    "learners/pair": "ranker cutting_planes",
    "learners/pauses": "fit_checkpoints",
    "learners/perceptron": "perceptron perceptron_errors",
    "learners/perceptron_model": "perceptron perceptron_errors perceptron_files faults/attacks",
    "learners/perceptron_over_parts": "parts_learners",
    "learners/plane": "cutting_planes plane_qp",
    "learners/problems": "svm_problems tree_svc",
    "learners/ranker": "ranker",
    "learners/sampling": "sampling cutting_planes",
    "learners/search": "svm_search",
    "learners/svm": "tree_svc sklearn",
    "learners/svm_search": "svm_search",
    "learners/svr": "svr",
    "learners/symbol": "symbol_selection",
    "learners/targets": "bad_input tree_svc sklearn",
    "learners/tolerance": "tree_svc",
    "learners/tree_features": "tree_features",
    "locks": "index_files",
    "merging": "forest",
    "metrics/brackets": "ranking_metrics",
    "metrics/randomization": "metrics",
    "metrics/ranking": "ranking_metrics",
    "model": "prediction explain",
    "node_arrays": "transform",
    "objects": "objects library_objects",
    "persist": "persist save_others inspect_files",
    "persist/calibrated": "save_pipelines",
    "persist/example_sets": "save_others",
    "persist/feature_spaces": "save_transformers patterns",
    "persist/one_hot": "save_others",
    "persist/perceptrons": "perceptron_files",
    "persist/pipelines": "save_pipelines",
    "persist/searches": "save_pipelines",
    "persist/sklearn": "save_pipelines",
    "persist/summary": "inspect_files",
    "persist/transformers": "save_transformers",
    "persist/tree_ranker": "save_others ranker",
    "persist/vectorizers": "save_others save_transformers",
    "predictors": "predictors",
    "progress": "progress",
    "read": "read_trees labelled_formats read_examples",
    "read/arrow": "labelled_formats write_examples",
    "read/bracket_text": "objects read_json",
    "read/code": "tree_sitter_code",
    "read/conllu": "conllu",
    "read/dependencies": "conllu",
    "read/dot_bracket": "dot_bracket",
    "read/gathered": "streams",
    "read/grammar": "tree_sitter_code",
    "read/html": "read_html",
    "read/iupac": "iupac",
    "read/json_values": "read_json",
    "read/languages": "tree_sitter_code",
    "read/markup": "read_xml read_html",
    "read/newick": "newick",
    "read/python": "python_source",
    "read/ranges": "parts_files parts",
    "read/sparse_rows": "read_examples vector_kernels",
    "read/syntax_text": "tree_sitter_code",
    "read/tree_column": "tree_columns iupac",
    "read/tree_sitter": "tree_sitter_code",
    "read/xml": "read_xml",
    "reading": "read_examples read_trees",
    "report": "report/charts report/html",
    "report/terminal": "explain cli/cli",
    "search": "index_files tree_index",
    "several_files": "read_examples read_trees cli/commands",
    "streaming": "streams",
    "transform": "transform transform_pipeline",
    "tree": "tree forest",
    "unpack": "unpack",
    "writing": "write_examples",
    "writing_trees": "read_trees read_json read_xml",
}


def tests_of_core(file: str) -> list[str]:
    """Return the files of tests for a file of the core."""
    return _listed(_CORE, file)


def tests_of_python(file: str) -> list[str]:
    """Return the files of tests for a module: those that are listed, or those that import it."""
    if any(file.startswith(start) for start in _PYTHON):
        return [*_listed(_PYTHON, file), *_listed({"": "small_promises"}, file)]
    module = "filbert." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    found = [path for path, text in _texts().items() if re.search(rf"\b{module}\b", text)]
    if not found:
        raise ValueError(f"no test imports {module}: list its tests in {Path(__file__).name}")
    return found


def _listed(table: dict[str, str], file: str) -> list[str]:
    start = max((start for start in table if file.startswith(start)), key=len)
    names = (name.rpartition("/") for name in table[start].split())
    return [f"tests/{folder or 'unit'}/test_{name}.py" for folder, _, name in names]


@cache
def _texts() -> dict[str, str]:
    paths = sorted((ROOT / "tests").glob("*/test_*.py"))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
