"""`python -m resolab`: the command line."""

import sys

from resolab.cli.main import main

sys.exit(main())
