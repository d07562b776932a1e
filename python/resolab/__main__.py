"""`python -m resolab`: the command line."""

import sys

if __name__ == "__main__":
    try:
        from resolab.cli.main import main
    except KeyboardInterrupt:  # While it was being loaded.
        sys.exit(130)
    sys.exit(main())
