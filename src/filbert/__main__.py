"""Entry point of ``filbert`` and ``python -m filbert``: run the command line."""

import sys


def main() -> None:
    """Run the command line. The version needs none of its libraries."""
    if sys.argv[1:] == ["--version"]:
        from filbert import __version__

        print(f"filbert {__version__}")
    else:
        from filbert.cli import main as run

        run()


if __name__ == "__main__":
    main()
