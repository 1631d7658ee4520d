"""``python -m twolaned.server`` is the daemon."""

import sys

from twolaned.server import main

sys.exit(main())
