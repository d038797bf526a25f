"""Entry point of ``python -m filbert``: run the command line."""

from filbert.cli import main

if __name__ == "__main__":
    main()
