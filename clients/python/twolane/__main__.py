"""``python -m twolane`` is the command line."""

import sys

from twolane.cli import main

sys.exit(main())
