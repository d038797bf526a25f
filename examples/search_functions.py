"""Index the functions of Python's standard library on disk, and search them by a piece of code.

Run it with other code: ``python search_functions.py "def close(self): self.file.close()"``.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from filbert import Forest, TreeIndex
from filbert.datasets import load_stdlib_functions
from filbert.kernels import PartialTree

CODE = """
def close(self):
    if self.file is not None:
        self.file.close()
        self.file = None
"""


def main(code: str = CODE) -> None:
    data = load_stdlib_functions()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "functions.index"
        TreeIndex(PartialTree()).fit(data.data).save(path)
        index = TreeIndex.load(path)  # another process could do this
        query = Forest.from_texts([code], format="python", unit="function")
        similarity, ids = index.kneighbors(query, 10)
        for value, i in zip(similarity[0], ids[0], strict=True):
            print(f"{value:.3f}  {data.names[i]}")
        print(f"{index.share_skipped_:.1%} of the functions were not compared")


if __name__ == "__main__":
    main(*sys.argv[1:2])
